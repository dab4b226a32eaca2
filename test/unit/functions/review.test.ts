/** The objects that admission judges, quotas, and answers to malformed requests. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { admissionApp } from "../../../shared/deployments/admission/app.ts";
import { noPodDefaults } from "../../../shared/kube/pod-defaults.ts";
import { selectorOf } from "../../../shared/kube/selector.ts";
import { good } from "../spark/admission/reviews.ts";

const ours = { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" };

const application = (changes: object = {}, metadata: object = {}) => ({
  metadata: { name: "pi", namespace: "default", ...metadata },
  spec: { ...good, ...changes },
});

const reviewOf = (object: unknown, more: object = {}) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "r-1", kind: ours, namespace: "default", operation: "CREATE", object, ...more },
});

const app = admissionApp();

describe("admission of an application", () => {
  const spoiled = (labels: object) => reviewOf(application({ sparkConf: { "spark.master": "x" } }, { labels }));
  const asked = async (app: ReturnType<typeof admissionApp>, review: unknown): Promise<string> => {
    const answer = await app.request("/validate", { method: "POST", body: JSON.stringify(review) });
    const { response } = JSON.parse(await answer.text());
    return response.allowed ? (response.warnings ?? []).join() : response.status.message;
  };

  test("allows objects that its selector does not match", async () => {
    const chosen = admissionApp({ selects: selectorOf("team=data") });
    assert.match(await asked(chosen, spoiled({ team: "data" })), /spark\.master/);
    assert.equal(await asked(chosen, spoiled({ team: "other" })), "");
    assert.equal(await asked(chosen, spoiled({ team: 5 })), "");
  });

  test("allows objects of namespaces out of scope, or when the scope cannot be read", async () => {
    const chosen = admissionApp({ within: async () => (namespace) => namespace === "default" });
    const elsewhere = reviewOf(application({ sparkConf: { "spark.master": "x" } }), { namespace: "other" });
    assert.match(await asked(chosen, spoiled({})), /spark\.master/);
    assert.equal(await asked(chosen, elsewhere), "");
    const blind = admissionApp({ within: () => Promise.reject(new Error("away")) });
    const warning = "it was not checked: the namespaces in scope could not be read: away";
    assert.equal(await asked(blind, spoiled({})), warning);
  });

  const full = { metadata: { name: "q" }, spec: { hard: { cpu: "1" } }, status: { hard: { cpu: "1" }, used: {} } };
  const runnable = application();

  test("checks the quotas of its namespace", async () => {
    const where: string[] = [];
    const counting = admissionApp({
      quotas: async (namespace) => {
        where.push(namespace);
        return { quotas: [full], defaults: noPodDefaults };
      },
    });
    assert.match(await asked(counting, reviewOf(runnable)), /^failed to validate resource quota "default\/q": cpu/);
    assert.deepEqual(where, ["default"]);
    await asked(counting, reviewOf(runnable, { operation: "DELETE" }));
    await asked(counting, spoiled({}));
    assert.deepEqual(where, ["default"]);
  });

  test("allows an application if the quotas cannot be read", async () => {
    const blind = admissionApp({ quotas: () => Promise.reject(new Error("no answer within 1500 ms")) });
    assert.match(
      await asked(blind, reviewOf(runnable)),
      /the quotas of its namespace could not be read: no answer within 1500 ms/,
    );
  });
});

describe("the admission server", () => {
  test("never answers 500, whatever the request, and answers a dry run the same", async () => {
    const metadata = fc.record({ name: fc.anything(), labels: fc.anything(), generateName: fc.string() });
    const object = fc.oneof(fc.anything(), fc.record({ metadata, spec: fc.anything(), status: fc.anything() }));
    const kind = fc.constantFrom("SparkApplication", "ScheduledSparkApplication", "SparkConnect", "Pod");
    const operation = fc.constantFrom("CREATE", "UPDATE", "DELETE", "CONNECT");
    const inputs = fc.record({ kind, operation, object, oldObject: object });
    await fc.assert(
      fc.asyncProperty(inputs, async ({ kind, ...more }) => {
        const group = kind === "Pod" ? "" : ours.group;
        for (const path of ["/mutate", "/validate"]) {
          const answers = await Promise.all(
            [false, true].map(async (dryRun) => {
              const review = reviewOf(null, { ...more, dryRun, kind: { ...ours, group, kind } });
              const answer = await app.request(path, { method: "POST", body: JSON.stringify(review) });
              assert.ok([200, 400].includes(answer.status), String(answer.status));
              return await answer.text();
            }),
          );
          assert.equal(answers[0], answers[1]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

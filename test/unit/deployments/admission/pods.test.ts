/** Admission of pods, on a host and in a function: the pods that are patched, and those that the API server sends. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { admissionApp } from "../../../../shared/deployments/admission/app.ts";
import { openAdmissionApp } from "../../../../shared/deployments/admission/function.ts";
import { register } from "../../../../shared/deployments/admission/process.ts";
import { podsWrittenTo } from "../../../../shared/kube/admission.ts";
import { resourceGroups } from "../../../../shared/kube/resource-groups.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { creating } from "../../volcano/admission/reviews.ts";

const gate = "scheduling.volcano.sh/queue-allocation-gate";
const groups = [{ resourceGroup: "gpu", labels: { pool: "gpu" } }];
const pods = { queueGate: true, groups: resourceGroups().parse(groups) };

const limited = { "rekindle.dev/memory-limit": "2Gi" };
const pod = creating(
  "Pod",
  { schedulerName: "volcano", containers: [{ name: "spark-kubernetes-executor" }] },
  { name: "p", labels: limited, annotations: { ...limited, [gate]: "true", "volcano.sh/resource-group": "gpu" } },
);

type App = Pick<ReturnType<typeof admissionApp>, "request">;

const patchOf = async (app: App): Promise<readonly string[]> => {
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: pod };
  const answer = await app.request("/mutate", { method: "POST", body: JSON.stringify(review) });
  const { patch } = Object(await answer.json()).response;
  return patch === undefined ? [] : JSON.parse(atob(patch)).map(({ path }: { path: string }) => path);
};

const both = ["/spec/schedulingGates", "/spec/nodeSelector"];

const isOfGroup = (path: string): boolean => both.includes(path);

describe("admission of pods", () => {
  test("patches a pod by its settings, and by its memory limit", async () => {
    const all = await patchOf(admissionApp({ pods }));
    assert.deepEqual(all.filter(isOfGroup), both);
    assert.ok(all.length > both.length, all.join(", "));
  });

  test("patches nothing without settings, nor in namespaces out of scope", async () => {
    for (const admits of [{}, { pods, within: async () => (name: string) => name === "other" }])
      assert.deepEqual((await patchOf(admissionApp(admits))).filter(isOfGroup), []);
    const blind = admissionApp({ pods, within: () => Promise.reject(new Error("away")) });
    assert.deepEqual((await patchOf(blind)).filter(isOfGroup), []);
  });

  test("in a function has its settings from the environment, and needs no cluster for them", async () => {
    const env = {
      REKINDLE_ADMISSION_QUEUE_GATE: "true",
      REKINDLE_ADMISSION_RESOURCE_GROUPS: JSON.stringify(groups),
    };
    assert.deepEqual((await patchOf(await openAdmissionApp(env))).filter(isOfGroup), both);
    assert.deepEqual((await patchOf(await openAdmissionApp({}))).filter(isOfGroup), []);
    await assert.rejects(
      openAdmissionApp({ REKINDLE_ADMISSION_QUEUE_GATE: "on", REKINDLE_ADMISSION_RESOURCE_GROUPS: "[{}]" }),
      /QUEUE_GATE \(write true or false\), REKINDLE_ADMISSION_RESOURCE_GROUPS \(\[0\]\.resourceGroup: write a text\)/,
    );
  });

  test("registers a condition for pods only if it patches some", async () => {
    const { transport } = openSimulator({ crds });
    const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/rekindle";
    const reach = { url: "https://127.0.0.1:9443" };
    const expressions = async (): Promise<readonly string[]> =>
      Object(await request(transport, "GET", path)).webhooks.flatMap(
        ({
          matchConditions = [],
          failurePolicy,
        }: {
          matchConditions?: { expression: string }[];
          failurePolicy: string;
        }) => matchConditions.map(({ expression }) => `${failurePolicy}: ${expression}`),
      );
    await register(transport, { reach, ca: undefined, namespaces: [] });
    assert.deepEqual(await expressions(), []);
    await register(transport, { reach, ca: undefined, namespaces: [], pods });
    assert.deepEqual(await expressions(), [`Ignore: ${podsWrittenTo(pods)}`]);
    await register(transport, { reach, ca: undefined, namespaces: [], pods, families: ["spark"] });
    assert.deepEqual(await expressions(), []);
  });
});

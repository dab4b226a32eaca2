/** Judgements of admission run in slices: stopped ones refuse their object alone, and those that wait share a slice. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BudgetError } from "../../../../shared/core/http.ts";
import { admissionApp } from "../../../../shared/deployments/admission/app.ts";
import type { Slices } from "../../../../shared/engine/ports.ts";
import { good } from "../../spark/admission/reviews.ts";

const kind = { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" };

const reviewOf = (uid: string, namespace: string) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid, kind, namespace, operation: "CREATE", object: { metadata: { name: uid, namespace }, spec: good } },
});

type Answer = { readonly uid: string; readonly allowed: boolean; readonly text: string };

const asked = async (slices: Slices, uid: string, namespace = "default"): Promise<Answer> => {
  const app = admissionApp({ slices });
  const answer = await app.request("/validate", { method: "POST", body: JSON.stringify(reviewOf(uid, namespace)) });
  const { response } = JSON.parse(await answer.text());
  const text = response.allowed ? (response.warnings ?? []).join() : response.status.message;
  return { uid: response.uid, allowed: response.allowed, text };
};

/** Slices that stop each work for this reason. */
const stopping = (why: "stopped" | "starved"): Slices => ({
  later: (begin) => void setImmediate(begin),
  guard: (_, __, stopped) => stopped(new BudgetError({ message: why, waitMs: 0, why })),
});

describe("a judgement of admission", () => {
  test("is stopped when it takes too long, and refuses its object", async () => {
    const { allowed, text } = await asked(stopping("stopped"), "slow");
    assert.equal(allowed, false);
    assert.match(text, /takes too long: make its spec smaller/);
  });

  test("lets its object pass with a warning when the machine was too busy", async () => {
    const { allowed, text } = await asked(stopping("starved"), "starved");
    assert.equal(allowed, true);
    assert.match(text, /not checked, because the machine was busy/);
  });

  test("shares a slice with others that wait, and each answers its own request", async ({ mock }) => {
    // A clock that stands still ends no slice, and no time limit stops one, however slow the machine is.
    const now = performance.now();
    mock.method(performance, "now", () => now);
    let guarded = 0;
    const counting: Slices = {
      later: (begin) => void setImmediate(begin),
      guard: (_, work) => {
        guarded += 1;
        work();
      },
    };
    const app = admissionApp({ slices: counting });
    const uids = Array.from({ length: 40 }, (_, index) => `r-${index}`);
    const answers = await Promise.all(
      uids.map(async (uid, index) => {
        const body = JSON.stringify(reviewOf(uid, `team-${index % 7}`));
        const answer = await app.request("/validate", { method: "POST", body });
        return JSON.parse(await answer.text()).response;
      }),
    );
    assert.deepEqual(
      answers.map(({ uid, allowed }) => [uid, allowed]),
      uids.map((uid) => [uid, true]),
    );
    assert.ok(guarded < uids.length / 2, `${guarded} slices for ${uids.length} requests`);
  });
});

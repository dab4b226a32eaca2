/** The step of an eviction sends the keys of the pod's owners when the pod is being deleted, and looks again while it is not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evictionKey, type Message } from "../../../shared/core/key.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { takingEvictions } from "../../../shared/forward/eviction.ts";
import { subjectsOf } from "../../../shared/forward/keys.ts";
import { watchers } from "../../../shared/registry/watchers.ts";
import { failing, openFixture } from "../engine/fakes.ts";

const message: Message = { ...evictionKey({ cluster: "here", namespace: "ns", name: "p" }), reason: "evicted" };

const pod = (labels: Readonly<Record<string, string>>, more: object = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "ns", uid: "p-uid", resourceVersion: "7", labels, ...more },
  status: { phase: "Running" },
});

const ending = { deletionTimestamp: "2026-11-02T08:00:00Z" };
const ofJob = { "volcano.sh/job-name": "vj" };
const ofSpark = {
  "sparkoperator.k8s.io/launched-by-spark-operator": "true",
  ...{ "sparkoperator.k8s.io/app-name": "app", "spark-role": "executor" },
};

/** A world with this pod, or with none. */
const opened = (object?: Stored) => {
  const fixture = openFixture();
  if (object !== undefined) fixture.objects.set("pods p", object);
  const { cluster, queue } = fixture.world;
  const world = { ...fixture.world, evicted: takingEvictions({ cluster, queue, subjects: subjectsOf(watchers) }) };
  return { fixture, world, sent: fixture.sent };
};

const keysOf = (sent: ReturnType<typeof opened>["sent"]) =>
  sent.map((one) => `${one.message.kind}/${one.message.name}`);

describe("an eviction", () => {
  const rows: readonly (readonly [owner: string, labels: Readonly<Record<string, string>>, keys: readonly string[]])[] =
    [
      ["a Volcano job", ofJob, ["Job/vj"]],
      ["a Spark application", ofSpark, ["SparkApplication/app"]],
      ["nobody", { app: "web" }, []],
    ];
  for (const [owner, labels, keys] of rows)
    test(`of a pod of ${owner} sends ${keys.length} keys, without hints of a watch`, async () => {
      const { world, sent } = opened(pod(labels, ending));
      assert.deepEqual(await step(world, message), { did: "step", writes: 0 });
      assert.deepEqual(keysOf(sent), keys);
      for (const one of sent)
        assert.deepEqual([one.message.watched, one.message.fresh, one.delayMs], [undefined, undefined, 0]);
    });

  test("of a pod that is not being deleted yet is looked at again after 1 s and 5 s, and then no more", async () => {
    const { fixture, world, sent } = opened(pod(ofJob));
    await step(world, message);
    await step(world, { ...message, looks: 1 });
    assert.deepEqual(await step(world, { ...message, looks: 2 }), { did: "nothing", why: "the pod was not evicted" });
    assert.deepEqual(
      sent.map((one) => [one.message.kind, one.message.looks, one.delayMs]),
      [
        [message.kind, 1, 1_000],
        [message.kind, 2, 5_000],
      ],
    );
    fixture.objects.set("pods p", pod(ofJob, ending));
    await step(world, { ...message, looks: 2 });
    assert.equal(sent.at(-1)?.message.kind, "Job");
  });

  test("of a pod that is gone sends nothing: its last deletion rings by itself", async () => {
    const { world, sent } = opened();
    assert.equal((await step(world, message)).did, "nothing");
    assert.deepEqual(sent, []);
  });

  test("is tried again when the API server fails", async () => {
    const { fixture, world, sent } = opened(pod(ofJob, ending));
    fixture.before = (call) => {
      if (call === "get pods p") throw failing(503, "ServiceUnavailable");
    };
    assert.equal((await step(world, message)).did, "troubled");
    assert.equal(sent[0]?.message.kind, message.kind);
  });

  test("in a process that takes none is nothing", async () => {
    assert.match(JSON.stringify(await step(openFixture().world, message)), /no operator/);
  });
});

/**
 * Pods with a notice on their node: reported by an annotation, and acted on by the policies of a job that asks for it.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { leavingAnnotation } from "../../../../shared/kube/pods.ts";
import { jobWatcher } from "../../../../shared/volcano/job/watches.ts";
import { Loop, task } from "./loop.ts";

const asks = { metadata: { name: "j", namespace: "ns", annotations: { "rekindle.dev/leaving-nodes": "evict" } } };
const evicted = (action: string, more = {}) => ({ policies: [{ event: "PodEvicted", action, ...more }] });

const leave = (loop: Loop, name: string): void =>
  loop.change("pods", name, { metadata: { annotations: { [leavingAnnotation]: "2026-11-02T08:02:00Z" } } });

const running = (spec: object, more: object = asks): Loop =>
  new Loop({ tasks: [task("w", 2)], ...spec }, { ...more }).running();

describe("a pod with a notice on its node", () => {
  test("counts as evicted at once if the job's annotation says evict: the policy restarts this pod alone", () => {
    const loop = running(evicted("RestartPod"));
    const [before, other] = [loop.pod("j-w-0").metadata.uid, loop.pod("j-w-1").metadata.uid];
    leave(loop, "j-w-0");
    loop.run();
    assert.notEqual(loop.pod("j-w-0").metadata.uid, before);
    assert.equal(loop.pod("j-w-1").metadata.uid, other);
    assert.equal(loop.memory?.retryCount, 1);
  });

  test("restarts the job once: its later end is no second policy event", () => {
    const loop = running(evicted("RestartJob"));
    leave(loop, "j-w-0");
    loop.run();
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [1, 1]);
  });

  test("spends no retry where evictions are free", () => {
    const annotations = { ...asks.metadata.annotations, "rekindle.dev/evictions": "free" };
    const loop = running(evicted("RestartPod"), { metadata: { ...asks.metadata, annotations } });
    leave(loop, "j-w-0");
    loop.run();
    assert.equal(loop.memory?.retryCount, 0);
  });

  test("leads to the policy's action once, after the policy's timeout", () => {
    const loop = running(evicted("RestartJob", { timeout: "30s" }));
    leave(loop, "j-w-0");
    loop.run();
    loop.turn(10_000).run();
    assert.deepEqual([loop.memory?.version, loop.memory?.delays.length], [0, 1]);
    loop.turn(20_000).run();
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [1, 1]);
  });

  test("runs on if the job has no policy for PodEvicted, and a further step has no effects", () => {
    const loop = running({});
    const { uid } = loop.pod("j-w-0").metadata;
    leave(loop, "j-w-0");
    loop.run();
    const { stages } = loop.step();
    assert.deepEqual([loop.pod("j-w-0").metadata.uid, stages.flat()], [uid, []]);
  });

  test("runs on in a job without the annotation", () => {
    const loop = running(evicted("RestartJob"), {});
    leave(loop, "j-w-0");
    loop.run();
    assert.equal(loop.memory?.version, 0);
  });

  test("sends a key for its job", () => {
    const loop = running({});
    const before = loop.pod("j-w-0");
    leave(loop, "j-w-0");
    const watch = jobWatcher.watches.find(({ resource }) => resource.plural === "pods");
    assert.equal(watch?.matters(before, loop.pod("j-w-0")), true);
  });
});

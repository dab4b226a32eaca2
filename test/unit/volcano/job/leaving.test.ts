/**
 * Pods with a notice on their node: reported by an annotation, and acted on by the policies of a job that asks for it.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { leavingAnnotation } from "../../../../shared/kube/pods.ts";
import { jobWatcher } from "../../../../shared/volcano/job/watches.ts";
import { type JobFixture, openJob, task } from "./fixtures.ts";

const asks = { metadata: { name: "j", namespace: "ns", annotations: { "rekindle.dev/leaving-nodes": "evict" } } };
const evicted = (action: string, more = {}) => ({ policies: [{ event: "PodEvicted", action, ...more }] });

const leave = (fixture: JobFixture, name: string): void =>
  fixture.change("pods", name, { metadata: { annotations: { [leavingAnnotation]: "2026-11-02T08:02:00Z" } } });

const running = (spec: object, more: object = asks): JobFixture =>
  openJob({ tasks: [task("w", 2)], ...spec }, { ...more }).running();

describe("a pod with a notice on its node", () => {
  test("counts as evicted at once if the job's annotation says evict: the policy restarts this pod alone", () => {
    const fixture = running(evicted("RestartPod"));
    const [before, other] = [fixture.pod("j-w-0").metadata.uid, fixture.pod("j-w-1").metadata.uid];
    leave(fixture, "j-w-0");
    fixture.run();
    assert.notEqual(fixture.pod("j-w-0").metadata.uid, before);
    assert.equal(fixture.pod("j-w-1").metadata.uid, other);
    assert.equal(fixture.memory?.retryCount, 1);
  });

  test("restarts the job once: its later end is no second policy event", () => {
    const fixture = running(evicted("RestartJob"));
    leave(fixture, "j-w-0");
    fixture.run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [1, 1]);
  });

  test("spends no retry where evictions are free", () => {
    const annotations = { ...asks.metadata.annotations, "rekindle.dev/evictions": "free" };
    const fixture = running(evicted("RestartPod"), { metadata: { ...asks.metadata, annotations } });
    leave(fixture, "j-w-0");
    fixture.run();
    assert.equal(fixture.memory?.retryCount, 0);
  });

  test("leads to the policy's action once, after the policy's timeout", () => {
    const fixture = running(evicted("RestartJob", { timeout: "30s" }));
    leave(fixture, "j-w-0");
    fixture.run();
    fixture.turn(10_000).run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.delays.length], [0, 1]);
    fixture.turn(20_000).run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [1, 1]);
  });

  test("runs on if the job has no policy for PodEvicted, and a further step has no effects", () => {
    const fixture = running({});
    const { uid } = fixture.pod("j-w-0").metadata;
    leave(fixture, "j-w-0");
    fixture.run();
    const { stages } = fixture.step();
    assert.deepEqual([fixture.pod("j-w-0").metadata.uid, stages.flat()], [uid, []]);
  });

  test("runs on in a job without the annotation", () => {
    const fixture = running(evicted("RestartJob"), {});
    leave(fixture, "j-w-0");
    fixture.run();
    assert.equal(fixture.memory?.version, 0);
  });

  test("sends a key for its job", () => {
    const fixture = running({});
    const before = fixture.pod("j-w-0");
    leave(fixture, "j-w-0");
    const watch = jobWatcher.watches.find(({ resource }) => resource.plural === "pods");
    assert.equal(watch?.matters(before, fixture.pod("j-w-0")), true);
  });
});

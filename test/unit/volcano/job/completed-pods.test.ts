/** Pods that succeeded and were removed, pods above a job's new size, and events during a restart. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Loop, task } from "./loop.ts";

const phaseOf = (loop: Loop): string | undefined => loop.status().state?.phase;
const running = (more = {}): Loop => new Loop({ tasks: [task("w", 2)], ...more }).running();

/** The first of two pods succeeds, a step sees it, and the pod is removed. */
const halfRemoved = (more = {}): Loop => {
  const loop = running(more);
  loop.pods("Succeeded", ["j-w-0"]);
  loop.run();
  loop.remove("pods", "j-w-0");
  return loop.run();
};

describe("a succeeded pod that was removed", () => {
  test("is not created again, and still counts as succeeded", () => {
    const loop = halfRemoved();
    assert.deepEqual([loop.names("pods"), loop.status()["succeeded"]], [["j-w-1"], 1]);
    loop.pods("Succeeded");
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.status()["succeeded"]], ["Completed", 2]);
  });

  test("does not count as evicted", () => {
    const loop = halfRemoved({ policies: [{ event: "PodEvicted", action: "AbortJob" }] });
    assert.equal(phaseOf(loop), "Running");
  });

  test("counts for the completion of its task", () => {
    const loop = halfRemoved({ policies: [{ event: "TaskCompleted", action: "TerminateJob" }] });
    loop.pods("Succeeded");
    loop.run();
    assert.equal(phaseOf(loop), "Terminated");
  });

  for (const phase of ["Pending", "Running", "Failed"])
    test(`that reappears as ${phase} is deleted, without a policy event`, () => {
      const loop = running({ policies: [{ event: "PodFailed", action: "RestartJob" }] });
      loop.pods("Succeeded", ["j-w-0"]);
      loop.run();
      const late = loop.pod("j-w-0");
      loop.remove("pods", "j-w-0");
      loop.run();
      loop.put("pods", { ...late, status: { phase } });
      loop.run();
      assert.deepEqual([loop.names("pods"), loop.status()["succeeded"]], [["j-w-1"], 1]);
      assert.deepEqual([phaseOf(loop), loop.memory?.retryCount], ["Running", 0]);
    });

  const restarts = [
    ["RestartTask", ["j-w-0", "j-w-1"]],
    ["RestartJob", ["j-w-0", "j-w-1"]],
    ["RestartPod", ["j-w-1"]],
  ] as const;
  for (const [action, wanted] of restarts)
    test(`is created again by ${action} of another pod only if the action includes it`, () => {
      const loop = halfRemoved({ policies: [{ event: "PodFailed", action }] });
      loop.fail("j-w-1", 1);
      loop.run();
      loop.admit();
      loop.run();
      assert.deepEqual([...loop.names("pods")].sort(), wanted);
    });
});

describe("a job that is over", () => {
  test("keeps its completed tasks after a stale read, and deletes pods only by their resource versions", () => {
    const loop = running();
    loop.pods("Succeeded");
    loop.run();
    const { completed } = loop.memory ?? {};
    loop.pods("Running");
    const { memory, stages } = loop.step();
    const ends = stages.flat().filter((effect) => effect.do === "delete");
    assert.deepEqual([ends.length, ends.every(({ resourceVersion }) => resourceVersion !== undefined)], [2, true]);
    assert.deepEqual([completed, memory.completed], [["w"], ["w"]]);
  });

  test("deletes its PodGroup even if one read does not return it", () => {
    const loop = running();
    loop.pods("Succeeded");
    loop.blind = (query) => query.do === "get" && query.ref.resource.plural === "podgroups";
    loop.step();
    loop.blind = () => false;
    assert.deepEqual([phaseOf(loop), loop.names("podgroups")], ["Completed", []]);
  });

  test("counts all finished pods, also those beyond its present size", () => {
    const loop = new Loop({ minAvailable: 1, minSuccess: 1, tasks: [task("w", 2)] }).running();
    loop.pods("Succeeded");
    loop.run();
    assert.equal(phaseOf(loop), "Completed");
    loop.change("jobs", "j", { spec: { tasks: [task("w", 1)] } });
    loop.run();
    assert.deepEqual([loop.status()["succeeded"], loop.status()["terminating"]], [2, undefined]);
  });
});

describe("during a restart", () => {
  test("a PodGroup of the earlier version that is Unknown is no second event", () => {
    const loop = running({ policies: [{ event: "Unknown", action: "RestartJob" }] });
    loop.admit("Unknown");
    loop.step(true);
    loop.run();
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [1, 1]);
  });

  test("a PodGroup of the earlier version that still exists leads to no event Unknown", () => {
    const policies = [
      { event: "PodFailed", action: "RestartJob" },
      { event: "Unknown", action: "AbortJob" },
    ];
    const loop = running({ policies, maxRetry: 5 });
    loop.fail("j-w-0", 1);
    loop.step(true);
    loop.change("jobs", "j", { status: { ...loop.status(), state: { phase: "Restarting" } } });
    loop.admit("Unknown");
    loop.run();
    assert.deepEqual([loop.memory?.phase, loop.memory?.version], ["Pending", 1]);
  });

  test("a pod of the new version that fails spends a retry of its own", () => {
    const loop = running({ policies: [{ event: "PodFailed", action: "RestartJob" }], maxRetry: 5 });
    loop.fail("j-w-0", 1);
    loop.lingering = true;
    loop.run();
    loop.remove("pods", "j-w-0");
    loop.run();
    loop.admit();
    loop.run();
    assert.equal(phaseOf(loop), "Restarting");
    loop.fail("j-w-0", 1);
    loop.run();
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [1, 1]);
    loop.release();
    loop.run();
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [2, 2]);
  });
});

/** Pods that succeeded and were removed, pods above a job's new size, and events during a restart. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JobFixture, openJob, phaseOf, task } from "./fixtures.ts";

const running = (more = {}): JobFixture => openJob({ tasks: [task("w", 2)], ...more }).running();

/** The first of two pods succeeds, a step sees it, and the pod is removed. */
const halfRemoved = (more = {}): JobFixture => {
  const fixture = running(more);
  fixture.pods("Succeeded", ["j-w-0"]);
  fixture.run();
  fixture.remove("pods", "j-w-0");
  return fixture.run();
};

describe("a succeeded pod that was removed", () => {
  test("is not created again, and still counts as succeeded", () => {
    const fixture = halfRemoved();
    assert.deepEqual([fixture.names("pods"), fixture.status()["succeeded"]], [["j-w-1"], 1]);
    fixture.pods("Succeeded");
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.status()["succeeded"]], ["Completed", 2]);
  });

  test("does not count as evicted", () => {
    const fixture = halfRemoved({ policies: [{ event: "PodEvicted", action: "AbortJob" }] });
    assert.equal(phaseOf(fixture), "Running");
  });

  test("counts for the completion of its task", () => {
    const fixture = halfRemoved({ policies: [{ event: "TaskCompleted", action: "TerminateJob" }] });
    fixture.pods("Succeeded");
    fixture.run();
    assert.equal(phaseOf(fixture), "Terminated");
  });

  for (const phase of ["Pending", "Running", "Failed"])
    test(`that reappears as ${phase} is deleted, without a policy event`, () => {
      const fixture = running({ policies: [{ event: "PodFailed", action: "RestartJob" }] });
      fixture.pods("Succeeded", ["j-w-0"]);
      fixture.run();
      const late = fixture.pod("j-w-0");
      fixture.remove("pods", "j-w-0");
      fixture.run();
      fixture.put("pods", { ...late, status: { phase } });
      fixture.run();
      assert.deepEqual([fixture.names("pods"), fixture.status()["succeeded"]], [["j-w-1"], 1]);
      assert.deepEqual([phaseOf(fixture), fixture.memory?.retryCount], ["Running", 0]);
    });

  const restarts = [
    ["RestartTask", ["j-w-0", "j-w-1"]],
    ["RestartJob", ["j-w-0", "j-w-1"]],
    ["RestartPod", ["j-w-1"]],
  ] as const;
  for (const [action, wanted] of restarts)
    test(`is created again by ${action} of another pod only if the action includes it`, () => {
      const fixture = halfRemoved({ policies: [{ event: "PodFailed", action }] });
      fixture.fail("j-w-1", 1);
      fixture.run();
      fixture.admit();
      fixture.run();
      assert.deepEqual([...fixture.names("pods")].sort(), wanted);
    });
});

describe("a job that is over", () => {
  test("keeps its completed tasks after a stale read, and deletes pods only by their resource versions", () => {
    const fixture = running();
    fixture.pods("Succeeded");
    fixture.run();
    const { completed } = fixture.memory ?? {};
    fixture.pods("Running");
    const { memory, stages } = fixture.step();
    const ends = stages.flat().filter((effect) => effect.do === "delete");
    assert.deepEqual([ends.length, ends.every(({ resourceVersion }) => resourceVersion !== undefined)], [2, true]);
    assert.deepEqual([completed, memory.completed], [["w"], ["w"]]);
  });

  test("deletes its PodGroup even if one read does not return it", () => {
    const fixture = running();
    fixture.pods("Succeeded");
    fixture.blind = (query) => query.do === "get" && query.ref.resource.plural === "podgroups";
    fixture.step();
    fixture.blind = () => false;
    assert.deepEqual([phaseOf(fixture), fixture.names("podgroups")], ["Completed", []]);
  });

  test("counts all finished pods, also those beyond its present size", () => {
    const fixture = openJob({ minAvailable: 1, minSuccess: 1, tasks: [task("w", 2)] }).running();
    fixture.pods("Succeeded");
    fixture.run();
    assert.equal(phaseOf(fixture), "Completed");
    fixture.change("jobs", "j", { spec: { tasks: [task("w", 1)] } });
    fixture.run();
    assert.deepEqual([fixture.status()["succeeded"], fixture.status()["terminating"]], [2, undefined]);
  });
});

describe("during a restart", () => {
  test("a PodGroup of the earlier version that is Unknown is no second event", () => {
    const fixture = running({ policies: [{ event: "Unknown", action: "RestartJob" }] });
    fixture.admit("Unknown");
    fixture.step(true);
    fixture.run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [1, 1]);
  });

  test("a PodGroup of the earlier version that still exists leads to no event Unknown", () => {
    const policies = [
      { event: "PodFailed", action: "RestartJob" },
      { event: "Unknown", action: "AbortJob" },
    ];
    const fixture = running({ policies, maxRetry: 5 });
    fixture.fail("j-w-0", 1);
    fixture.step(true);
    fixture.change("jobs", "j", { status: { ...fixture.status(), state: { phase: "Restarting" } } });
    fixture.admit("Unknown");
    fixture.run();
    assert.deepEqual([fixture.memory?.phase, fixture.memory?.version], ["Pending", 1]);
  });

  test("a pod of the new version that fails spends a retry of its own", () => {
    const fixture = running({ policies: [{ event: "PodFailed", action: "RestartJob" }], maxRetry: 5 });
    fixture.fail("j-w-0", 1);
    fixture.lingering = true;
    fixture.run();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    fixture.admit();
    fixture.run();
    assert.equal(phaseOf(fixture), "Restarting");
    fixture.fail("j-w-0", 1);
    fixture.run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [1, 1]);
    fixture.release();
    fixture.run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [2, 2]);
  });
});

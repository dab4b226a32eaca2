/**
 * Pods that are deleted and end with 0 on SIGTERM: the kubelet writes `Succeeded` before it removes them, and they
 * count as evicted. A pod that succeeded before its deletion stays complete.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JobFixture, openJob, phaseOf, task } from "./fixtures.ts";

const evicted = { policies: [{ event: "PodEvicted", action: "RestartJob" }] };
const completed = { policies: [{ event: "TaskCompleted", action: "CompleteJob" }] };
const held = { finalizers: ["example.com/held"] };

const running = (more = {}): JobFixture => openJob({ tasks: [task("w", 2)], ...more }).running();

const stands = (fixture: JobFixture): readonly unknown[] => [
  phaseOf(fixture),
  fixture.names("pods").toSorted(),
  fixture.status()["succeeded"] ?? 0,
];

/** A pod is deleted with a grace, ends with 0, and its kubelet removes it. */
const drained = (fixture: JobFixture, name: string): void => {
  fixture.ask(name);
  fixture.run();
  fixture.turn(1_000);
  fixture.exits(name);
  fixture.run();
  fixture.remove("pods", name);
  fixture.run();
};

describe("a pod that is deleted and ends with 0", () => {
  test("is created again", () => {
    const fixture = running();
    drained(fixture, "j-w-0");
    fixture.pods("Running");
    fixture.run();
    assert.deepEqual(stands(fixture), ["Running", ["j-w-0", "j-w-1"], 0]);
    assert.deepEqual(fixture.memory?.done, {});
  });

  test("counts as evicted and leads to the policy's action", () => {
    const fixture = running(evicted);
    drained(fixture, "j-w-0");
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [1, 1]);
  });

  test("counts as terminating until it is gone, and completes no task", () => {
    const fixture = running(completed);
    fixture.exits("j-w-1");
    fixture.run();
    fixture.ask("j-w-0");
    fixture.turn(1_000);
    fixture.exits("j-w-0");
    fixture.run();
    assert.deepEqual(
      [phaseOf(fixture), fixture.status()["succeeded"], fixture.status()["terminating"]],
      ["Running", 1, 1],
    );
    assert.deepEqual(fixture.memory?.completed, []);
  });

  test("counts as evicted even if no step read it between its deletion and its end", () => {
    const fixture = running(evicted);
    fixture.ask("j-w-0");
    fixture.turn(1_000);
    fixture.exits("j-w-0");
    fixture.run();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.equal(fixture.memory?.version, 1);
  });

  test("is created again even if all pods of the job are deleted at once", () => {
    const fixture = running();
    for (const name of ["j-w-0", "j-w-1"]) fixture.ask(name);
    fixture.run();
    fixture.turn(1_000);
    for (const name of ["j-w-0", "j-w-1"]) fixture.exits(name);
    fixture.run();
    assert.notEqual(phaseOf(fixture), "Completed");
    for (const name of ["j-w-0", "j-w-1"]) fixture.remove("pods", name);
    fixture.run();
    fixture.pods("Running");
    fixture.run();
    assert.deepEqual(stands(fixture), ["Running", ["j-w-0", "j-w-1"], 0]);
  });
});

describe("a deleted pod with a finalizer", () => {
  /** The kubelet has ended the pod: its grace is 0. */
  const letGo = (fixture: JobFixture, name: string): void =>
    fixture.change("pods", name, {
      metadata: { deletionTimestamp: new Date(fixture.now).toISOString(), deletionGracePeriodSeconds: 0 },
    });

  test("is not complete if it ended after its deletion, and counts as evicted when it is gone", () => {
    const fixture = running(evicted);
    fixture.ask("j-w-0", 30, held);
    fixture.turn(1_000);
    fixture.exits("j-w-0");
    fixture.turn(5_000);
    letGo(fixture, "j-w-0");
    fixture.run();
    assert.deepEqual([fixture.memory?.done, fixture.status()["terminating"]], [{}, 1]);
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.equal(fixture.memory?.version, 1);
  });

  test("is not complete if a step saw its deletion before its end, even if its node's clock is behind", () => {
    const fixture = running(evicted);
    fixture.ask("j-w-0", 30, held);
    fixture.run();
    fixture.turn(-20_000);
    fixture.exits("j-w-0");
    fixture.turn(121_000);
    letGo(fixture, "j-w-0");
    fixture.run();
    assert.deepEqual(fixture.memory?.done, {});
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.leaving], [1, {}]);
  });

  test("stays complete if it ended before its deletion, even if no step read it in between", () => {
    const fixture = running(evicted);
    fixture.exits("j-w-0");
    fixture.turn(61_000);
    fixture.ask("j-w-0", 0, held);
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.status()["succeeded"]], ["Running", 1]);
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.deepEqual(stands(fixture), ["Running", ["j-w-1"], 1]);
  });

  test("stays complete if a step read it as Succeeded, independent of the times", () => {
    const fixture = running(evicted);
    fixture.pods("Succeeded", ["j-w-0"]);
    fixture.run();
    fixture.ask("j-w-0", 0, held);
    fixture.run();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.deepEqual(stands(fixture), ["Running", ["j-w-1"], 1]);
  });

  test("counts as evicted if end and deletion fall into the same second", () => {
    const fixture = running(evicted);
    fixture.exits("j-w-0");
    fixture.ask("j-w-0", 0, held);
    fixture.run();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.equal(fixture.memory?.version, 1);
  });
});

describe("pods that a step deletes", () => {
  const size = (fixture: JobFixture, replicas: number): void =>
    fixture.change("jobs", "j", { spec: { minAvailable: 0, tasks: [task("w", replicas)] } });

  /** Scales the job to 0 and back while its pods end. */
  const toAndFro = (more = {}): JobFixture => {
    const fixture = running({ minAvailable: 0, ...more });
    fixture.grace = 30;
    size(fixture, 0);
    fixture.run();
    size(fixture, 2);
    fixture.run();
    return fixture;
  };

  test("because of a smaller size are created again when the job grows meanwhile, and do not count as evicted", () => {
    const fixture = toAndFro({ policies: [{ event: "PodEvicted", action: "AbortJob" }] });
    fixture.turn(1_000);
    for (const name of ["j-w-0", "j-w-1"]) fixture.exits(name);
    fixture.run();
    fixture.release();
    fixture.run();
    fixture.pods("Running");
    fixture.run();
    assert.deepEqual(stands(fixture), ["Running", ["j-w-0", "j-w-1"], 0]);
    assert.equal(fixture.memory?.dismissed, undefined);
  });

  test("because of a smaller size that a step sees once all have ended leave nothing in the record of the ended job", () => {
    const fixture = running();
    fixture.change("jobs", "j", { spec: { minAvailable: 1, tasks: [task("w", 1)] } });
    for (const name of ["j-w-0", "j-w-1"]) fixture.exits(name);
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.memory?.dismissed], ["Completed", undefined]);
  });

  test("because of a smaller size, with a lost deletion, count as evicted when a user deletes them later", () => {
    const fixture = running({ minAvailable: 0, ...evicted });
    size(fixture, 0);
    fixture.step(true);
    size(fixture, 2);
    fixture.run();
    assert.deepEqual(fixture.names("pods").length, 2);
    fixture.turn(60_000);
    drained(fixture, "j-w-0");
    assert.equal(fixture.memory?.version, 1);
  });

  test("for an abort are created again when the job is resumed", () => {
    const fixture = running();
    fixture.grace = 30;
    fixture.order("AbortJob");
    fixture.run();
    fixture.turn(1_000);
    for (const name of ["j-w-0", "j-w-1"]) fixture.exits(name);
    fixture.run();
    fixture.release();
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.memory?.done], ["Aborted", {}]);
    fixture.order("ResumeJob");
    fixture.run();
    fixture.admit();
    fixture.run();
    assert.deepEqual(fixture.names("pods").toSorted(), ["j-w-0", "j-w-1"]);
  });

  test("for a restart of one pod complete no task", () => {
    const policies = [
      { event: "PodFailed", action: "RestartTask" },
      { event: "TaskCompleted", action: "CompleteJob" },
    ];
    const fixture = openJob({ tasks: [task("w", 3)], policies }).running();
    fixture.grace = 30;
    fixture.exits("j-w-2");
    fixture.fail("j-w-0", 1);
    fixture.step();
    fixture.turn(1_000);
    fixture.exits("j-w-1");
    fixture.run();
    assert.deepEqual(fixture.memory?.completed, []);
  });
});

describe("a pod that is created beside one that runs already", () => {
  /** The first creation of one of two pods is refused, so the step ends unsaved; the other one runs. */
  const halfCreated = (): JobFixture => {
    const fixture = openJob({
      schedulerName: "default-scheduler",
      minAvailable: 1,
      tasks: [task("w", 2)],
      ...evicted,
    }).run();
    for (const name of fixture.names("podgroups"))
      fixture.change("podgroups", name, {
        metadata: { annotations: { "rekindle.dev/scheduled-by": "default-scheduler" } },
      });
    fixture.admit();
    const { memory } = fixture;
    fixture.step();
    fixture.memory = memory;
    fixture.remove("pods", "j-w-0");
    fixture.pods("Running", ["j-w-1"]);
    return fixture;
  };

  test("counts as evicted even if it is gone before the next step", () => {
    const fixture = halfCreated();
    fixture.step();
    assert.deepEqual(fixture.names("pods").toSorted(), ["j-w-0", "j-w-1"]);
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.deepEqual([fixture.memory?.version, fixture.memory?.retryCount], [1, 1]);
  });
});

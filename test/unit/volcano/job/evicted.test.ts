/**
 * Pods that are deleted and end with 0 on SIGTERM: the kubelet writes `Succeeded` before it removes them, and they
 * count as evicted. A pod that succeeded before its deletion stays complete.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Loop, task } from "./loop.ts";

const evicted = { policies: [{ event: "PodEvicted", action: "RestartJob" }] };
const completed = { policies: [{ event: "TaskCompleted", action: "CompleteJob" }] };
const held = { finalizers: ["example.com/held"] };

const phaseOf = (loop: Loop): string | undefined => loop.status().state?.phase;
const running = (more = {}): Loop => new Loop({ tasks: [task("w", 2)], ...more }).running();

const stands = (loop: Loop): readonly unknown[] => [
  phaseOf(loop),
  loop.names("pods").toSorted(),
  loop.status()["succeeded"] ?? 0,
];

/** A pod is deleted with a grace, ends with 0, and its kubelet removes it. */
const drained = (loop: Loop, name: string): void => {
  loop.ask(name);
  loop.run();
  loop.turn(1_000);
  loop.exits(name);
  loop.run();
  loop.remove("pods", name);
  loop.run();
};

describe("a pod that is deleted and ends with 0", () => {
  test("is created again", () => {
    const loop = running();
    drained(loop, "j-w-0");
    loop.pods("Running");
    loop.run();
    assert.deepEqual(stands(loop), ["Running", ["j-w-0", "j-w-1"], 0]);
    assert.deepEqual(loop.memory?.done, {});
  });

  test("counts as evicted and leads to the policy's action", () => {
    const loop = running(evicted);
    drained(loop, "j-w-0");
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [1, 1]);
  });

  test("counts as terminating until it is gone, and completes no task", () => {
    const loop = running(completed);
    loop.exits("j-w-1");
    loop.run();
    loop.ask("j-w-0");
    loop.turn(1_000);
    loop.exits("j-w-0");
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.status()["succeeded"], loop.status()["terminating"]], ["Running", 1, 1]);
    assert.deepEqual(loop.memory?.completed, []);
  });

  test("counts as evicted even if no step read it between its deletion and its end", () => {
    const loop = running(evicted);
    loop.ask("j-w-0");
    loop.turn(1_000);
    loop.exits("j-w-0");
    loop.run();
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.equal(loop.memory?.version, 1);
  });

  test("is created again even if all pods of the job are deleted at once", () => {
    const loop = running();
    for (const name of ["j-w-0", "j-w-1"]) loop.ask(name);
    loop.run();
    loop.turn(1_000);
    for (const name of ["j-w-0", "j-w-1"]) loop.exits(name);
    loop.run();
    assert.notEqual(phaseOf(loop), "Completed");
    for (const name of ["j-w-0", "j-w-1"]) loop.remove("pods", name);
    loop.run();
    loop.pods("Running");
    loop.run();
    assert.deepEqual(stands(loop), ["Running", ["j-w-0", "j-w-1"], 0]);
  });
});

describe("a deleted pod with a finalizer", () => {
  /** The kubelet has ended the pod: its grace is 0. */
  const letGo = (loop: Loop, name: string): void =>
    loop.change("pods", name, {
      metadata: { deletionTimestamp: new Date(loop.now).toISOString(), deletionGracePeriodSeconds: 0 },
    });

  test("is not complete if it ended after its deletion, and counts as evicted when it is gone", () => {
    const loop = running(evicted);
    loop.ask("j-w-0", 30, held);
    loop.turn(1_000);
    loop.exits("j-w-0");
    loop.turn(5_000);
    letGo(loop, "j-w-0");
    loop.run();
    assert.deepEqual([loop.memory?.done, loop.status()["terminating"]], [{}, 1]);
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.equal(loop.memory?.version, 1);
  });

  test("is not complete if a step saw its deletion before its end, even if its node's clock is behind", () => {
    const loop = running(evicted);
    loop.ask("j-w-0", 30, held);
    loop.run();
    loop.turn(-20_000);
    loop.exits("j-w-0");
    loop.turn(121_000);
    letGo(loop, "j-w-0");
    loop.run();
    assert.deepEqual(loop.memory?.done, {});
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.deepEqual([loop.memory?.version, loop.memory?.leaving], [1, {}]);
  });

  test("stays complete if it ended before its deletion, even if no step read it in between", () => {
    const loop = running(evicted);
    loop.exits("j-w-0");
    loop.turn(61_000);
    loop.ask("j-w-0", 0, held);
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.status()["succeeded"]], ["Running", 1]);
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.deepEqual(stands(loop), ["Running", ["j-w-1"], 1]);
  });

  test("stays complete if a step read it as Succeeded, independent of the times", () => {
    const loop = running(evicted);
    loop.pods("Succeeded", ["j-w-0"]);
    loop.run();
    loop.ask("j-w-0", 0, held);
    loop.run();
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.deepEqual(stands(loop), ["Running", ["j-w-1"], 1]);
  });

  test("counts as evicted if end and deletion fall into the same second", () => {
    const loop = running(evicted);
    loop.exits("j-w-0");
    loop.ask("j-w-0", 0, held);
    loop.run();
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.equal(loop.memory?.version, 1);
  });
});

describe("pods that a step deletes", () => {
  const size = (loop: Loop, replicas: number): void =>
    loop.change("jobs", "j", { spec: { minAvailable: 0, tasks: [task("w", replicas)] } });

  /** Scales the job to 0 and back while its pods end. */
  const toAndFro = (more = {}): Loop => {
    const loop = running({ minAvailable: 0, ...more });
    loop.grace = 30;
    size(loop, 0);
    loop.run();
    size(loop, 2);
    loop.run();
    return loop;
  };

  test("because of a smaller size are created again when the job grows meanwhile, and do not count as evicted", () => {
    const loop = toAndFro({ policies: [{ event: "PodEvicted", action: "AbortJob" }] });
    loop.turn(1_000);
    for (const name of ["j-w-0", "j-w-1"]) loop.exits(name);
    loop.run();
    loop.release();
    loop.run();
    loop.pods("Running");
    loop.run();
    assert.deepEqual(stands(loop), ["Running", ["j-w-0", "j-w-1"], 0]);
    assert.equal(loop.memory?.dismissed, undefined);
  });

  test("because of a smaller size that a step sees once all have ended leave nothing in the record of the ended job", () => {
    const loop = running();
    loop.change("jobs", "j", { spec: { minAvailable: 1, tasks: [task("w", 1)] } });
    for (const name of ["j-w-0", "j-w-1"]) loop.exits(name);
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.memory?.dismissed], ["Completed", undefined]);
  });

  test("because of a smaller size, with a lost deletion, count as evicted when a user deletes them later", () => {
    const loop = running({ minAvailable: 0, ...evicted });
    size(loop, 0);
    loop.step(true);
    size(loop, 2);
    loop.run();
    assert.deepEqual(loop.names("pods").length, 2);
    loop.turn(60_000);
    drained(loop, "j-w-0");
    assert.equal(loop.memory?.version, 1);
  });

  test("for an abort are created again when the job is resumed", () => {
    const loop = running();
    loop.grace = 30;
    loop.order("AbortJob");
    loop.run();
    loop.turn(1_000);
    for (const name of ["j-w-0", "j-w-1"]) loop.exits(name);
    loop.run();
    loop.release();
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.memory?.done], ["Aborted", {}]);
    loop.order("ResumeJob");
    loop.run();
    loop.admit();
    loop.run();
    assert.deepEqual(loop.names("pods").toSorted(), ["j-w-0", "j-w-1"]);
  });

  test("for a restart of one pod complete no task", () => {
    const policies = [
      { event: "PodFailed", action: "RestartTask" },
      { event: "TaskCompleted", action: "CompleteJob" },
    ];
    const loop = new Loop({ tasks: [task("w", 3)], policies }).running();
    loop.grace = 30;
    loop.exits("j-w-2");
    loop.fail("j-w-0", 1);
    loop.step();
    loop.turn(1_000);
    loop.exits("j-w-1");
    loop.run();
    assert.deepEqual(loop.memory?.completed, []);
  });
});

describe("a pod that is created beside one that runs already", () => {
  /** The first creation of one of two pods is refused, so the step ends unsaved; the other one runs. */
  const halfCreated = (): Loop => {
    const loop = new Loop({
      schedulerName: "default-scheduler",
      minAvailable: 1,
      tasks: [task("w", 2)],
      ...evicted,
    }).run();
    for (const name of loop.names("podgroups"))
      loop.change("podgroups", name, {
        metadata: { annotations: { "rekindle.dev/scheduled-by": "default-scheduler" } },
      });
    loop.admit();
    const { memory } = loop;
    loop.step();
    loop.memory = memory;
    loop.remove("pods", "j-w-0");
    loop.pods("Running", ["j-w-1"]);
    return loop;
  };

  test("counts as evicted even if it is gone before the next step", () => {
    const loop = halfCreated();
    loop.step();
    assert.deepEqual(loop.names("pods").toSorted(), ["j-w-0", "j-w-1"]);
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.deepEqual([loop.memory?.version, loop.memory?.retryCount], [1, 1]);
  });
});

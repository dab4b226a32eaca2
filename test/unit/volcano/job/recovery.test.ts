/**
 * A job in another cluster: finished parts stay finished, and active ones begin again with pods of the next version.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recovery, volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import type { Memory } from "../../../../shared/volcano/job/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { eight, key, Loop, task } from "./loop.ts";

/** Returns a job of one pod, stepped as far as `until` does. */
const lived = (until: (loop: Loop) => void): Loop => {
  const loop = new Loop({ minAvailable: 1, tasks: [task("w", 1)] });
  loop.step();
  loop.admit();
  loop.step();
  until(loop);
  return loop;
};

const running = (loop: Loop): void => {
  loop.pods("Running");
  loop.step();
};

const completed = (loop: Loop): void => {
  running(loop);
  loop.pods("Succeeded");
  for (let steps = 0; steps < 4; steps += 1) loop.step();
};

/** Returns the job restored without its status, in a cluster that has nothing else of it. */
const restored = ({ memory }: Loop): Loop => {
  const loop = new Loop({ minAvailable: 1, tasks: [task("w", 1)] });
  assert.ok(memory !== undefined);
  loop.memory = recovery.voided(memory);
  return loop;
};

describe("a job whose record was made in another cluster", () => {
  test("stays Completed, and no pod is created", () => {
    const before = lived(completed);
    assert.equal(before.status().state?.phase, "Completed");
    const loop = restored(before);
    for (let steps = 0; steps < 3; steps += 1) loop.step();
    assert.deepEqual([loop.status().state?.phase, loop.names("pods")], ["Completed", []]);
  });

  test("that was Running starts again as the next version, without a retry, and completes", () => {
    const before = lived(running);
    assert.equal(before.status().state?.phase, "Running");
    const loop = restored(before);
    loop.step();
    loop.admit();
    loop.step();
    assert.deepEqual(loop.names("pods"), ["j-w-0"]);
    running(loop);
    const { state, version, retryCount = 0 } = loop.status();
    assert.deepEqual([state?.phase, version, retryCount], ["Running", 1, 0]);
    completed(loop);
    assert.equal(loop.status().state?.phase, "Completed");
  });

  test("that was Aborting becomes Aborted", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    const away: Memory = { ...memory, phase: "Aborting", version: 1 };
    const loop = restored(Object.assign(lived(running), { memory: away }));
    for (let steps = 0; steps < 3; steps += 1) loop.step();
    assert.deepEqual([loop.status().state?.phase, loop.names("pods")], ["Aborted", []]);
  });

  test("keeps no UID, and its memory can be parsed", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    const uids = { doomed: ["u-1"], retired: "u-2", unknown: "u-3", commands: ["u-4"], kept: "digest" };
    const left = recovery.voided({ ...memory, ...uids });
    assert.doesNotMatch(JSON.stringify(left), /u-\d|digest/);
    assert.ok(volcanoJob.parse(left).ok);
  });
});

describe("a job whose memory is damaged", () => {
  const rebuilt = (loop: Loop, stored: unknown) => {
    const pods = loop.names("pods").map((name) => loop.pod(name));
    return recovery.rebuild({ key, object: loop.job(), found: [pods], now: loop.now, stored });
  };

  test("keeps a memory that is whole as it is", () => {
    const loop = lived(running);
    const { memory, problems } = rebuilt(loop, loop.memory);
    assert.deepEqual([memory, problems], [loop.memory, []]);
  });

  test("gets at least the version of its pods and the retries of its status", () => {
    const loop = lived(running);
    loop.change("jobs", "j", { status: { retryCount: 2 } });
    loop.change("pods", "j-w-0", { metadata: { annotations: { "volcano.sh/job-version": "3" } } });
    const { memory, problems } = rebuilt(loop, { ...loop.memory, version: -1, retryCount: "many" });
    assert.deepEqual([memory.version, memory.retryCount, memory.phase, problems.length], [3, 2, "Running", 2]);
  });

  test("continues with its existing pods", () => {
    for (const spoilt of [7, { ...lived(running).memory, phase: "NONSENSE", seen: 7 }]) {
      const loop = lived(running);
      loop.memory = rebuilt(loop, spoilt).memory;
      const before = [...loop.deeds];
      loop.step();
      assert.deepEqual(
        [loop.deeds.slice(before.length).filter((deed) => /pods/.test(deed)), loop.names("pods")],
        [[], ["j-w-0"]],
      );
    }
  });
});

describe("a job that is ended by order", () => {
  test("is Terminated with the reason in its status; a job that is over stays as it is", () => {
    const loop = lived(running);
    assert.ok(loop.memory !== undefined);
    for (const name of [...loop.names("pods"), ...loop.names("podgroups")])
      loop.remove(name === "j-w-0" ? "pods" : "podgroups", name);
    loop.memory = recovery.ended?.(loop.memory, loop.now, "by order");
    for (let steps = 0; steps < 4; steps += 1) loop.step();
    assert.deepEqual([loop.status().state?.phase, loop.status().state?.message], ["Terminated", "by order"]);
    assert.deepEqual([loop.names("pods"), loop.names("podgroups")], [[], []]);
    const over = lived(completed).memory;
    assert.ok(over !== undefined);
    assert.equal(recovery.ended?.(over, loop.now, "by order"), over);
  });

  test("is Terminated even if it was Aborted, so that no command resumes it", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    assert.equal(recovery.ended?.({ ...memory, phase: "Aborted" }, eight, "by order").phase, "Terminated");
  });
});

describe("a reconnected job with a missing pod", () => {
  const policies = [{ event: "PodEvicted", action: "AbortJob" }];
  const missing = (): Loop => {
    const loop = new Loop({ minAvailable: 2, tasks: [task("w", 2)], policies }).running();
    loop.remove("pods", "j-w-1");
    loop.returning = { since: loop.now, until: loop.now + 30_000, ends: true };
    return loop;
  };

  test("waits for the pod during the recovery window, and counts the pod as evicted after the window", () => {
    const loop = missing();
    const { returning, waitsFor, wakeAt } = waitIn(loop.step());
    assert.deepEqual([returning, wakeAt, loop.status().state?.phase], [true, loop.now + 30_000, "Running"]);
    assert.match(waitsFor ?? "", /^pod j-w-1 to come back, until /);
    loop.turn(30_000).run();
    assert.deepEqual([loop.status().state?.phase, loop.names("pods")], ["Aborted", []]);
  });

  test("stops waiting when the pod is back", () => {
    const loop = missing();
    const back = new Loop({ minAvailable: 2, tasks: [task("w", 2)], policies }).running().pod("j-w-1");
    loop.put("pods", {
      ...back,
      metadata: { ...back.metadata, ownerReferences: loop.pod("j-w-0").metadata.ownerReferences ?? [] },
    });
    assert.equal(waitIn(loop.step()).returning, undefined);
    assert.equal(loop.status().state?.phase, "Running");
  });
});

/** A job in another cluster: what had ended stays so, what was at work begins anew with pods of the next version. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Memory } from "../../../shared/volcano/job/memory.ts";
import { volcanoJob } from "../../../shared/volcano/job/operator.ts";
import { voided } from "../../../shared/volcano/job/voided.ts";
import { Loop, task } from "./loop.ts";

/** A job of one pod whose steps have led as far as `until` says. */
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

/** The same job, restored without its status, in a cluster that has nothing else of it. */
const restored = ({ memory }: Loop): Loop => {
  const loop = new Loop({ minAvailable: 1, tasks: [task("w", 1)] });
  assert.ok(memory !== undefined);
  loop.memory = voided(memory);
  return loop;
};

describe("a job whose record was made in another cluster", () => {
  test("stays Completed, and nothing is made", () => {
    const before = lived(completed);
    assert.equal(before.status().state?.phase, "Completed");
    const loop = restored(before);
    for (let steps = 0; steps < 3; steps += 1) loop.step();
    assert.deepEqual([loop.status().state?.phase, loop.names("pods")], ["Completed", []]);
  });

  test("that was Running begins anew, as the next version and without a retry, and comes to its end", () => {
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

  test("that was being ended is ended", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    const away: Memory = { ...memory, phase: "Aborting", version: 1 };
    const loop = restored(Object.assign(lived(running), { memory: away }));
    for (let steps = 0; steps < 3; steps += 1) loop.step();
    assert.deepEqual([loop.status().state?.phase, loop.names("pods")], ["Aborted", []]);
  });

  test("keeps no UID, and what is kept can be read", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    const uids = { doomed: ["u-1"], retired: "u-2", unknown: "u-3", commands: ["u-4"], kept: "digest" };
    const left = voided({ ...memory, ...uids });
    assert.doesNotMatch(JSON.stringify(left), /u-\d|digest/);
    assert.ok(volcanoJob.parse(left).ok);
  });
});

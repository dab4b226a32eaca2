/**
 * A job in another cluster: finished parts stay finished, and active ones begin again with pods of the next version.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recovery, volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import type { Memory } from "../../../../shared/volcano/job/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { eight, type JobFixture, key, openJob, task } from "./fixtures.ts";

/** Returns a job of one pod, stepped as far as `until` does. */
const lived = (until: (fixture: JobFixture) => void): JobFixture => {
  const fixture = openJob({ minAvailable: 1, tasks: [task("w", 1)] });
  fixture.step();
  fixture.admit();
  fixture.step();
  until(fixture);
  return fixture;
};

const running = (fixture: JobFixture): void => {
  fixture.pods("Running");
  fixture.step();
};

const completed = (fixture: JobFixture): void => {
  running(fixture);
  fixture.pods("Succeeded");
  for (let steps = 0; steps < 4; steps += 1) fixture.step();
};

/** Returns the job restored without its status, in a cluster that has nothing else of it. */
const restored = ({ memory }: JobFixture): JobFixture => {
  const fixture = openJob({ minAvailable: 1, tasks: [task("w", 1)] });
  assert.ok(memory !== undefined);
  fixture.memory = recovery.voided(memory);
  return fixture;
};

describe("a job whose record was made in another cluster", () => {
  test("stays Completed, and no pod is created", () => {
    const before = lived(completed);
    assert.equal(before.status().state?.phase, "Completed");
    const fixture = restored(before);
    for (let steps = 0; steps < 3; steps += 1) fixture.step();
    assert.deepEqual([fixture.status().state?.phase, fixture.names("pods")], ["Completed", []]);
  });

  test("that was Running starts again as the next version, without a retry, and completes", () => {
    const before = lived(running);
    assert.equal(before.status().state?.phase, "Running");
    const fixture = restored(before);
    fixture.step();
    fixture.admit();
    fixture.step();
    assert.deepEqual(fixture.names("pods"), ["j-w-0"]);
    running(fixture);
    const { state, version, retryCount = 0 } = fixture.status();
    assert.deepEqual([state?.phase, version, retryCount], ["Running", 1, 0]);
    completed(fixture);
    assert.equal(fixture.status().state?.phase, "Completed");
  });

  test("that was Aborting becomes Aborted", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    const away: Memory = { ...memory, phase: "Aborting", version: 1 };
    const fixture = restored(Object.assign(lived(running), { memory: away }));
    for (let steps = 0; steps < 3; steps += 1) fixture.step();
    assert.deepEqual([fixture.status().state?.phase, fixture.names("pods")], ["Aborted", []]);
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
  const rebuilt = (fixture: JobFixture, stored: unknown) => {
    const pods = fixture.names("pods").map((name) => fixture.pod(name));
    return recovery.rebuild({ key, object: fixture.own(), found: [pods], now: fixture.now, stored });
  };

  test("keeps a memory that is whole as it is", () => {
    const fixture = lived(running);
    const { memory, problems } = rebuilt(fixture, fixture.memory);
    assert.deepEqual([memory, problems], [fixture.memory, []]);
  });

  test("gets at least the version of its pods and the retries of its status", () => {
    const fixture = lived(running);
    fixture.change("jobs", "j", { status: { retryCount: 2 } });
    fixture.change("pods", "j-w-0", { metadata: { annotations: { "volcano.sh/job-version": "3" } } });
    const { memory, problems } = rebuilt(fixture, { ...fixture.memory, version: -1, retryCount: "many" });
    assert.deepEqual([memory.version, memory.retryCount, memory.phase, problems.length], [3, 2, "Running", 2]);
  });

  test("continues with its existing pods", () => {
    for (const spoilt of [7, { ...lived(running).memory, phase: "NONSENSE", seen: 7 }]) {
      const fixture = lived(running);
      fixture.memory = rebuilt(fixture, spoilt).memory;
      const before = [...fixture.deeds];
      fixture.step();
      assert.deepEqual(
        [fixture.deeds.slice(before.length).filter((deed) => /pods/.test(deed)), fixture.names("pods")],
        [[], ["j-w-0"]],
      );
    }
  });
});

describe("a job that is ended by order", () => {
  test("is Terminated with the reason in its status; a job that is over stays as it is", () => {
    const fixture = lived(running);
    assert.ok(fixture.memory !== undefined);
    for (const name of [...fixture.names("pods"), ...fixture.names("podgroups")])
      fixture.remove(name === "j-w-0" ? "pods" : "podgroups", name);
    fixture.memory = recovery.ended?.(fixture.memory, fixture.now, "by order");
    for (let steps = 0; steps < 4; steps += 1) fixture.step();
    assert.deepEqual([fixture.status().state?.phase, fixture.status().state?.message], ["Terminated", "by order"]);
    assert.deepEqual([fixture.names("pods"), fixture.names("podgroups")], [[], []]);
    const over = lived(completed).memory;
    assert.ok(over !== undefined);
    assert.equal(recovery.ended?.(over, fixture.now, "by order"), over);
  });

  test("is Terminated even if it was Aborted, so that no command resumes it", () => {
    const { memory } = lived(running);
    assert.ok(memory !== undefined);
    assert.equal(recovery.ended?.({ ...memory, phase: "Aborted" }, eight, "by order").phase, "Terminated");
  });
});

describe("a reconnected job with a missing pod", () => {
  const policies = [{ event: "PodEvicted", action: "AbortJob" }];
  const missing = (): JobFixture => {
    const fixture = openJob({ minAvailable: 2, tasks: [task("w", 2)], policies }).running();
    fixture.remove("pods", "j-w-1");
    fixture.returning = { since: fixture.now, until: fixture.now + 30_000, ends: true };
    return fixture;
  };

  test("waits for the pod during the recovery window, and counts the pod as evicted after the window", () => {
    const fixture = missing();
    const { returning, waitsFor, wakeAt } = waitIn(fixture.step());
    assert.deepEqual([returning, wakeAt, fixture.status().state?.phase], [true, fixture.now + 30_000, "Running"]);
    assert.match(waitsFor ?? "", /^pod j-w-1 to come back, until /);
    fixture.turn(30_000).run();
    assert.deepEqual([fixture.status().state?.phase, fixture.names("pods")], ["Aborted", []]);
  });

  test("stops waiting when the pod is back", () => {
    const fixture = missing();
    const back = openJob({ minAvailable: 2, tasks: [task("w", 2)], policies })
      .running()
      .pod("j-w-1");
    fixture.put("pods", {
      ...back,
      metadata: { ...back.metadata, ownerReferences: fixture.pod("j-w-0").metadata.ownerReferences ?? [] },
    });
    assert.equal(waitIn(fixture.step()).returning, undefined);
    assert.equal(fixture.status().state?.phase, "Running");
  });
});

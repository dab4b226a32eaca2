/** The reason of a job's end in its status: people and every display read it there. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JobFixture, openJob, task } from "./fixtures.ts";

const running = (more: object = {}): JobFixture =>
  openJob({ tasks: [task("w", 2)], minAvailable: 2, ...more }).running();

const stateOf = (fixture: JobFixture) => {
  const { phase, reason, message } = { reason: undefined, message: undefined, ...fixture.status().state };
  return [phase, reason, message];
};

const policies = (action: string) => ({ policies: [{ event: "PodFailed", action }] });

describe("the reason of a job's end", () => {
  test("names the pod that failed last, its exit status, the others and the spent retries", () => {
    const fixture = running({ ...policies("RestartJob"), maxRetry: 2 });
    fixture.fail("j-w-0", 1);
    fixture.run();
    fixture.admit();
    fixture.run();
    fixture.pods("Running");
    fixture.run();
    fixture.fail("j-w-1", 3);
    fixture.turn(5_000);
    fixture.fail("j-w-0", 1);
    assert.deepEqual(stateOf(fixture.run()), [
      ...["Failed", "JobFailed", "pod j-w-0 failed (exit 1), and 1 pod before it; 2 of 2 retries used"],
    ]);
  });

  test("of pods that ended without a policy names no retries", () => {
    const fixture = running({ maxRetry: 3 });
    fixture.exits("j-w-0");
    fixture.fail("j-w-1", 137);
    assert.deepEqual(stateOf(fixture.run()), ["Failed", "JobFailed", "pod j-w-1 failed (exit 137)"]);
  });

  test("is the cause of the last restart where no failed pod is left", () => {
    const fixture = running({ ...policies("RestartJob"), maxRetry: 1 });
    fixture.fail("j-w-0", 7);
    fixture.step();
    for (const pod of ["j-w-0", "j-w-1"]) fixture.remove("pods", pod);
    assert.deepEqual(stateOf(fixture.run()), [
      ...["Failed", "JobFailed", "PodFailed of pod w-0 (exit code 7); 1 of 1 retries used"],
    ]);
  });

  test("is said where pods succeeded, but too few", () => {
    const fixture = running({ minSuccess: 3 });
    fixture.exits("j-w-0");
    fixture.exits("j-w-1");
    assert.deepEqual(stateOf(fixture.run()), ["Failed", "JobFailed", "too few of its pods succeeded"]);
  });

  for (const [action, phase] of [
    ["TerminateJob", "Terminated"],
    ["AbortJob", "Aborted"],
    ["CompleteJob", "Completed"],
  ] as const)
    test(`of a job that a policy ends by ${action} is the policy's cause, and no second Event tells of the action`, () => {
      const fixture = running(policies(action));
      fixture.fail("j-w-0", 9);
      const told: string[] = [];
      for (let steps = 0; steps < 12; steps += 1)
        for (const effect of fixture.step().stages.flat())
          if (effect.do === "record" && effect.reason === "ExecuteAction") told.push(effect.occasion);
      const [now, reason, message] = stateOf(fixture);
      assert.deepEqual([now, reason], [phase, `Job${phase}`]);
      assert.match(String(message), /^PodFailed of .*\(exit code 9\)$/);
      assert.equal(new Set(told).size, 1, told.join("; "));
    });

  test("of a job that completed by itself is none", () => {
    const fixture = running();
    fixture.exits("j-w-0");
    fixture.exits("j-w-1");
    assert.deepEqual(stateOf(fixture.run()), ["Completed", undefined, undefined]);
  });
});

/** Restart policies against counters, as upstream's ShouldRetry and its linear interval. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type RestartPolicy,
  retryAfterFailure,
  retryAfterRefusal,
} from "../../../../../shared/spark/application/run/retry.ts";

const at = 1_000_000;

/** Returns the seconds from the start of the failed run to the retry. */
const seconds = (due: number | undefined): number | undefined => (due === undefined ? undefined : (due - at) / 1_000);

type Case = { readonly policy: RestartPolicy; readonly done: number; readonly want: number | undefined };

describe("the seconds until the retry of a failed run", () => {
  const never: readonly Case[] = [
    { policy: {}, done: 1, want: undefined },
    { policy: { type: "Never" }, done: 1, want: undefined },
    { policy: { type: "Never", onFailureRetries: 5 }, done: 1, want: undefined },
    { policy: { type: "OnFailure" }, done: 1, want: undefined },
    { policy: { type: "OnFailure", onFailureRetries: 0 }, done: 1, want: undefined },
    { policy: { type: "OnFailure", onSubmissionFailureRetries: 5 }, done: 1, want: undefined },
  ];
  const onFailure = [1, 2, 3, 4].map((done): Case => {
    const policy = { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: 10 };
    return { policy, done, want: done <= 3 ? 10 * done : undefined };
  });
  const always = [1, 2, 60].map(
    (done): Case => ({ policy: { type: "Always", onFailureRetryInterval: 10 }, done, want: 10 * done }),
  );
  const unset = [1, 2].map((done): Case => ({ policy: { type: "Always" }, done, want: 5 * done }));
  for (const { policy, done, want } of [...never, ...onFailure, ...always, ...unset]) {
    test(`${JSON.stringify(policy)}, run ${done}: ${want ?? "never"}`, () => {
      const counters = { submissions: done, executions: done, submittedAt: at };
      assert.equal(seconds(retryAfterFailure(policy, counters)), want);
    });
  }

  test("depend on the executions for the limit, and on the submissions for the interval", () => {
    const policy = { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 10 };
    assert.equal(seconds(retryAfterFailure(policy, { submissions: 5, executions: 2, submittedAt: at })), 50);
    assert.equal(retryAfterFailure(policy, { submissions: 5, executions: 3, submittedAt: at }), undefined);
  });
});

describe("the seconds until the retry of a refused submission", () => {
  const cases: readonly Case[] = [
    { policy: {}, done: 1, want: undefined },
    { policy: { type: "Never", onSubmissionFailureRetries: 5 }, done: 1, want: undefined },
    { policy: { type: "OnFailure", onFailureRetries: 5 }, done: 1, want: undefined },
    {
      policy: { type: "OnFailure", onSubmissionFailureRetries: 2, onSubmissionFailureRetryInterval: 20 },
      done: 1,
      want: 20,
    },
    {
      policy: { type: "OnFailure", onSubmissionFailureRetries: 2, onSubmissionFailureRetryInterval: 20 },
      done: 2,
      want: 40,
    },
    {
      policy: { type: "OnFailure", onSubmissionFailureRetries: 2, onSubmissionFailureRetryInterval: 20 },
      done: 3,
      want: undefined,
    },
    { policy: { type: "Always", onSubmissionFailureRetryInterval: 20 }, done: 30, want: 600 },
    { policy: { type: "Always" }, done: 1, want: 5 },
  ];
  for (const { policy, done, want } of cases) {
    test(`${JSON.stringify(policy)}, submission ${done}: ${want ?? "never"}`, () => {
      assert.equal(seconds(retryAfterRefusal(policy, { submissions: done, executions: 0, submittedAt: at })), want);
    });
  }
});

/** The histories of Apache's SparkApplication: those of upstream's end-to-end tests, and those that upstream gets wrong. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Policy } from "../../../../../shared/spark/apache/status/progress.ts";
import { currentOf } from "../../../../../shared/spark/apache/status/record.ts";
import type { Summary } from "../../../../../shared/spark/apache/status/summary.ts";
import { evicted, executors, failed, pending, policyOf, ready, recordOf, succeeded } from "../fixtures.ts";
import { actsOf, begun, gone, historyOf, type Look, running, walk } from "./looks.ts";

type Row = readonly [
  why: string,
  policy: Policy,
  looks: readonly Look[],
  history: readonly Summary[],
  acts: readonly string[],
];

const upstreams: readonly Row[] = [
  [
    "a program that ends well",
    policyOf(),
    [...running, [60, { driver: succeeded }], [61, { ...gone }]],
    [...begun, "Succeeded", "ResourceReleased"],
    ["submit", "follow", "follow", "follow", "release", "rest"],
  ],
  [
    "an image that does not exist",
    policyOf({ applicationTimeoutConfig: { driverStartTimeoutMillis: 30_000 } }),
    [[0], [1, { created: true, driver: pending }], [32, { driver: pending }], [33, { ...gone }]],
    ["Submitted", "DriverRequested", "DriverStartTimedOut", "ResourceReleased"],
    ["submit", "follow", "release", "rest"],
  ],
  [
    "objects that are kept for a time, and then the application's end",
    policyOf({ resourceRetainPolicy: "Always", resourceRetainDurationMillis: 10_000, ttlAfterStopMillis: 30_000 }),
    [...running, [60, { driver: succeeded }], [71, { driver: succeeded }], [72, { ...gone }], [91, { ...gone }]],
    [...begun, "Succeeded", "TerminatedWithoutReleaseResources", "ResourceReleased"],
    ["submit", "follow", "follow", "follow", "rest", "release", "rest", "expire"],
  ],
  [
    "a failure whose objects are kept",
    policyOf({ resourceRetainPolicy: "OnFailure" }),
    [...running, [60, { driver: failed }], [600, { driver: failed }]],
    [...begun, "Failed", "TerminatedWithoutReleaseResources"],
    ["submit", "follow", "follow", "follow", "rest", "rest"],
  ],
];

describe("the history of upstream's end-to-end tests", () => {
  for (const [why, policy, looks, history, acts] of upstreams) {
    test(why, () => {
      const done = walk(policy, looks);
      assert.deepEqual([historyOf(done), actsOf(done)], [history, acts]);
    });
  }
});

const refused = {
  as: "Failed",
  message: "spec.deploymentMode: ClientMode would run the driver inside the operator",
} as const;

const others: readonly Row[] = [
  [
    "ClientMode fails once, and ends",
    policyOf(),
    [
      [0, { refused, released: true }],
      [1, { refused, released: true }],
      [2, { refused, released: true }],
    ],
    ["Submitted", "Failed", "ResourceReleased"],
    ["rest", "rest", "rest"],
  ],
  [
    "ClientMode that is deleted ends without a further state",
    policyOf(),
    [
      [0, { refused, released: true }],
      [1, { refused, released: true, deleting: true }],
    ],
    ["Submitted", "Failed", "ResourceReleased"],
    ["rest", "finish"],
  ],
  [
    "a driver that has ended before it was seen gets one end, the right one",
    policyOf(),
    [[0], [1, { created: true, driver: succeeded }]],
    ["Submitted", "DriverRequested", "Succeeded"],
    ["submit", "release"],
  ],
  [
    "a driver that is ready before it was seen passes the states between",
    policyOf(),
    [[0], [1, { created: true, driver: ready }]],
    begun,
    ["submit", "follow"],
  ],
  [
    "an eviction before the first container is seen at once",
    policyOf(),
    [[0], [1, { created: true, driver: pending }], [2, { driver: evicted }]],
    ["Submitted", "DriverRequested", "DriverEvicted"],
    ["submit", "follow", "release"],
  ],
  [
    "a driver that no live read finds has failed",
    policyOf(),
    [...running, [60, { driver: "gone" }]],
    [...begun, "Failed"],
    ["submit", "follow", "follow", "follow", "release"],
  ],
  [
    "a driver that a cache misses goes on",
    policyOf(),
    [...running, [60, { driver: "unseen" }]],
    begun,
    ["submit", "follow", "follow", "follow", "follow"],
  ],
  [
    "executors come and go",
    policyOf({ instanceConfig: { initExecutors: 3, minExecutors: 2, maxExecutors: 5 } }),
    [
      ...running,
      ...[0, 1, 3, 5, 1].map((count, at): Look => [10 + at, { driver: ready, executors: executors(count) }]),
    ],
    [
      "Submitted",
      "DriverRequested",
      "DriverStarted",
      "DriverReady",
      "InitializedBelowThresholdExecutors",
      "RunningWithPartialCapacity",
      "RunningHealthy",
      "RunningWithBelowThresholdExecutors",
    ],
    ["submit", ...Array.from({ length: 8 }, () => "follow")],
  ],
  [
    "a suspended application submits nothing",
    policyOf(),
    [[0, { suspended: true }], [600, { suspended: true }], [601]],
    ["Submitted"],
    ["rest", "rest", "submit"],
  ],
  [
    "a refusal that cannot be built follows the restart policy",
    policyOf({ restartConfig: { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillis: 5_000 } }),
    [
      [0, { refused: { as: "SchedulingFailure", message: "x" }, released: true }],
      [5, { refused: { as: "SchedulingFailure", message: "x" }, released: true }],
    ],
    ["ScheduledToRestart", "SchedulingFailure", "ResourceReleased"],
    ["rest", "rest"],
  ],
  [
    "success with a restart policy keeps what the retain policy keeps",
    policyOf({ resourceRetainPolicy: "Always", restartConfig: { restartPolicy: "OnFailure" } }),
    [...running, [60, { driver: succeeded }]],
    [...begun, "Succeeded", "TerminatedWithoutReleaseResources"],
    ["submit", "follow", "follow", "follow", "rest"],
  ],
];

describe("the history of an application", () => {
  for (const [why, policy, looks, history, acts] of others) {
    test(why, () => {
      const done = walk(policy, looks);
      assert.deepEqual([historyOf(done), actsOf(done)], [history, acts]);
    });
  }

  test("looks again at what it has seen without a further state", () => {
    const done = walk(policyOf(), [...running, [3, { created: true, driver: ready }]]);
    assert.deepEqual(done.at(-1)?.record, done.at(-2)?.record);
  });

  test("names the limit that ended the restarts", () => {
    const policy = policyOf({ restartConfig: { restartPolicy: "OnFailure", maxRestartAttempts: 0 } });
    const [end] = walk(policy, [[60, { ...gone }]], recordOf("DriverRequested", "Failed"));
    assert.equal(
      end && currentOf(end.record).message,
      "No restart follows: it would exceed maxRestartAttempts of 0. The objects of the application are deleted.",
    );
  });

  test("tells a refusal in the words of its reason", () => {
    const [first] = walk(policyOf(), [[0, { refused }]]);
    assert.equal(first && currentOf(first.record).message, refused.message);
  });

  test("holds the driver's status with a failure, and not with a success", () => {
    const [bad, good] = [failed, succeeded].map(
      (driver) => walk(policyOf(), [[60, { driver }]], recordOf("DriverRequested", "DriverStarted"))[0],
    );
    assert.deepEqual(
      [bad, good].map((one) => one && currentOf(one.record).driver),
      [failed["status"], undefined],
    );
  });
});

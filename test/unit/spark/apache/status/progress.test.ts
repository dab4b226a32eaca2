/** The states of Apache's SparkApplication, look by look: each timer, restarts, the release of objects, deletion, the time to live. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Observed, Policy } from "../../../../../shared/spark/apache/status/progress.ts";
import { currentOf } from "../../../../../shared/spark/apache/status/record.ts";
import { groupOf, isSummary, type Summary, summaries } from "../../../../../shared/spark/apache/status/summary.ts";
import { executors, failed, namesOf, pending, policyOf, ready, recordOf, started } from "../fixtures.ts";
import { actsOf, begun, gone, historyOf, inSeconds, type Look, running, walk } from "./looks.ts";

type Timer = readonly [
  field: string,
  before: readonly Summary[],
  driver: Observed["driver"],
  init: number,
  then: Summary,
];

const timers: readonly Timer[] = [
  ["driverStartTimeoutMillis", ["DriverRequested"], pending, 0, "DriverStartTimedOut"],
  ["driverStartTimeoutMillis", ["DriverRequested"], "unseen", 0, "DriverStartTimedOut"],
  ["driverReadyTimeoutMillis", ["DriverRequested", "DriverStarted"], started, 0, "DriverReadyTimedOut"],
  [
    "executorStartTimeoutMillis",
    ["DriverRequested", "DriverStarted", "DriverReady"],
    ready,
    1,
    "ExecutorsStartTimedOut",
  ],
];

describe("a timer", () => {
  for (const [field, before, driver, initExecutors, then] of timers) {
    const from = recordOf(...before);
    const beganS = before.length * 10;
    const policyFor = (ms: number): Policy =>
      policyOf({ applicationTimeoutConfig: { [field]: ms }, instanceConfig: { initExecutors } });

    test(`${field} with ${driver === "unseen" ? "no driver" : "a driver"} ends ${before.at(-1)} after it, and wakes for it`, () => {
      const [early, late] = walk(
        policyFor(40_000),
        [
          [beganS + 40, { driver }],
          [beganS + 40.001, { driver }],
        ],
        from,
      );
      assert.deepEqual([early?.act, inSeconds(early?.wakeAt)], ["follow", beganS + 40.001]);
      assert.equal(late && currentOf(late.record).summary, then);
    });

    test(`${field} of 0 is off: ${before.at(-1)} lasts without a wake`, () => {
      const [day] = walk(policyFor(0), [[86_400, { driver }]], from);
      assert.deepEqual(
        [day?.act, day?.wakeAt, day && currentOf(day.record).summary],
        ["follow", undefined, before.at(-1)],
      );
    });
  }

  test("of executors begins anew with the first of them", () => {
    const policy = policyOf({
      applicationTimeoutConfig: { executorStartTimeoutMillis: 40_000 },
      instanceConfig: { initExecutors: 2 },
    });
    const one = { driver: ready, executors: executors(1) };
    const from = recordOf("DriverRequested", "DriverStarted", "DriverReady");
    const done = walk(
      policy,
      [
        [60, one],
        [100, one],
        [101, one],
      ],
      from,
    );
    assert.deepEqual(
      done.map(({ record }) => currentOf(record).summary),
      ["InitializedBelowThresholdExecutors", "InitializedBelowThresholdExecutors", "ExecutorsStartTimedOut"],
    );
  });
});

describe("a restart", () => {
  const policy = policyOf({
    restartConfig: { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillis: 5_000 },
  });
  const looks: readonly Look[] = [
    ...running,
    [60, { driver: failed }],
    [62, { ...gone }],
    [63, { created: false }],
    [67, { created: false }],
    [68, { created: true, driver: pending }],
    [69, { driver: failed }],
    [70, { ...gone }],
  ];

  test("waits until the objects are gone and the backoff is over, and then submits the next attempt", () => {
    const done = walk(policy, looks);
    assert.deepEqual(
      done.slice(4).map(({ act, record, wakeAt }) => [act, record.attempt.id, inSeconds(wakeAt)]),
      [
        ["release", 0, 360],
        ["rest", 1, 67],
        ["rest", 1, 67],
        ["submit", 1, undefined],
        ["follow", 1, 368.001],
        ["release", 1, 369],
        ["rest", 1, undefined],
      ],
    );
  });

  test("moves the history to the attempt before, and numbers go on", () => {
    const { record } = walk(policy, looks).at(-1) ?? assert.fail("no look");
    assert.deepEqual(namesOf(record), ["ScheduledToRestart", "DriverRequested", "Failed", "ResourceReleased"]);
    assert.deepEqual(
      record.history.map(({ number }) => number),
      [6, 7, 8, 9],
    );
    assert.deepEqual(
      record.previous?.history.map(({ summary }) => summary),
      [...begun, "Failed"],
    );
  });

  test("of a suspended application waits", () => {
    const from = walk(policy, looks.slice(0, 6)).at(-1)?.record;
    const [later] = walk(policy, [[100, { suspended: true }]], from);
    assert.deepEqual([later?.act, later && currentOf(later.record).summary], ["rest", "ScheduledToRestart"]);
  });
});

describe("the release of objects", () => {
  const policy = policyOf({ applicationTimeoutConfig: { forceTerminationGracePeriodMillis: 60_000 } });

  test("needs no grace once the state has lasted for forceTerminationGracePeriodMillis", () => {
    const done = walk(policy, [[79], [80]], recordOf("DriverRequested", "Failed"));
    assert.deepEqual(
      done.map(({ act, force, wakeAt }) => [act, force, inSeconds(wakeAt)]),
      [
        ["release", undefined, 80],
        ["release", true, undefined],
      ],
    );
  });

  test("is shown only once nothing is left", () => {
    const done = walk(policy, [[21], [22], [23, { ...gone }]], recordOf("DriverRequested", "Failed"));
    assert.deepEqual(
      done.map(({ record }) => currentOf(record).summary),
      ["Failed", "Failed", "ResourceReleased"],
    );
  });
});

describe("an application under deletion", () => {
  const all = Object.keys(summaries).filter(isSummary);

  for (const summary of all) {
    test(`releases its objects first, then shows it, then goes: from ${summary}`, () => {
      const from = recordOf(summary);
      const deleting = { deleting: true, driver: ready } as const;
      const done = walk(
        policyOf(),
        [
          [20, deleting],
          [21, { ...gone, deleting: true }],
          [22, { ...gone, deleting: true }],
        ],
        from,
      );
      const added = summary === "ResourceReleased" ? [] : ["ResourceReleased"];
      assert.deepEqual(actsOf(done), ["release", "finish", "finish"]);
      assert.deepEqual(historyOf(done), ["Submitted", summary, ...added]);
    });
  }
});

describe("the time to live", () => {
  const policy = policyOf({ ttlAfterStopMillis: 30_000 });

  test("counts from the state before the last one", () => {
    const from = recordOf("DriverRequested", "Succeeded", "ResourceReleased");
    const done = walk(
      policy,
      [
        [50, { ...gone }],
        [50.001, { ...gone }],
      ],
      from,
    );
    assert.deepEqual(
      done.map(({ act, wakeAt }) => [act, inSeconds(wakeAt)]),
      [
        ["rest", 50.001],
        ["expire", undefined],
      ],
    );
  });

  test("releases objects that are kept for longer", () => {
    const from = recordOf("DriverRequested", "Failed", "TerminatedWithoutReleaseResources");
    const kept = policyOf({
      resourceRetainPolicy: "Always",
      resourceRetainDurationMillis: 90_000,
      ttlAfterStopMillis: 30_000,
    });
    assert.deepEqual(
      actsOf(
        walk(
          kept,
          [
            [60, { driver: failed }],
            [61, { driver: failed }],
          ],
          from,
        ),
      ),
      ["rest", "release"],
    );
  });

  test("that is off wakes for nothing", () => {
    const from = recordOf("DriverRequested", "Succeeded", "ResourceReleased");
    const [end] = walk(policyOf(), [[86_400, { ...gone }]], from);
    assert.deepEqual([end?.act, end?.wakeAt], ["rest", undefined]);
  });
});

test("an application that upstream left in any state comes to a rest or to an act, in one look", () => {
  for (const summary of Object.keys(summaries).filter(isSummary)) {
    const from = recordOf(summary);
    const [first] = walk(policyOf(), [[20, { ...gone }]], from);
    const again = walk(policyOf(), [[20, { ...gone }]], first?.record)[0];
    assert.deepEqual(again, first, summary);
    assert.ok(first !== undefined && first.record.history.length - from.history.length <= 6, groupOf(summary));
  }
});

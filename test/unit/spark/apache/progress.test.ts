/** The states of Apache's SparkApplication, look by look: upstream's end-to-end histories, each timer, restarts, retention, deletion. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Observed,
  type Policy,
  type Progress,
  progress,
} from "../../../../shared/spark/apache/status/progress.ts";
import { type ApplicationRecord, currentOf } from "../../../../shared/spark/apache/status/record.ts";
import { groupOf, isSummary, type Summary, summaries } from "../../../../shared/spark/apache/status/summary.ts";
import {
  evicted,
  executors,
  failed,
  namesOf,
  pending,
  policyOf,
  ready,
  recordOf,
  seen,
  started,
  succeeded,
  t0,
} from "./fixtures.ts";

/** A look: what is observed, and the seconds since the application's creation. */
type Look = readonly [atS: number, fields?: Partial<Observed>];

const look = (record: ApplicationRecord | undefined, policy: Policy, [atS, fields = {}]: Look): Progress =>
  progress(record, policy, seen({ now: t0 + atS * 1_000, ...fields }));

/** Looks one after another, each at the record that the one before left. */
const walk = (policy: Policy, looks: readonly Look[], from?: ApplicationRecord): readonly Progress[] => {
  const done: Progress[] = [];
  for (const one of looks) done.push(look(done.at(-1)?.record ?? from, policy, one));
  return done;
};

const historyOf = (done: readonly Progress[]): readonly Summary[] => {
  const record = done.at(-1)?.record;
  return record === undefined ? [] : [...namesOf({ history: record.history })];
};

const actsOf = (done: readonly Progress[]): readonly string[] => done.map(({ act }) => act);

const inSeconds = (at: number | undefined): number | undefined => (at === undefined ? undefined : (at - t0) / 1_000);

const running: readonly Look[] = [
  [0],
  [1, { created: true, driver: pending }],
  [2, { created: true, driver: started }],
  [3, { created: true, driver: ready }],
];

const gone = { created: true, released: true, driver: "gone" } as const;

const begun: readonly Summary[] = ["Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy"];

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

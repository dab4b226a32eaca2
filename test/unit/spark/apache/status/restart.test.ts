/** Restarts of Apache's SparkApplication: which ends they follow, counters, limits, resets and waits. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type ApplicationRecord,
  beganAt,
  currentOf,
  withRestart,
} from "../../../../../shared/spark/apache/status/record.ts";
import { afterEnd, restartsAt } from "../../../../../shared/spark/apache/status/restart.ts";
import { groupOf, isSummary, type Summary, summaries } from "../../../../../shared/spark/apache/status/summary.ts";
import { type Fields, policyOf, recordOf, t0 } from "../fixtures.ts";

const restartOf = (restartConfig: Fields) => policyOf({ restartConfig }).restart;

const ends = Object.keys(summaries)
  .filter(isSummary)
  .filter((summary) => groupOf(summary) === "stopping");

const follows: Readonly<Record<string, readonly Summary[]>> = {
  Never: [],
  Always: ends,
  OnFailure: ends.filter((summary) => summary !== "Succeeded"),
  OnInfrastructureFailure: ["DriverStartTimedOut", "ExecutorsStartTimedOut", "SchedulingFailure"],
};

describe("a policy restarts after", () => {
  for (const [restartPolicy, after] of Object.entries(follows)) {
    test(`${restartPolicy}: ${after.length === 0 ? "nothing" : after.join(", ")}`, () => {
      const restarted = ends.filter((summary) => "next" in afterEnd(recordOf(summary), restartOf({ restartPolicy })));
      assert.deepEqual(restarted, after);
    });
  }
});

/** Ends an attempt in a state and begins the next one; undefined once no restart follows. */
const turned = (record: ApplicationRecord, ended: Summary, config: Fields): ApplicationRecord | undefined => {
  const over = { ...record, ...recordOf("DriverRequested", ended), attempt: record.attempt };
  const after = afterEnd(over, restartOf(config));
  return "next" in after ? withRestart(over, after.next, { now: t0 + 60_000, trims: true }) : undefined;
};

/** The attempts' counters after these ends: all, failures in a row, scheduling failures in a row. */
const countersOf = (ended: readonly Summary[], config: Fields): readonly string[] => {
  const told: string[] = [];
  let record: ApplicationRecord | undefined = recordOf();
  for (const end of ended) {
    record = record === undefined ? undefined : turned(record, end, config);
    if (record === undefined) return [...told, "end"];
    const { id, restartCounter, failureRestartCounter, schedulingFailureRestartCounter } = record.attempt;
    told.push(`${id}: ${restartCounter} ${failureRestartCounter} ${schedulingFailureRestartCounter}`);
  }
  return told;
};

const [F, S, Q]: readonly [Summary, Summary, Summary] = ["Failed", "Succeeded", "SchedulingFailure"];

const rows: readonly (readonly [why: string, config: Fields, ended: readonly Summary[], told: readonly string[]])[] = [
  [
    "at most one more attempt than maxRestartAttempts",
    { restartPolicy: "OnFailure", maxRestartAttempts: 1 },
    [F, F],
    ["1: 1 1 0", "end"],
  ],
  ["no restart with maxRestartAttempts 0", { restartPolicy: "Always", maxRestartAttempts: 0 }, [F], ["end"]],
  [
    "maxRestartOnFailure ends at failures in a row",
    { restartPolicy: "Always", maxRestartAttempts: 5, maxRestartOnFailure: 2 },
    [F, F, F],
    ["1: 1 1 0", "2: 2 2 0", "end"],
  ],
  [
    "a success between two failures begins the row anew",
    { restartPolicy: "Always", maxRestartAttempts: 5, maxRestartOnFailure: 2 },
    [F, S, F, S, F],
    ["1: 1 1 0", "2: 2 0 0", "3: 3 1 0", "4: 4 0 0", "5: 5 1 0"],
  ],
  [
    "maxRestartOnSchedulingFailure ends at scheduling failures in a row",
    { restartPolicy: "OnFailure", maxRestartOnSchedulingFailure: 1 },
    [Q, Q],
    ["1: 1 1 1", "end"],
  ],
  [
    "a limit of scheduling failures replaces that of failures",
    { restartPolicy: "OnFailure", maxRestartOnSchedulingFailure: 2, maxRestartOnFailure: 0 },
    [Q, Q],
    ["1: 1 1 1", "2: 2 2 2"],
  ],
  [
    "without it a scheduling failure counts as a failure",
    { restartPolicy: "OnFailure", maxRestartOnFailure: 1 },
    [Q, Q],
    ["1: 1 1 1", "end"],
  ],
  [
    "another failure ends the row of scheduling failures",
    { restartPolicy: "OnFailure", maxRestartOnSchedulingFailure: 1 },
    [Q, F, Q],
    ["1: 1 1 1", "2: 2 2 0", "3: 3 3 1"],
  ],
  [
    "an attempt that lasted for restartCounterResetMillis begins all rows anew",
    { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartCounterResetMillis: 20_000 },
    [F, F, F],
    ["1: 1 0 0", "2: 1 0 0", "3: 1 0 0"],
  ],
  [
    "a shorter one does not",
    { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartCounterResetMillis: 20_001 },
    [F, F],
    ["1: 1 1 0", "end"],
  ],
  [
    "a reset gives no attempt where maxRestartAttempts is 0",
    { restartPolicy: "OnFailure", maxRestartAttempts: 0, restartCounterResetMillis: 0 },
    [F],
    ["end"],
  ],
];

describe("counters and limits", () => {
  for (const [why, config, ended, told] of rows) {
    test(why, () => assert.deepEqual(countersOf(ended, config), told));
  }

  test("the limit that ended the restarts is named", () => {
    const config = restartOf({ restartPolicy: "OnFailure", maxRestartAttempts: 0 });
    assert.deepEqual(afterEnd(recordOf("Failed"), config), { limit: "maxRestartAttempts of 0" });
  });
});

describe("the wait before the next attempt", () => {
  const all = {
    restartPolicy: "Always",
    restartBackoffMillis: 1_000,
    restartBackoffMillisForFailure: 2_000,
    restartBackoffMillisForSchedulingFailure: 3_000,
  };
  const waits: readonly (readonly [ended: Summary, config: Fields, ms: number])[] = [
    ["Succeeded", all, 1_000],
    ["Failed", all, 2_000],
    ["DriverEvicted", all, 2_000],
    ["SchedulingFailure", all, 3_000],
    ["SchedulingFailure", { ...all, restartBackoffMillisForSchedulingFailure: undefined }, 2_000],
    ["Failed", { restartPolicy: "Always", restartBackoffMillis: 1_000 }, 1_000],
    ["SchedulingFailure", { restartPolicy: "Always", restartBackoffMillis: 1_000 }, 1_000],
    ["Failed", { restartPolicy: "Always" }, 30_000],
  ];
  for (const [ended, config, ms] of waits) {
    for (const trims of [true, false]) {
      test(`after ${ended} is ${ms} ms, ${trims ? "with" : "without"} a trimmed history`, () => {
        const over = recordOf("DriverRequested", ended);
        const record = withRestart(over, { ...over.attempt, id: 1 }, { now: t0 + 60_000, trims });
        assert.equal(restartsAt(record, restartOf(config)) - beganAt(currentOf(record)), ms);
      });
    }
  }
});

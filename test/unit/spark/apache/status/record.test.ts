/** The record of an application's states: numbers, trimming, bounds, and the status as upstream writes and reads it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf } from "../../../../../shared/core/json.ts";
import {
  type ApplicationRecord,
  currentOf,
  recordIn,
  statusOf,
  withRestart,
  withState,
} from "../../../../../shared/spark/apache/status/record.ts";
import { namesOf, recordOf, t0 } from "../fixtures.ts";

const over = recordOf("DriverRequested", "Failed");

const restarted = (trims: boolean): ApplicationRecord =>
  withRestart(over, { ...over.attempt, id: 1, restartCounter: 1 }, { now: t0 + 60_000, trims });

const numbersOf = ({ history }: Pick<ApplicationRecord, "history">): readonly number[] =>
  history.map(({ number }) => number);

describe("the history", () => {
  test("has the next number for each state, from 0 on", () => {
    assert.deepEqual(
      [namesOf(over), numbersOf(over)],
      [
        ["Submitted", "DriverRequested", "Failed"],
        [0, 1, 2],
      ],
    );
  });

  test("of an attempt that restarts moves to the attempt before, and numbers go on", () => {
    const record = restarted(true);
    assert.deepEqual([namesOf(record), numbersOf(record)], [["ScheduledToRestart"], [3]]);
    assert.deepEqual(record.previous?.history, over.history);
    assert.equal(record.previous?.attempt.id, 0);
  });

  test("stays whole without trimming, and the attempt before has its counters alone", () => {
    const record = restarted(false);
    assert.deepEqual(namesOf(record), ["Submitted", "DriverRequested", "Failed", "ScheduledToRestart"]);
    assert.deepEqual(statusOf(record)["previousAttemptSummary"], { attemptInfo: over.attempt });
  });

  test("without trimming keeps the newest 200 states, and the one from which the attempt is counted", () => {
    let record = restarted(false);
    for (let at = 0; at < 500; at += 1) record = withState(record, "RunningHealthy", t0 + at * 1_000);
    assert.equal(record.history.length, 201);
    assert.equal(record.history[0]?.summary, "ScheduledToRestart");
    assert.equal(currentOf(record).number, 503);
  });

  test("keeps the driver's status of the three newest states that have one", () => {
    let record = recordOf();
    for (let at = 0; at < 5; at += 1) record = withState(record, "Failed", t0, { driver: { phase: `${at}` } });
    assert.deepEqual(
      record.history.map(({ driver }) => fieldsOf(driver)["phase"]),
      [undefined, undefined, undefined, "2", "3", "4"],
    );
  });

  test("has messages of one line and bounded length", () => {
    const record = withState(recordOf(), "Failed", t0, { message: `a\n\tat b\n${"c".repeat(5_000)}` });
    const { message = "" } = currentOf(record);
    assert.ok(message.length <= 1_024, `${message.length}`);
    assert.doesNotMatch(message, /\n/);
  });
});

describe("the status", () => {
  test("has upstream's fields, with numbers as keys", () => {
    const attemptInfo = {
      id: 0,
      restartCounter: 0,
      failureRestartCounter: 0,
      schedulingFailureRestartCounter: 0,
    };
    const submitted = {
      currentStateSummary: "Submitted",
      lastTransitionTime: "2026-11-02T08:00:00.000Z",
      message: "Spark application has been created on Kubernetes Cluster.",
    };
    const requested = {
      currentStateSummary: "DriverRequested",
      lastTransitionTime: "2026-11-02T08:00:10.000Z",
      message: "Requested driver from resource scheduler.",
    };
    assert.deepEqual(statusOf(recordOf("DriverRequested")), {
      currentState: requested,
      stateTransitionHistory: { 0: submitted, 1: requested },
      currentAttemptSummary: { attemptInfo },
    });
  });

  for (const [why, record] of [
    ["at its first state", recordOf()],
    ["after an end", over],
    ["in its second attempt", restarted(true)],
    ["in its second attempt, without trimming", restarted(false)],
    ["with a driver's status", withState(over, "Failed", t0, { driver: { phase: "Failed" } })],
  ] as const) {
    test(`${why} is read as it was written`, () => assert.deepEqual(recordIn(statusOf(record)), record));
  }

  test("keeps upstream's nanoseconds", () => {
    const at = "2026-03-26T02:10:31.642213107Z";
    const record = recordIn({ currentState: { currentStateSummary: "Submitted", lastTransitionTime: at } });
    assert.equal(record && currentOf(record).at, at);
  });

  test("orders states by number, not by text", () => {
    const state = { currentStateSummary: "RunningHealthy", lastTransitionTime: "2026-11-02T08:00:00Z" };
    const record = recordIn({ currentState: state, stateTransitionHistory: { 10: state, 9: state, 2: state } });
    assert.deepEqual(record && numbersOf(record), [2, 9, 10]);
  });

  const unread: readonly (readonly [why: string, status: unknown])[] = [
    ["absent", undefined],
    ["null", null],
    ["empty", {}],
    ["without a current state", { currentState: null, stateTransitionHistory: null }],
    [
      "of an unknown state",
      { currentState: { currentStateSummary: "Lost", lastTransitionTime: "2026-11-02T08:00:00Z" } },
    ],
    ["of the name of a method", { currentState: { currentStateSummary: "toString", lastTransitionTime: "x" } }],
    ["that is a text", "Submitted"],
  ];
  for (const [why, status] of unread) {
    test(`${why} shows no state`, () => assert.equal(recordIn(status), undefined));
  }

  test("with damaged counters counts from 0", () => {
    const currentState = { currentStateSummary: "Submitted", lastTransitionTime: "2026-11-02T08:00:00Z" };
    const attemptInfo = { id: -1, restartCounter: "2", failureRestartCounter: 1e300 };
    assert.deepEqual(recordIn({ currentState, currentAttemptSummary: { attemptInfo } })?.attempt, {
      id: 0,
      restartCounter: 0,
      failureRestartCounter: 0,
      schedulingFailureRestartCounter: 0,
    });
  });
});

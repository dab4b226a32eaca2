/** The judgements of the lane of Apache's applications on recordings of literals. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Application, enterApplication, enterPods, type Page, statesOf } from "./book.ts";
import { mustHaveLived, patternOf } from "./judgements.ts";

const page = (): Page => ({
  ...{ history: new Map(), faults: [], drivers: new Map(), pods: new Map() },
  ...{ driverSeenAt: 0, mostDrivers: 0, last: undefined, gone: false },
});

const at = (number: number): string => new Date(Date.UTC(2026, 10, 2, 8, 0, number)).toISOString();

/** An application whose status shows these states from a number on; those before `began` are of the attempt before. */
const showing = (states: readonly string[], first = 0, began = 0): Application => {
  const entries = states.map(
    (currentStateSummary, index) =>
      [`${first + index}`, { currentStateSummary, lastTransitionTime: at(first + index) }] as const,
  );
  const newest = entries.at(-1)?.[1] ?? assert.fail("no state");
  const [before, now] = [entries.slice(0, began), entries.slice(began)];
  return {
    metadata: { name: "pi", uid: "u" },
    status: {
      currentState: newest,
      stateTransitionHistory: Object.fromEntries(now),
      previousAttemptSummary: { attemptInfo: { id: 0 }, stateTransitionHistory: Object.fromEntries(before) },
    },
  };
};

const driver = (attempt: number, uid: string, phase = "Succeeded") => ({
  metadata: { name: `pi-${attempt}-driver`, uid, labels: { "spark-role": "driver" } },
  spec: { volumes: [] },
  status: { phase },
});

const well = ["Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy", "Succeeded"];

describe("the record of an application", () => {
  test("goes on over attempts, and sees no fault in a history that moves to the attempt before", () => {
    const seen = page();
    enterApplication(seen, showing(well.slice(0, 2)));
    enterApplication(seen, showing([...well, "ScheduledToRestart", "DriverRequested"], 0, 6));
    assert.deepEqual([statesOf(seen).length, seen.faults], [8, []]);
  });

  test("sees a state that changed, a gap, and a present state that is not the newest", () => {
    const seen = page();
    enterApplication(seen, showing(well.slice(0, 3)));
    enterApplication(seen, showing(["Submitted", "Failed", "DriverStarted"]));
    const { status, ...app } = showing(["Submitted", "DriverRequested"]);
    const history = { 0: status?.currentState, 2: status?.currentState };
    enterApplication(seen, { ...app, status: { ...status, stateTransitionHistory: history } } as Application);
    const stale = showing(well.slice(0, 3));
    const [first] = Object.values(stale.status?.stateTransitionHistory ?? {});
    enterApplication(seen, { ...stale, status: { ...stale.status, currentState: first } } as Application);
    assert.deepEqual(
      seen.faults.map((one) => one.split(" ").slice(0, 3).join(" ")),
      ["state 1 was", "the states 0,", "state 0 was", "state 2 was", "Submitted is not"],
    );
  });
});

describe("the judgement of a life", () => {
  const lived = (states: readonly string[], ...drivers: readonly ReturnType<typeof driver>[]): Page => {
    const seen = page();
    enterApplication(seen, showing(states));
    enterPods(seen, drivers, 0);
    return seen;
  };

  test("finds a missing state, a second body of an attempt, and two drivers at once", () => {
    assert.match(mustHaveLived("pi", lived(well, driver(0, "a")), { states: well }), /^pi: Submitted/);
    const wrong = [
      lived([...well.slice(0, 3), "Succeeded"], driver(0, "a")),
      lived(well, driver(0, "a"), driver(0, "b")),
      lived(well, driver(0, "a", "Running"), driver(1, "b", "Running")),
      lived(well),
    ];
    for (const one of wrong) assert.throws(() => mustHaveLived("pi", one, { states: well }));
  });

  test("lets the states of a driver that no host saw be missing only where it says so", () => {
    const quick = patternOf(["Submitted", "DriverRequested", "…", "Failed"]);
    assert.ok(quick.test("Submitted DriverRequested Failed "));
    assert.ok(quick.test("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed "));
    assert.ok(!quick.test("Submitted DriverRequested DriverStartTimedOut Failed "));
    const counted = patternOf(["DriverReady", "executors", "Succeeded"]);
    assert.ok(counted.test("DriverReady InitializedBelowThresholdExecutors RunningHealthy Succeeded "));
    assert.ok(counted.test("DriverReady RunningHealthy RunningWithBelowThresholdExecutors Succeeded "));
    assert.ok(!counted.test("DriverReady Succeeded "));
  });
});

/**
 * The requests of an application's life besides its executors, by functions that a dispatcher calls, without those for
 * its record. `npm run bench -- functions --part dispatch` counts them on a real API server. And those of a quiet minute
 * of a run whose executors follow its driver's demand, by functions on a queue, all of them.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runToRest } from "./event-loop.ts";
import { Execution } from "./execution.ts";
import { type Fault, noFault } from "./fault.ts";
import { openFixture } from "./fixture.ts";
import { appName, base, executorRuns } from "./scenario.ts";
import { scenarioNamed } from "./units.ts";

/** Counts the requests of a life whose driver exits by itself, before it asks for executors. */
const requestsOf = async (runMs: number): Promise<Readonly<Record<string, number>>> => {
  const { listeners: _, ...dispatched } = scenarioNamed("dispatched-told");
  const fixture = openFixture({
    ...dispatched,
    annotations: {},
    scripts: { [appName]: [{ runMs, exitCode: 0, bootMs: 2 * runMs }] },
  });
  const execution = new Execution(fixture, fixture.initial, noFault, {});
  assert.ok(await runToRest(execution));
  assert.equal(execution.oracle.phase(), "COMPLETED");
  const own = execution.calls.filter(
    ({ by, key, via, what }) => by === "step" && key === appName && via === "api" && !what.endsWith(" checkpoints"),
  );
  return Object.fromEntries([...Map.groupBy(own, ({ what }) => what)].map(([what, calls]) => [what, calls.length]));
};

const writes = {
  "POST services": 2,
  "POST configmaps": 2,
  "POST pods": 1,
  "POST events": 4,
  "PATCH sparkapplications/status": 3,
};

describe("an application's life besides its executors costs 12 requests, all of them writes", () => {
  const lives = [
    ["is over before a creation that was planned twice could have arrived", 5_000],
    ["is over when the check comes whether its driver has started", 20_000],
    ["goes on when the check comes whether its driver has started", 90_000],
  ] as const;
  for (const [what, runMs] of lives)
    test(`when it ${what}`, async () => assert.deepEqual(await requestsOf(runMs), writes));
});

/** Requests and timers of each of the minutes that begin at `fromMs`, for a demand of two executors that stands. */
const quietMinutes = async (fromMs: readonly number[]): Promise<readonly Readonly<Record<string, number>>[]> => {
  const dies = {
    says: "an executor dies",
    when: executorRuns,
    do: { type: "kill", pod: /-exec-\d+$/, code: 137 },
  } as const;
  const fixture = openFixture({
    name: "quiet-elastic",
    what: "two executors die, which begins further chains of timers; then nothing happens",
    spec: {
      ...{ ...base, executor: { cores: 1, memory: "512m" } },
      dynamicAllocation: { enabled: true, maxExecutors: 3 },
    },
    annotations: { "rekindle.dev/executors": "own" },
    scripts: { [appName]: [{ jobMs: 400_000, gauge: [[0, 2]], executors: { "*": { busyMs: 0 } } }] },
    userActions: [
      { ...dies, afterMs: 26_700 },
      { ...dies, afterMs: 48_100 },
    ],
    ends: "COMPLETED",
    breadth: "sparse",
  });
  const calls: { readonly at: number; readonly what: string }[] = [];
  const counter: Fault = {
    ...noFault,
    call: ({ by, what }, { now }) => {
      if (by === "step") calls.push({ at: now() - began, what });
      return { do: "pass" };
    },
  };
  const execution = new Execution(fixture, fixture.initial, counter);
  const began = execution.now();
  assert.ok(await runToRest(execution));
  return fromMs.map((from) => {
    const within = calls.filter(({ at }) => at >= from && at < from + 60_000);
    return Object.fromEntries([...Map.groupBy(within, ({ what }) => what)].map(([what, all]) => [what, all.length]));
  });
};

test("a quiet minute of executors that follow a demand has one look in 5 s, of four requests and one timer", async () => {
  const looks = 12;
  const minute = {
    "GET checkpoints": looks,
    "GET sparkapplications": looks,
    "LIST pods": looks,
    "GET pods/proxy": looks,
    later: looks,
    acknowledge: looks,
  };
  assert.deepEqual(await quietMinutes([120_000, 200_000]), [minute, minute]);
});

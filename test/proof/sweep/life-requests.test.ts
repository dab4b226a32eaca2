/**
 * The requests of an application's life besides its executors, by functions that a dispatcher calls, without those for
 * its record. `npm run bench -- functions --part dispatch` counts them on a real API server.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runToRest } from "./event-loop.ts";
import { Execution } from "./execution.ts";
import { noFault } from "./fault.ts";
import { openFixture } from "./fixture.ts";
import { appName } from "./scenario.ts";
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
    ["is over when the check comes whether its driver has started", 20_000],
    ["goes on when the check comes whether its driver has started", 90_000],
  ] as const;
  for (const [what, runMs] of lives)
    test(`when it ${what}`, async () => assert.deepEqual(await requestsOf(runMs), writes));

  test("and two reads more when it is over before a late creation can have arrived", async () => {
    assert.deepEqual(await requestsOf(5_000), { ...writes, "GET sparkapplications": 1, "LIST pods": 1 });
  });
});

/**
 * `npm run e2e -- --dispatch`: real Spark and a Volcano job on a real cluster, run by built functions as processes that a
 * dispatcher calls over HTTP, and that are started on demand, stopped when idle and killed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, type Result } from "../../../support/attempt.ts";
import { goneMs, livesWithin } from "../lambda/cases.ts";
import type { LaneOptions } from "../lambda/lane.ts";
import { fewestDispatcherKills, jobCompletes, killsOf, quiet, refusesNothing, stormy, trigger } from "./cases.ts";
import { dispatcherLives, type Fixture, openFixture } from "./fixture.ts";

const triggerMs = 400;
const longestMs = 300_000;
/**
 * A dispatcher keeps messages and timers in its memory. Those of two that were killed one after the other come back with
 * the first resync of the next one: twice its life and the time until its lease expires.
 */
const lostTimerMs = 2 * (dispatcherLives.mostMs + 15_000);

/** Sends triggers during the storm, also for applications that have ended. */
const triggering = async (fixture: Fixture): Promise<void> => {
  for (let nth = 0; fixture.storm.blows; nth += 1) {
    await trigger(fixture, nth);
    await sleep(triggerMs);
  }
};

/** Waits until as many processes were killed, and the dispatcher often enough among them. */
const blowUntil = async (fixture: Fixture, kills: number): Promise<void> => {
  const isEnough = (): boolean => killsOf(fixture) >= kills && fixture.dispatcher.kills() >= fewestDispatcherKills;
  for (const until = performance.now() + longestMs; !isEnough() && performance.now() < until; ) await sleep(500);
};

/** Runs everything in one cluster, in the order of the report. */
export const dispatchLane = async ({ seed, kills, only }: LaneOptions): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-dispatch-"));
  console.log(`logs, kept if something fails: ${join(dir, "logs")}`);
  const fixture = await openFixture(dir, seed);
  const results: Result[] = [];
  try {
    const triggers = triggering(fixture);
    const alive = [...livesWithin(goneMs + lostTimerMs), jobCompletes].filter(({ name }) => name.includes(only ?? ""));
    results.push(...(await Promise.all(alive.map((one) => attempt(one.name, () => one.run(fixture))))));
    await blowUntil(fixture, kills);
    fixture.storm.blows = false;
    await triggers;
    for (const one of [stormy(kills), quiet, refusesNothing].filter(({ name }) => name.includes(only ?? "")))
      results.push(await attempt(one.name, () => one.run(fixture)));
  } finally {
    await fixture.stop();
  }
  if (results.every(({ ok }) => ok)) await rm(dir, { recursive: true, force: true });
  return results;
};

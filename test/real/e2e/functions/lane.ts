/**
 * The run of a lane whose functions are processes that are started on demand, stopped when idle, and killed: real Spark
 * and a Volcano job, first in a storm, then in quiet.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, type Result } from "../../../support/attempt.ts";
import { type Case, livesWithin } from "../lambda/cases.ts";
import type { LaneOptions } from "../lambda/lane.ts";
import { leaveRights } from "../rights.ts";
import { jobCompletes, killsOf, quiet, refusesNothing, sparedIn, stormy, trigger } from "./cases.ts";
import type { Fixture } from "./fixture.ts";
import { calmed } from "./storm.ts";

export type Lane = {
  readonly name: string;
  readonly open: (dir: string, options: LaneOptions) => Promise<Fixture>;
  /** The time between two stirs of the storm, ms; absent: there is none. */
  readonly stirMs?: number;
  /** Makes work for functions, also for applications that have ended; absent: by a signed trigger. */
  readonly stir?: (fixture: Fixture, nth: number) => Promise<unknown>;
  /** The time after which nothing of a deleted application may be left, ms. */
  readonly goneMs: number;
  /** The longest that the storm goes on when every application has ended, ms. */
  readonly longestMs: number;
  /** Cases beside the applications, in the storm. */
  readonly beside?: readonly Case<Fixture>[];
  /** Cases after the quiet. */
  readonly more: readonly Case<Fixture>[];
};

/** Makes work during the storm. */
const stirring = async (fixture: Fixture, { stirMs, stir = trigger }: Lane): Promise<void> => {
  for (let nth = 0; stirMs !== undefined && fixture.storm.blows; nth += 1) {
    await stir(fixture, nth);
    await sleep(stirMs);
  }
};

/** Waits until as many processes were killed, and each of those that are always up often enough. */
const blowUntil = async (fixture: Fixture, kills: number, longestMs: number): Promise<void> => {
  const isEnough = (): boolean => killsOf(fixture) >= kills && sparedIn(fixture).length === 0;
  for (const until = performance.now() + longestMs; !isEnough() && performance.now() < until; ) await sleep(500);
};

/** Runs everything in one cluster, in the order of the report. */
export const runLane = async (lane: Lane, options: LaneOptions): Promise<readonly Result[]> => {
  const { kills, only } = options;
  const dir = await mkdtemp(join(tmpdir(), `rekindle-e2e-${lane.name}-`));
  console.log(`logs, kept if something fails: ${join(dir, "logs")}`);
  const fixture = await lane.open(dir, options);
  const isChosen = ({ name }: { readonly name: string }): boolean => name.includes(only ?? "");
  const results: Result[] = [];
  try {
    const stirred = stirring(fixture, lane);
    const calm = calmed(fixture.storm, () => killsOf(fixture), {
      least: kills,
      isEnough: () => sparedIn(fixture).length === 0,
    });
    const alive = [...livesWithin(lane.goneMs), jobCompletes, ...(lane.beside ?? [])].filter(isChosen);
    results.push(...(await Promise.all(alive.map((one) => attempt(one.name, () => one.run(fixture))))));
    await blowUntil(fixture, kills, lane.longestMs);
    fixture.storm.blows = false;
    await Promise.all([stirred, calm]);
    for (const one of [stormy(kills), quiet, refusesNothing, ...lane.more].filter(isChosen))
      results.push(await attempt(one.name, () => one.run(fixture)));
    await leaveRights({ lane: `e2e-${lane.name}`, only }, fixture.audit);
  } finally {
    await fixture.stop();
  }
  if (results.every(({ ok }) => ok)) await rm(dir, { recursive: true, force: true });
  return results;
};

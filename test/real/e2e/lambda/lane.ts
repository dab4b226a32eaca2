/**
 * `npm run e2e -- --lambda`: real Spark on a real cluster, run by the built bundles as functions behind a real queue,
 * in a storm.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, type Result } from "../../../support/attempt.ts";
import { type Case, goneMs, livesWithin, missesNothing, quiet, standsAside, stormy } from "./cases.ts";
import { doors } from "./doors.ts";
import { type Fixture, openFixture } from "./fixture.ts";

const echoMs = 500;

/** Sends old messages repeatedly during the storm, also to applications that have ended. */
const echoing = async ({ cloud, storm }: Fixture): Promise<void> => {
  while (storm.blows) {
    cloud.meddler.echo();
    await sleep(echoMs);
  }
};

const longestMs = 240_000;

/** Continues after the last application has ended until the requested number of kills. */
const blowUntil = async ({ cloud }: Fixture, kills: number): Promise<void> => {
  const until = performance.now() + longestMs;
  while (cloud.ledger.kills.length < kills && performance.now() < until) await sleep(500);
  // The newest changes may wait for the window after a killed one.
  await sleep(20_000);
};

export type LaneOptions = { readonly seed: number; readonly kills: number; readonly only: string | undefined };

/** Runs everything in one cluster, in the order of the report. */
export const lambdaLane = async ({ seed, kills, only }: LaneOptions): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-lambda-"));
  console.log(`logs, kept if something fails: ${join(dir, "logs")}`);
  const chosen = (all: readonly Case[]): readonly Case[] => all.filter(({ name }) => name.includes(only ?? ""));
  const fixture = await openFixture(dir, seed, only);
  const results: Result[] = [];
  try {
    const echoes = echoing(fixture);
    results.push(
      ...(await Promise.all(chosen(livesWithin(goneMs)).map((one) => attempt(one.name, () => one.run(fixture))))),
    );
    for (const one of chosen([standsAside])) results.push(await attempt(one.name, () => one.run(fixture)));
    await blowUntil(fixture, kills);
    fixture.storm.blows = false;
    await echoes;
    for (const one of chosen([stormy(kills), missesNothing, doors, quiet]))
      results.push(await attempt(one.name, () => one.run(fixture)));
  } finally {
    await fixture.stop();
  }
  if (results.every(({ ok }) => ok)) await rm(dir, { recursive: true, force: true });
  return results;
};

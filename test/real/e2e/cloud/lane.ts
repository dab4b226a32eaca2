/**
 * `npm run e2e -- --cloud`: infra/aws/template.yaml deployed into an account of emulators, on real clusters, in a
 * storm.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, type Result } from "../../../support/attempt.ts";
import type { LaneOptions } from "../lambda/lane.ts";
import { beforeLoss, stormy } from "./cases.ts";
import { type Fixture, openFixture } from "./fixture.ts";
import { survives } from "./restored.ts";

const echoMs = 500;

/** Sends old messages repeatedly, also to applications that have ended. */
const echoing = async ({ meddler, storm }: Fixture): Promise<void> => {
  while (storm.blows) {
    meddler.echo();
    await sleep(echoMs);
  }
};

/** Runs the cases in order, each on the state that the one before has left; stops after the first failure. */
export const cloudLane = async ({ seed, kills, only }: LaneOptions): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-cloud-"));
  console.log(`logs, kept if something fails: ${join(dir, "logs")}`);
  const fixture = await openFixture(dir, seed);
  const results: Result[] = [];
  try {
    await fixture.settle();
    await fixture.update({});
    const echoes = echoing(fixture);
    const chosen = [...beforeLoss, survives, stormy(kills)].filter(({ name }) => name.includes(only ?? ""));
    for (const one of chosen) {
      const result = await attempt(one.name, () => one.run(fixture));
      results.push(result);
      if (!result.ok) break;
    }
    fixture.storm.blows = false;
    await echoes;
  } finally {
    fixture.storm.blows = false;
    await fixture.stop();
  }
  if (results.every(({ ok }) => ok)) await rm(dir, { recursive: true, force: true });
  return results;
};

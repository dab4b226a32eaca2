/** Executors follow the queued tasks of real drivers, up and down, within a maximum and within a quota. */
import { setTimeout as sleep } from "node:timers/promises";
import { isUp } from "../recovery/book.ts";
import { type Case, kubectl, must } from "../scene.ts";
import { begun, ended, livingIn, lostAndBack, type Run, skippedStages, underKills, untilRunning } from "./fixture.ts";
import { application, checkedAnswer, gateNames, openGate, type Waves } from "./job.ts";

const quotas = "/api/v1/namespaces/default/resourcequotas";

const short = (name: string): string => name.replaceAll(".", "-");

/** The load that CI has time for. */
const small = (sparkVersion: string): Waves => ({
  ...{ name: `waves-${short(sparkVersion)}`, sparkVersion },
  ...{ first: 4, middle: 1, last: 3, most: 6 },
});

const large = (sparkVersion: string): Waves => ({
  ...{ name: `tens-${short(sparkVersion)}`, sparkVersion },
  ...{ first: 10, middle: 2, last: 8, most: 12 },
});

type Strain = {
  /** Executors that are killed at the first number and again at the last one, each while no host runs. */
  readonly losses: number;
  /** The run ends after at least so many kills of the host. */
  readonly kills: number;
};

const gentle: Strain = { losses: 0, kills: 0 };
const hard: Strain = { losses: 2, kills: 20 };

const strained = async (run: Run, name: string, count: number, { losses }: Strain): Promise<readonly string[]> => {
  const times: string[] = [];
  for (let left = losses; left > 0; left--) times.push((await lostAndBack(run, name, count)).toFixed(1));
  return times;
};

/** From no executor to the first number, to the middle one, and to the last. */
const upAndDown = async (run: Run, waves: Waves, strain: Strain): Promise<readonly string[]> => {
  const { scene, gates, killer, ledger, book } = run;
  const { name, first, middle, last } = waves;
  await begun(run, (dir) => application(waves, dir));
  const up = await untilRunning(run, name, first);
  scene.say(`0 → ${first} executors after ${up.toFixed(1)} s`);
  const back = await strained(run, name, first, strain);
  await openGate(gates, "many");
  const down = await untilRunning(run, name, middle);
  scene.say(`${first} → ${middle} after ${down.toFixed(1)} s`);
  await openGate(gates, "few");
  const again = await untilRunning(run, name, last);
  scene.say(`${middle} → ${last} after ${again.toFixed(1)} s`);
  const backAgain = await strained(run, name, last, strain);
  while (killer.kills() < strain.kills) {
    await sleep(500);
    must(livingIn(run, name).length === last, `${name} has no longer ${last} executors`);
  }
  await openGate(gates, "again");
  const answer = checkedAnswer(await ended(run, name), waves);
  const { skipped, computed } = await skippedStages(run, name);
  const times = [...back, ...backAgain];
  return [
    `${name}: "${answer}", ${ledger.of(name).mostExecutors} executors at most, ${book.of(name).size} in all`,
    `0 → ${first} after ${up.toFixed(1)} s, → ${middle} after ${down.toFixed(1)} s, → ${last} after ${again.toFixed(1)} s`,
    `event log: ${computed} stages computed, none of them again, ${skipped} skipped`,
    ...(times.length === 0 ? [] : [`killed executors were replaced after ${times.join(", ")} s`]),
  ];
};

const limited = (sparkVersion: string): Waves => ({
  ...{ name: `waves-limited-${short(sparkVersion)}`, sparkVersion },
  ...{ first: 5, middle: 1, last: 5, most: 6 },
});
const admitted = 3;

/** A quota of the driver and three executors, where five are needed. */
const withinQuota = async (run: Run, waves: Waves): Promise<readonly string[]> => {
  const { scene, gates, ledger } = run;
  const { name } = waves;
  const quota = { metadata: { name: "team" }, spec: { hard: { pods: String(admitted + 1) } } };
  const { status } = await scene.cluster.api.call("POST", quotas, quota);
  must(status === 201, "the quota is not created");
  await begun(run, (dir) => application(waves, dir));
  await untilRunning(run, name, admitted);
  await sleep(15_000);
  const living = livingIn(run, name);
  must(living.length === admitted && living.every(isUp), `${name}: ${living.length} executors within the quota`);
  for (const gate of gateNames) await openGate(gates, gate);
  const answer = checkedAnswer(await ended(run, name), waves);
  const { mostExecutors } = ledger.of(name);
  must(mostExecutors === admitted, `${name}: ${mostExecutors} executors at a time within a quota of ${admitted}`);
  const { body } = await scene.cluster.api.call("GET", "/api/v1/namespaces/default/events?limit=5000");
  must(JSON.stringify(body).includes("ExecutorsLimited"), `${name}: no event ExecutorsLimited`);
  return [`${name}: "${answer}", ${mostExecutors} executors at most`];
};

export const followsDemand = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: executors follow queued tasks from none to four, to one, to three, and no shuffle data is computed again`,
  run: (scene) => underKills(scene, (run) => upAndDown(run, small(sparkVersion), gentle)),
});

export const followsLargeDemand = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: from none to ten executors, to two, to eight, with killed executors and at least 20 kills of the host`,
  run: (scene) => underKills(scene, (run) => upAndDown(run, large(sparkVersion), hard)),
});

export const staysWithinQuota = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: a quota admits three executors of five that are needed: never a fourth, and the right answer`,
  run: async (scene) => {
    try {
      return await underKills(scene, (run) => withinQuota(run, limited(sparkVersion)));
    } finally {
      await kubectl(scene.cluster, ["delete", "resourcequota", "team", "--ignore-not-found"]);
    }
  },
});

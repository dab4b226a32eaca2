/**
 * Executors follow the queued tasks of real drivers, within a maximum and within a quota, while the host is killed. The
 * shuffle data of executors that leave is not computed again.
 */
import { mkdtemp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { killing } from "../killing.ts";
import { type Book, isUp, openBook } from "../recovery/book.ts";
import { gatesIn } from "../recovery/job.ts";
import { type Case, kubectl, must, type Scene } from "../scene.ts";
import { type Ledger, openLedger } from "../spark/ledger.ts";
import { awaitState, driverLog, stateOf } from "../witness.ts";
import { application, checkedAnswer, laid, openGate, type Waves } from "./job.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const pods = "/api/v1/namespaces/default/pods";
const quotas = "/api/v1/namespaces/default/resourcequotas";

type Run = { readonly scene: Scene; readonly book: Book; readonly ledger: Ledger; readonly gates: string };

/** Executor pods that have not ended and are not being deleted. */
const livingIn = ({ book }: Run, name: string) =>
  book
    .now(name)
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !/^(S|F)/.test(status.phase));

/** The longest wait for a change of executors, or of stages, ms. */
const longestMs = 150_000;

/** Resolves with the seconds until exactly this many executors are there, all of them running. */
const untilRunning = async (run: Run, name: string, count: number): Promise<number> => {
  const began = performance.now();
  for (;;) {
    const living = livingIn(run, name);
    if (living.length === count && living.every(isUp)) return (performance.now() - began) / 1_000;
    if (performance.now() - began > longestMs) {
      const shown = run.book.now(name).map(({ metadata, status }) => `${metadata.name} ${status.phase}`);
      throw new Error(`${name} has not ${count} executors after ${longestMs / 1_000} s: ${shown.join("; ")}`);
    }
    await sleep(200);
  }
};

const begun = async ({ scene, gates }: Run, waves: Waves): Promise<void> => {
  await laid(gates);
  const { status, body } = await scene.cluster.api.call("POST", applications, application(waves, gates));
  must(status === 201, `${waves.name} is not created: ${JSON.stringify(body)}`);
  await awaitState(scene.cluster.api, waves.name, ["RUNNING"], 120_000);
};

const stages = z.array(
  z.looseObject({ status: z.string(), attemptId: z.number(), shuffleWriteBytes: z.number().default(0) }),
);
type Stages = z.infer<typeof stages>;

const stagesOf = async ({ scene }: Run, name: string): Promise<Stages> => {
  const { api } = scene.cluster;
  const driver = `${pods}/${name}-driver`;
  const id = Object((await api.call("GET", driver)).body).metadata?.labels?.["spark-app-selector"] ?? "none";
  return stages.parse((await api.call("GET", `${driver}:4040/proxy/api/v1/applications/${id}/stages`)).body);
};

/** Resolves once one of the driver's stages is so. */
const untilStage = async (run: Run, name: string, what: string, is: (stage: Stages[number]) => boolean) => {
  const began = performance.now();
  while (!(await stagesOf(run, name)).some(is)) {
    must(performance.now() - began < longestMs, `${name}: no stage ${what} after ${longestMs / 1_000} s`);
    await sleep(500);
  }
};

/** Returns the number of stages that the driver skipped; throws where it computed one again. */
const skippedStages = async (run: Run, name: string): Promise<number> => {
  const all = await stagesOf(run, name);
  const again = all.filter(({ attemptId, status }) => attemptId > 0 || status === "FAILED");
  must(
    again.length === 0,
    `${name}: ${again.length} stages were computed again: ${JSON.stringify(again).slice(0, 600)}`,
  );
  return all.filter(({ status }) => status === "SKIPPED").length;
};

const ended = async ({ scene, ledger, book }: Run, waves: Waves): Promise<string> => {
  const { name } = waves;
  const app = await awaitState(scene.cluster.api, name, ["COMPLETED", "FAILED"], 120_000);
  must(stateOf(app) === "COMPLETED", `${name} ended ${JSON.stringify(app.status)}`);
  const answer = checkedAnswer(await driverLog(scene.cluster.api, `${name}-driver`), waves);
  const { mostDrivers, drivers, mostExecutors } = ledger.of(name);
  must(mostDrivers === 1 && drivers.size === 1, `${name} had more than one driver`);
  must(book.doubled(name).length === 0, `${name}: ids of two executors: ${book.doubled(name).join(", ")}`);
  return `${name}: "${answer}", ${mostExecutors} executors at most, ${book.of(name).size} in all`;
};

const follows = (sparkVersion: string): Waves => ({
  name: `waves-${sparkVersion.replaceAll(".", "-")}`,
  sparkVersion,
  ...{ first: 4, middle: 1, last: 3, most: 6 },
});

/** From no executor to four, to one, and to three. */
const upAndDown = async (run: Run, waves: Waves): Promise<readonly string[]> => {
  const { scene, gates } = run;
  const { name, first, last } = waves;
  await begun(run, waves);
  const up = await untilRunning(run, name, first);
  scene.say(`0 → ${first} executors after ${up.toFixed(1)} s`);
  await openGate(gates, "many");
  const down = await untilRunning(run, name, 1);
  scene.say(`${first} → 1 after ${down.toFixed(1)} s`);
  await openGate(gates, "few");
  const again = await untilRunning(run, name, last);
  scene.say(`1 → ${last} after ${again.toFixed(1)} s`);
  const skipped = await skippedStages(run, name);
  must(skipped > 0, `${name}: no stage was skipped, so shuffle data was computed again`);
  await openGate(gates, "again");
  return [
    await ended(run, waves),
    `0 → ${first} after ${up.toFixed(1)} s, → 1 after ${down.toFixed(1)} s, → ${last} after ${again.toFixed(1)} s; ${skipped} stages skipped, none computed again`,
  ];
};

const spot = (sparkVersion: string): Waves => ({
  name: `waves-spot-${sparkVersion.replaceAll(".", "-")}`,
  sparkVersion,
  ...{ first: 4, middle: 4, last: 1, most: 6 },
});

/** The time from a notice to the end of a Spot machine, ms. */
const noticeMs = 120_000;

/** Two of four executors get the annotation that a notice about their node writes; all hold shuffle data. */
const leavesBySpot = async (run: Run, waves: Waves): Promise<readonly string[]> => {
  const { scene, book, gates } = run;
  const { name, first } = waves;
  await begun(run, waves);
  await untilRunning(run, name, first);
  await openGate(gates, "many");
  const isWritten = (stage: Stages[number]) => stage.status === "COMPLETE" && stage.shuffleWriteBytes > 0;
  await untilStage(run, name, "has written shuffle data", isWritten);
  const leaving = livingIn(run, name).slice(0, 2);
  const at = new Date(Date.now() + noticeMs).toISOString().replace(/\.\d+Z$/, "Z");
  const names = leaving.map(({ metadata }) => metadata.name);
  await kubectl(scene.cluster, ["annotate", "pod", ...names, `rekindle.dev/leaving=${at}`]);
  const began = performance.now();
  while (book.now(name).some(({ metadata }) => names.includes(metadata.name))) {
    must(performance.now() - began < noticeMs, `${names.join(", ")} are there when their node goes`);
    await sleep(200);
  }
  const tookS = (performance.now() - began) / 1_000;
  await untilRunning(run, name, first);
  await openGate(gates, "few");
  // The stage that reads the data again is the one that follows a skipped one.
  await untilStage(run, name, "was skipped", ({ status }) => status === "SKIPPED");
  const skipped = await skippedStages(run, name);
  must(skipped > 0, `${name}: no stage was skipped, so shuffle data was computed again`);
  await openGate(gates, "again");
  const line = await ended(run, waves);
  return [line, `two of ${first} gone after ${tookS.toFixed(1)} s; ${skipped} stages skipped, none computed again`];
};

const limited: Waves = { name: "waves-limited", sparkVersion: "4.0.4", first: 5, middle: 1, last: 5, most: 6 };
const admitted = 3;

/** A quota of the driver and three executors, where five are needed. */
const withinQuota = async (run: Run): Promise<readonly string[]> => {
  const { scene, gates, ledger } = run;
  const { name } = limited;
  const quota = { metadata: { name: "team" }, spec: { hard: { pods: String(admitted + 1) } } };
  const { status } = await scene.cluster.api.call("POST", quotas, quota);
  must(status === 201, "the quota is not created");
  await begun(run, limited);
  await untilRunning(run, name, admitted);
  await sleep(15_000);
  const living = livingIn(run, name);
  must(living.length === admitted && living.every(isUp), `${name}: ${living.length} executors within the quota`);
  for (const gate of ["many", "few", "again"] as const) await openGate(gates, gate);
  const line = await ended(run, limited);
  const { mostExecutors } = ledger.of(name);
  must(mostExecutors === admitted, `${name}: ${mostExecutors} executors at a time within a quota of ${admitted}`);
  const { body } = await scene.cluster.api.call("GET", "/api/v1/namespaces/default/events?limit=5000");
  must(JSON.stringify(body).includes("ExecutorsLimited"), `${name}: no event ExecutorsLimited`);
  return [line];
};

/** Runs `work` while a host is killed again and again. */
const underKills = async (scene: Scene, work: (run: Run) => Promise<readonly string[]>): Promise<readonly string[]> => {
  const { api } = scene.cluster;
  const gates = await gatesIn(await mkdtemp(join(dirname(scene.hostLog), "elastic-")));
  const killer = killing(scene, [], 12_000);
  const [book, ledger] = [openBook(api), openLedger(api)];
  try {
    const lines = await killer.during(work({ scene, book, ledger, gates }));
    return [...lines, `${killer.kills()} kills of the host`];
  } finally {
    await killer.stop();
    await Promise.all([book.stop(), ledger.stop()]);
  }
};

export const followsDemand = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: executors follow queued tasks from none to four, to one, to three, and no shuffle data is computed again`,
  run: (scene) => underKills(scene, (run) => upAndDown(run, follows(sparkVersion))),
});

export const movesByNotice = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: two of four executors leave a node that is about to go, and no shuffle data is computed again`,
  run: (scene) => underKills(scene, (run) => leavesBySpot(run, spot(sparkVersion))),
});

export const staysWithinQuota: Case = {
  name: "a quota admits three executors of five that are needed: never a fourth, and the right answer",
  run: async (scene) => {
    try {
      return await underKills(scene, withinQuota);
    } finally {
      await kubectl(scene.cluster, ["delete", "resourcequota", "team", "--ignore-not-found"]);
    }
  },
};

/**
 * The fixture of the elastic cases: an application under a host that is killed again and again, the executors and the
 * stages that it has, and the checks of its end.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { freePort } from "../../../support/port.ts";
import { killContainer } from "../../cluster/faults.ts";
import { killing } from "../killing.ts";
import { type Book, type Executor, isUp, openBook } from "../recovery/book.ts";
import { gatesIn } from "../recovery/job.ts";
import { must, type Scene } from "../scene.ts";
import { type Ledger, openLedger } from "../spark/ledger.ts";
import { awaitState, driverLog, stateOf } from "../witness.ts";
import { readStages, type StageCounts } from "./event-log.ts";
import { eventsDir, laid } from "./job.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
export const pods = "/api/v1/namespaces/default/pods";

/** The key that signs notices to the host. */
export const noticeKey = "the key of this lane's notices";

/** The recordings of a case's applications, and the folder of their gates. */
export type Watched = {
  readonly scene: Scene;
  readonly book: Book;
  readonly ledger: Ledger;
  readonly gates: string;
};

export type Run = Watched & {
  readonly killer: ReturnType<typeof killing>;
  /** The address of the host that runs now. */
  readonly host: string;
};

/** Executor pods that have not ended and are not being deleted. */
export const livingIn = ({ book }: Pick<Watched, "book">, name: string): readonly Executor[] =>
  book
    .now(name)
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !/^(S|F)/.test(status.phase));

/** The longest wait for a change of executors, or of stages, ms: ten JVMs start on two cores that others use, too. */
const longestMs = 600_000;

/** Resolves with the seconds until exactly this many executors are there, all of them running. */
export const untilRunning = async (run: Watched, name: string, count: number): Promise<number> => {
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

/** Creates the application and resolves when it runs. */
export const begun = async ({ scene, gates }: Watched, body: (gates: string) => { metadata: { name: string } }) => {
  const application = body(gates);
  const { name } = application.metadata;
  await laid(gates, name);
  const { status, body: answer } = await scene.cluster.api.call("POST", applications, application);
  must(status === 201, `${name} is not created: ${JSON.stringify(answer)}`);
  await awaitState(scene.cluster.api, name, ["RUNNING"], longestMs);
};

const stages = z.array(
  z.looseObject({ status: z.string(), attemptId: z.number(), shuffleWriteBytes: z.number().default(0) }),
);
type Stages = z.infer<typeof stages>;

const labels = z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }) });

/** Reads what the driver's REST API says of its application. */
const driverSays = async ({ scene }: Watched, name: string, of: "stages" | "executors"): Promise<unknown> => {
  const { api } = scene.cluster;
  const driver = `${pods}/${name}-driver`;
  const { metadata } = labels.parse((await api.call("GET", driver)).body);
  const id = metadata.labels["spark-app-selector"] ?? "none";
  return (await api.call("GET", `${driver}:4040/proxy/api/v1/applications/${id}/${of}`)).body;
};

/** Resolves once the driver's answer is so; a driver that does not answer is asked again. */
const untilAnswer = async (what: string, is: () => Promise<boolean>): Promise<void> => {
  const began = performance.now();
  while (!(await is().catch(() => false))) {
    must(performance.now() - began < longestMs, `${what} after ${longestMs / 1_000} s`);
    await sleep(500);
  }
};

/** Resolves once one of the driver's stages is so. */
export const untilStage = (run: Watched, name: string, what: string, is: (stage: Stages[number]) => boolean) =>
  untilAnswer(`${name}: no stage ${what}`, async () => stages.parse(await driverSays(run, name, "stages")).some(is));

/** Resolves once a stage has written shuffle data. */
export const untilShuffled = (run: Watched, name: string): Promise<void> =>
  untilStage(
    run,
    name,
    "has written shuffle data",
    ({ status, shuffleWriteBytes }) => status === "COMPLETE" && shuffleWriteBytes > 0,
  );

const registered = z.array(z.looseObject({ id: z.string(), isActive: z.boolean() }));

/** Resolves once exactly this many executors are registered at the driver: a pod runs long before its executor does. */
export const untilRegistered = (run: Watched, name: string, count: number): Promise<void> =>
  untilAnswer(`${name} has not ${count} executors at its driver`, async () => {
    const known = registered.parse(await driverSays(run, name, "executors"));
    return known.filter(({ id, isActive }) => id !== "driver" && isActive).length === count;
  });

/** Kills the process of an executor with SIGKILL. */
export const killExecutor = ({ scene }: Run, { metadata, spec }: Executor): void => {
  const node = scene.cluster.nodes.find((one) => one.name === spec.nodeName);
  if (node === undefined) throw new Error(`${metadata.name} is on no node of this cluster: ${spec.nodeName}`);
  killContainer({ node, namespace: "default", ...metadata, container: "spark-kubernetes-executor" });
};

/** Kills an executor while no host runs, and resolves with the seconds until as many as before are running. */
export const lostAndBack = async (run: Run, name: string, count: number): Promise<number> => {
  const [victim] = livingIn(run, name);
  if (victim === undefined) throw new Error(`${name} has no executor to kill`);
  await run.killer.without(async () => killExecutor(run, victim));
  const began = performance.now();
  while (livingIn(run, name).some(({ metadata }) => metadata.uid === victim.metadata.uid)) {
    must(performance.now() - began < longestMs, `${victim.metadata.name} lives on after SIGKILL`);
    await sleep(100);
  }
  await untilRunning(run, name, count);
  return (performance.now() - began) / 1_000;
};

/** The longest wait for the end of an application whose gates are open, ms: a slow machine is no failure. */
const endingMs = 600_000;

/** Waits for the application's right end: one driver, no id twice. Returns its driver's log. */
export const ended = async ({ scene, ledger, book }: Watched, name: string): Promise<string> => {
  const app = await awaitState(scene.cluster.api, name, ["COMPLETED", "FAILED"], endingMs);
  must(stateOf(app) === "COMPLETED", `${name} ended ${JSON.stringify(app.status)}`);
  const { mostDrivers, drivers } = ledger.of(name);
  must(mostDrivers === 1 && drivers.size === 1, `${name} had more than one driver`);
  must(book.doubled(name).length === 0, `${name}: ids of two executors: ${book.doubled(name).join(", ")}`);
  return await driverLog(scene.cluster.api, `${name}-driver`);
};

/** Returns the stages in the event log of an ended application; throws where one was computed again, or none skipped. */
export const skippedStages = async ({ gates }: Watched, name: string): Promise<StageCounts> => {
  const counts = await readStages(eventsDir(gates, name));
  must(counts.again === 0, `${name}: ${counts.again} stages were computed again`);
  must(counts.skipped > 0, `${name}: no stage was skipped, so shuffle data was computed again`);
  return counts;
};

/** A host runs for up to this long before it is killed, ms. */
const mostHostMs = 12_000;

/** Runs `work` while its applications are watched. */
export const watching = async <T>(scene: Scene, work: (watched: Watched) => Promise<T>): Promise<T> => {
  const { api } = scene.cluster;
  const gates = await gatesIn(await mkdtemp(join(dirname(scene.hostLog), "elastic-")));
  const [book, ledger] = [openBook(api), openLedger(api)];
  try {
    return await work({ scene, book, ledger, gates });
  } finally {
    await Promise.all([book.stop(), ledger.stop()]);
  }
};

/** Runs `work` while a host is killed again and again. */
export const underKills = (scene: Scene, work: (run: Run) => Promise<readonly string[]>): Promise<readonly string[]> =>
  watching(scene, async (watched) => {
    const [port, secret] = [await freePort(), join(dirname(watched.gates), "secret")];
    await writeFile(secret, noticeKey);
    const host = `127.0.0.1:${port}`;
    const killer = killing(scene, ["--listen", host, "--trigger-secret-file", secret], mostHostMs);
    try {
      const lines = await killer.during(work({ ...watched, killer, host: `http://${host}` }));
      return [...lines, `${killer.kills()} kills of the host`];
    } finally {
      await killer.stop();
    }
  });

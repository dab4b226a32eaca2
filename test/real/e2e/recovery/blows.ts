/** The faults that executors suffer, one at a time, and the time until the requested number runs again. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { exhaustMemory, killContainer, type Victim } from "../../cluster/faults.ts";
import { must, type Scene } from "../scene.ts";
import { type Book, type Executor, isUp } from "./book.ts";
import { driversNode, frozenNode, type Mode, nameOf, wanted } from "./job.ts";
import type { Cause } from "./judgements.ts";

export type Blow = {
  readonly name: string;
  /** The cause that the ledger must record. */
  readonly loss: Cause;
  readonly strike: (scene: Scene, victim: Executor) => Promise<void> | void;
};

const podsPath = "/api/v1/namespaces/default/pods";

const victimOf = ({ cluster }: Scene, { metadata, spec }: Executor): Victim => {
  const node = cluster.nodes.find(({ name }) => name === spec.nodeName);
  if (node === undefined) throw new Error(`${metadata.name} runs on no node of ours: ${spec.nodeName}`);
  const { name, uid } = metadata;
  return { node, namespace: "default", name, uid, container: "spark-kubernetes-executor" };
};

export const blows: readonly Blow[] = [
  {
    name: "killed",
    loss: { reason: "killed", exitCode: 137 },
    strike: (scene, victim) => killContainer(victimOf(scene, victim)),
  },
  {
    name: "deleted",
    loss: { reason: "deleted" },
    strike: async ({ cluster }, { metadata }) => {
      await cluster.api.call("DELETE", `${podsPath}/${metadata.name}`, { gracePeriodSeconds: 1 });
    },
  },
  {
    name: "out of memory",
    loss: { reason: "memory", exitCode: 137 },
    strike: (scene, victim) => exhaustMemory(victimOf(scene, victim)),
  },
];

const reported = z.array(z.object({ id: z.string(), isActive: z.boolean() }));

/**
 * Returns the ids of the executors that the driver has registered, from its REST API; none while it does not answer.
 */
const registered = async ({ cluster }: Scene, mode: Mode): Promise<readonly string[]> => {
  const driver = `${podsPath}/${nameOf(mode)}-driver`;
  const { body } = await cluster.api.call("GET", driver);
  const id = Object(body).metadata?.labels?.["spark-app-selector"] ?? "none";
  const path = `${driver}:4040/proxy/api/v1/applications/${id}/executors`;
  // A driver on a busy machine may leave a request without an answer, too.
  const reply = await cluster.api.call("GET", path).catch(() => undefined);
  const answer = reported.safeParse(reply?.body);
  return (answer.data ?? []).filter((one) => one.isActive && one.id !== "driver").map((one) => one.id);
};

/** Returns the executors that run on these nodes. */
const upOn = (book: Book, mode: Mode, nodes: readonly string[]): readonly Executor[] =>
  book.now(nameOf(mode)).filter((one) => isUp(one) && nodes.includes(one.spec.nodeName ?? ""));

const bothNodes = [driversNode, frozenNode];

const isBack = async (scene: Scene, book: Book, mode: Mode, nodes: readonly string[]): Promise<boolean> => {
  const ids = upOn(book, mode, nodes).map(({ metadata }) => metadata.labels["spark-exec-id"] ?? "");
  if (ids.length !== wanted) return false;
  const known = await registered(scene, mode);
  return ids.every((id) => known.includes(id)) && known.length === wanted;
};

/**
 * Returns the seconds until exactly the requested number of executors runs on these nodes and is registered at the
 * driver.
 */
export const untilBack = async (
  scene: Scene,
  book: Book,
  mode: Mode,
  nodes: readonly string[] = bothNodes,
): Promise<number> => {
  const began = performance.now();
  while (!(await isBack(scene, book, mode, nodes))) {
    if (performance.now() - began > 150_000) {
      const shown = book.now(nameOf(mode)).map(({ metadata, spec, status }) => {
        const leaving = metadata.deletionTimestamp === undefined ? "" : " leaving";
        return `${metadata.name} ${status.phase} on ${spec.nodeName}${leaving}`;
      });
      const ids = (await registered(scene, mode)).join(",");
      throw new Error(
        `${nameOf(mode)} has not ${wanted} executors again after 150 s: ${shown.join("; ")}; registered ${ids}`,
      );
    }
    await sleep(300);
  }
  return (performance.now() - began) / 1_000;
};

export type Fight = {
  readonly scene: Scene;
  readonly book: Book;
  /** The faults that were injected, by pod. */
  readonly done: Map<string, Cause>;
};

/**
 * Injects the fault into one executor, if possible not on the node that is frozen later, and waits for the count to
 * recover.
 */
export const struck = async ({ scene, book, done }: Fight, mode: Mode, { name, loss, strike }: Blow): Promise<void> => {
  const up = upOn(book, mode, bothNodes);
  const victim = up.find(({ spec }) => spec.nodeName === driversNode) ?? up[0];
  if (victim === undefined) throw new Error(`${nameOf(mode)} has no executor to strike`);
  done.set(victim.metadata.name, loss);
  await strike(scene, victim);
  // The pod may be shown as running for a moment more.
  while (book.now(nameOf(mode)).some((one) => one.metadata.uid === victim.metadata.uid && isUp(one))) await sleep(100);
  const seconds = await untilBack(scene, book, mode);
  scene.say(`${mode}: ${victim.metadata.name} ${name}; ${wanted} again after ${seconds.toFixed(1)} s`);
};

type Ready = { readonly type: string; readonly status: string; readonly lastTransitionTime: string };

const readyOf = (body: unknown): Ready | undefined =>
  (Object(body).status?.conditions ?? []).find(({ type }: Ready) => type === "Ready");

const isReady =
  (status: string) =>
  (reply: { readonly body: unknown }): boolean =>
    readyOf(reply.body)?.status === status;

/** The longest time from the visible silence of the frozen node until its executors are replaced. */
const mostMs = 15_000;

/** Returns the seconds from the silence of the node, as the API dates it, to the last replacement. */
const replacedAfter = (book: Book, mode: Mode, silentAt: number, lost: number): number => {
  const made = [...book.of(nameOf(mode)).values()]
    .map(({ metadata }) => Date.parse(metadata.creationTimestamp))
    .filter((at) => at >= silentAt)
    .sort((a, b) => a - b);
  return ((made[lost - 1] ?? Number.POSITIVE_INFINITY) - silentAt) / 1_000;
};

/** Freezes the node with all its executors until every application has its number elsewhere, and resumes it. */
export const frozen = async ({ scene, book, done }: Fight, on: readonly Mode[]): Promise<void> => {
  const { cluster, say } = scene;
  const node = cluster.nodes.find(({ name }) => name === frozenNode);
  if (node === undefined) throw new Error(`there is no ${frozenNode}`);
  const path = `/api/v1/nodes/${frozenNode}`;
  const there = new Map(on.map((mode) => [mode, upOn(book, mode, [frozenNode])]));
  for (const [mode, some] of there) {
    must(some.length > 0, `${nameOf(mode)} has no executor on the node that is to be frozen`);
    for (const { metadata } of some) done.set(metadata.name, { reason: "node" });
  }
  node.suspend();
  try {
    const { body } = await cluster.api.until(path, isReady("Unknown"), patienceMs);
    const silentAt = Date.parse(readyOf(body)?.lastTransitionTime ?? "");
    const back = async (mode: Mode): Promise<void> => {
      const lost = there.get(mode)?.length ?? 0;
      const seconds = await untilBack(scene, book, mode, [driversNode]);
      const after = replacedAfter(book, mode, silentAt, lost);
      say(
        `${mode}: ${frozenNode} silent with ${lost}; replacements made after ${after} s, ${wanted} elsewhere after ${seconds.toFixed(1)} s`,
      );
      // The API dates by whole seconds.
      must(
        after * 1_000 <= mostMs + 1_000,
        `${nameOf(mode)}: replaced ${after} s after its node's silence was visible`,
      );
    };
    await Promise.all(on.map(back));
  } finally {
    node.resume();
    await cluster.api.until(path, isReady("True"), patienceMs);
  }
};

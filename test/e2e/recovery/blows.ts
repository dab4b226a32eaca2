/** What befalls executors, one blow at a time, and how long their number takes to be what was asked for again. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { exhaustMemory, killContainer, type Victim } from "../../cluster/faults.ts";
import type { Scene } from "../scene.ts";
import { type Book, type Executor, isUp } from "./book.ts";
import { driversNode, frozenNode, type Mode, nameOf, wanted } from "./job.ts";

export type Blow = {
  readonly name: string;
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
  { name: "killed", strike: (scene, victim) => killContainer(victimOf(scene, victim)) },
  {
    name: "deleted",
    strike: async ({ cluster }, { metadata }) => {
      await cluster.api.call("DELETE", `${podsPath}/${metadata.name}`, { gracePeriodSeconds: 1 });
    },
  },
  { name: "out of memory", strike: (scene, victim) => exhaustMemory(victimOf(scene, victim)) },
];

const reported = z.array(z.object({ id: z.string(), isActive: z.boolean() }));

/** Ids of the executors that the driver counts as its own, by its REST API; none while it does not answer. */
const registered = async ({ cluster }: Scene, mode: Mode): Promise<readonly string[]> => {
  const driver = `${podsPath}/${nameOf(mode)}-driver`;
  const { body } = await cluster.api.call("GET", driver);
  const id = Object(body).metadata?.labels?.["spark-app-selector"] ?? "none";
  const reply = await cluster.api.call(
    "GET",
    `${podsPath}/${nameOf(mode)}-driver:4040/proxy/api/v1/applications/${id}/executors`,
  );
  const answer = reported.safeParse(reply.body);
  return (answer.data ?? []).filter((one) => one.isActive && one.id !== "driver").map((one) => one.id);
};

/** Executors that run where somebody still answers for them. */
const upOn = (book: Book, mode: Mode, nodes: readonly string[]): readonly Executor[] =>
  book.now(nameOf(mode)).filter((one) => isUp(one) && nodes.includes(one.spec.nodeName ?? ""));

const bothNodes = [driversNode, frozenNode];

const isBack = async (scene: Scene, book: Book, mode: Mode, nodes: readonly string[]): Promise<boolean> => {
  const ids = upOn(book, mode, nodes).map(({ metadata }) => metadata.labels["spark-exec-id"] ?? "");
  if (ids.length !== wanted) return false;
  const known = await registered(scene, mode);
  return ids.every((id) => known.includes(id)) && known.length === wanted;
};

/** Seconds until so many executors run, on these nodes, as the driver counts, no more and no fewer. */
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

/** One executor is struck, not on the node that is frozen later if that can be helped, and the count comes back. */
export const struck = async (scene: Scene, book: Book, mode: Mode, blow: Blow): Promise<Executor> => {
  const up = upOn(book, mode, bothNodes);
  const victim = up.find(({ spec }) => spec.nodeName === driversNode) ?? up[0];
  if (victim === undefined) throw new Error(`${nameOf(mode)} has no executor to strike`);
  await blow.strike(scene, victim);
  // What was struck may show as running for a moment more.
  while (book.now(nameOf(mode)).some((one) => one.metadata.uid === victim.metadata.uid && isUp(one))) await sleep(100);
  const seconds = await untilBack(scene, book, mode);
  scene.say(`${mode}: ${victim.metadata.name} ${blow.name}; ${wanted} again after ${seconds.toFixed(1)} s`);
  return victim;
};

const isReady = (wanted: string) => (reply: { readonly body: unknown }) =>
  (Object(reply.body).status?.conditions ?? []).some(
    (one: { type: string; status: string }) => one.type === "Ready" && one.status === wanted,
  );

/** Executors of an application on the node that is frozen. */
export const onFrozen = (book: Book, mode: Mode): readonly Executor[] => upOn(book, mode, [frozenNode]);

/**
 * The machine stands still with all its executors until each application has its number elsewhere, then goes on. Gives
 * the seconds from the moment that its silence was visible.
 */
export const frozen = async (scene: Scene, book: Book, on: readonly Mode[]): Promise<ReadonlyMap<Mode, number>> => {
  const { cluster, say } = scene;
  const node = cluster.nodes.find(({ name }) => name === frozenNode);
  if (node === undefined) throw new Error(`there is no ${frozenNode}`);
  const path = `/api/v1/nodes/${frozenNode}`;
  node.suspend();
  try {
    await cluster.api.until(path, isReady("Unknown"), 60_000);
    const took = await Promise.all(
      on.map(async (mode) => [mode, await untilBack(scene, book, mode, [driversNode])] as const),
    );
    for (const [mode, seconds] of took)
      say(`${mode}: ${frozenNode} not ready; ${wanted} elsewhere after ${seconds.toFixed(1)} s`);
    return new Map(took);
  } finally {
    node.resume();
    await cluster.api.until(path, isReady("True"), 60_000);
  }
};

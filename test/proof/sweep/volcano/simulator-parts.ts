/**
 * Parts of the simulator for Volcano jobs: a stand-in for Volcano's scheduler, which admits groups, and the processes
 * of the job's pods, which end as a scenario says. As parts of the simulator they are forked with it.
 */

import { exitTask } from "../../../../shared/simulator/nodes/kubelet.ts";
import { ended, isUp } from "../../../../shared/simulator/nodes/pod-status.ts";
import type { Task } from "../../../../shared/simulator/storage/clock.ts";
import type { Item } from "../../../../shared/simulator/storage/metadata.ts";
import { type Change, keyOf } from "../../../../shared/simulator/storage/store.ts";
import { about, type Part, rewrite, runAfter, subject } from "../../../../shared/simulator/verbs/remove.ts";
import type { Server } from "../../../../shared/simulator/verbs/request.ts";
import { at, numberAt, textAt } from "../fields.ts";

/** The course of one pod: until it is told to end, or for `runMs`; with `codes`, an exit code per container. */
export type Life = {
  readonly runMs?: number;
  readonly exitCode?: number;
  readonly codes?: Readonly<Record<string, number>>;
};

export type Lives = Readonly<Record<string, readonly Life[]>>;

const groups = "podgroups.scheduling.volcano.sh";
const admitMs = 50;

const phaseOf = (group: Item): string => textAt(group, "status", "phase") ?? "";

const set = (server: Server, group: Item, phase: string): void => {
  rewrite(server, groups, group, { ...group, status: { ...Object(group["status"]), phase } });
};

/** The group that a pod names. */
const groupOf = ({ store }: Server, pod: Item): Item | undefined => {
  const name = textAt(pod, "metadata", "annotations", "scheduling.k8s.io/group-name");
  return name === undefined ? undefined : store.get(groups, keyOf(pod.metadata.namespace, name));
};

/** A group runs when enough of its pods do. */
const count = (server: Server, pod: Item): void => {
  const group = groupOf(server, pod);
  if (group === undefined || phaseOf(group) !== "Inqueue") return;
  const running = server.store
    .list("pods")
    .filter((one) => isUp(one) && groupOf(server, one)?.metadata.uid === group.metadata.uid);
  if (running.length >= (numberAt(group, "spec", "minMember") ?? 1)) set(server, group, "Running");
};

/** Admits every group shortly after it is created. */
const scheduler = (server: Server): Part => ({
  onChange: ({ type, table, object }) => {
    if (table === groups && type === "ADDED")
      runAfter(server, admitMs, about("groups.admit", object, { table: groups }));
    if (table === "pods" && type === "MODIFIED") count(server, object);
  },
  tasks: {
    "groups.admit": (task) => {
      const group = subject(server, task);
      if (group !== undefined && ["", "Pending"].includes(phaseOf(group))) set(server, group, "Inqueue");
    },
  },
});

const startsUp = ({ type, table, object, before }: Change): boolean =>
  table === "pods" && type === "MODIFIED" && isUp(object) && before !== undefined && !isUp(before);

const lifeOf = (lives: Lives, pod: Item): Life | undefined => {
  const list = lives[pod.metadata.name] ?? lives["*"] ?? [];
  const retry = Number(pod.metadata.annotations?.["volcano.sh/job-retry-count"] ?? 0);
  return list[retry] ?? list.at(-1);
};

/** Ends each container with a code of its own. */
const apart = (server: Server, task: Task): void => {
  const pod = subject(server, task);
  if (pod === undefined || !isUp(pod)) return;
  const codes = Object(at(task, "codes"));
  const worst = Math.max(...Object.values(codes).map(Number));
  const over = ended(pod, server.clock.now(), { code: worst }, true);
  const statuses = at(over, "status", "containerStatuses");
  const containerStatuses = (Array.isArray(statuses) ? statuses : []).map((one) => ({
    ...one,
    state: {
      terminated: { ...Object(at(one, "state", "terminated")), exitCode: codes[textAt(one, "name") ?? ""] ?? 0 },
    },
  }));
  rewrite(server, "pods", pod, { ...over, status: { ...Object(over["status"]), containerStatuses } });
};

/** Ends processes when their time has come. */
const processes =
  (lives: Lives) =>
  (server: Server): Part => ({
    onChange: (change) => {
      const life = startsUp(change) ? lifeOf(lives, change.object) : undefined;
      const { runMs, exitCode = 0, codes } = life ?? {};
      if (runMs === undefined) return;
      const task =
        codes === undefined
          ? exitTask(change.object, { code: exitCode })
          : about("processes.end", change.object, { codes });
      runAfter(server, runMs, task);
    },
    tasks: { "processes.end": (task) => apart(server, task) },
  });

type Workload = { readonly lives?: Lives; readonly gang?: "here" | "builtin" | "native" };

/** The parts for a scenario. */
export const guestsFor = ({ lives, gang }: Workload): readonly ((server: Server) => Part)[] =>
  lives === undefined ? [] : [...(gang === undefined ? [scheduler] : []), processes(lives)];

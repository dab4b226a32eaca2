/** A job's pods as they are: whose each is, how it stands, and whether it is to be ended. */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { deletionAskedAt, isEnding, ownedBy, podStatus } from "../../kube/pods.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { podName } from "../pods/names.ts";
import { keys } from "../resource.ts";
import { moveFor } from "./machine.ts";
import type { Memory } from "./memory.ts";
import { ofTask } from "./ordinals.ts";
import { type Counting, type PodPhase, podPhaseOf } from "./pod-counts.ts";

export type Member = {
  readonly pod: Stored;
  readonly task: string;
  readonly index: number;
  readonly version: number;
  readonly phase: PodPhase;
  /** On its way out, whoever asked for it. */
  readonly ending: boolean;
};

const whole = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

const memberOf = (job: string, pod: Stored): Member | undefined => {
  const { annotations = {}, name } = pod.metadata;
  const task = annotations[keys.taskSpec];
  const index = whole(annotations[keys.taskIndex]);
  const version = whole(annotations[keys.jobVersion]);
  if (task === undefined || index === undefined || version === undefined) return undefined;
  if (name !== podName(job, task, index)) return undefined;
  return { pod, task, index, version, phase: podPhaseOf(podStatus(pod).phase), ending: isEnding(pod) };
};

/** The pods that belong to the job by its UID and by what they say; in the order of their names. */
export const membersOf = (
  job: { readonly name: string; readonly uid: string },
  pods: readonly Stored[],
): readonly Member[] =>
  pods
    .filter((pod) => ownedBy(pod, job.uid))
    .map((pod) => memberOf(job.name, pod))
    .filter((member) => member !== undefined)
    .sort((a, b) => (a.task === b.task ? a.index - b.index : a.task < b.task ? -1 : 1));

export const hasFinished = ({ phase }: Pick<Member, "phase">): boolean => phase === "Succeeded" || phase === "Failed";

const isMarked = ({ pod }: Member): boolean => pod.metadata.annotations?.[keys.outOfSync] === "true";

/** True in phases in which nothing goes on: what has not finished is ended. */
export const endsUnfinished = ({ phase }: Memory): boolean => moveFor(phase, "SyncJob").pods === "killUnfinished";

const isAsked = (member: Member, { doomed }: Memory): boolean =>
  doomed.includes(member.pod.metadata.uid) || isMarked(member);

/** To be ended whatever has become of it meanwhile. */
export const isOverByRight = (member: Member, memory: Memory): boolean =>
  isAsked(member, memory) || member.version < memory.version;

/** To be ended: asked for, of an earlier version, or not finished in a job that goes on no more. */
export const isOver = (member: Member, memory: Memory): boolean => {
  if (isAsked(member, memory)) return true;
  if (hasFinished(member)) return member.version < memory.version && !memory.keeps;
  return member.version < memory.version || endsUnfinished(memory);
};

const statusesIn = (pod: Stored, list: string): readonly Json[] => {
  const status = isRecord(pod["status"]) ? pod["status"] : {};
  const statuses = status[list];
  return Array.isArray(statuses) ? statuses.filter(isRecord) : [];
};

const numberIn = (value: Json, field: string): number => (typeof value[field] === "number" ? value[field] : 0);

/** How often the containers of a pod were started again. */
export const restartsOf = ({ pod }: Member): number =>
  ["initContainerStatuses", "containerStatuses"]
    .flatMap((list) => statusesIn(pod, list))
    .reduce((sum, status) => sum + numberIn(status, "restartCount"), 0);

/** Every container is ready, as far as they tell. */
export const isReady = ({ pod, phase }: Member): boolean =>
  phase === "Running" && statusesIn(pod, "containerStatuses").every((status) => status["ready"] === true);

type Ended = { readonly code: number; readonly finishedAt: string };

const endedIn = (status: Json): readonly Ended[] => {
  const state = isRecord(status["state"]) ? status["state"] : {};
  const { terminated } = state;
  if (!isRecord(terminated)) return [];
  const { finishedAt } = terminated;
  return [{ code: numberIn(terminated, "exitCode"), finishedAt: typeof finishedAt === "string" ? finishedAt : "" }];
};

/** How every container ended, init containers first. */
const endingsOf = ({ pod }: Member): readonly Ended[] =>
  ["initContainerStatuses", "containerStatuses"].flatMap((list) => statusesIn(pod, list)).flatMap(endedIn);

/** Exit codes other than 0 of all containers: unlike upstream, which reads the first only. */
export const exitCodesOf = (member: Member): readonly number[] => [
  ...new Set(endingsOf(member).flatMap(({ code }) => (code === 0 ? [] : [code]))),
];

/** When the last container ended, as the API writes it; "" when nobody says. */
export const finishedAtOf = (member: Member): string =>
  endingsOf(member)
    .map(({ finishedAt }) => finishedAt)
    .sort()
    .at(-1) ?? "";

/**
 * True when the pod succeeded first and its deletion was requested afterwards. A grace above zero says that the deletion
 * came first: the API server gives a pod in a terminal phase none. Without a grace the times tell, in whole seconds; in
 * the same second the deletion counts as the first, for work that is done twice is better than work that is never done.
 */
const endedFirst = (member: Member): boolean => {
  const { deletionGracePeriodSeconds: grace = 0 } = member.pod.metadata;
  const [finished, asked] = [instantOf(finishedAtOf(member)), deletionAskedAt(member.pod)];
  return grace === 0 && finished !== undefined && asked !== undefined && finished < asked;
};

/**
 * The pod did what it was for. Kubelets write a terminal phase also for a pod that is being deleted, so a server that
 * ends with 0 on SIGTERM is `Succeeded` on its way out, and is not done: it was evicted.
 */
export const hasSucceeded = (member: Member, { done, leaving }: Pick<Memory, "done" | "leaving">): boolean => {
  if (member.phase !== "Succeeded") return false;
  if (!member.ending || ofTask(done, member.task).has(member.index)) return true;
  return !ofTask(leaving, member.task).has(member.index) && endedFirst(member);
};

/** It is done, and stays as it is. */
export const isDone = (member: Member, memory: Memory): boolean =>
  hasSucceeded(member, memory) && !isOver(member, memory);

/** As the status counts it. */
export const countingOf = (member: Member, memory: Memory): Counting => ({
  task: member.task,
  phase: member.phase,
  terminating: (member.ending && !hasSucceeded(member, memory)) || isOver(member, memory),
});

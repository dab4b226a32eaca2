/**
 * Applies an action to the memory, which is saved before any effect. Its effects make the pods match the spec: missing
 * pods are created in the order of tasks, others deleted.
 */

import { omit } from "../../core/json.ts";
import { refTo } from "../../core/object.ts";
import { type Effect, wholeOf } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { isKeptOut } from "../../kube/gang-eviction.ts";
import { isNative } from "../../kube/native-gang.ts";
import { pods } from "../../kube/resources.ts";
import { largestFirst } from "../native/size.ts";
import { onPod } from "../plugins/all.ts";
import { podName } from "../pods/names.ts";
import { partitionOf, podDraft } from "../pods/pod.ts";
import type { Action, Phase } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf, totalReplicas } from "../schema/spec.ts";
import {
  backoffAfter,
  evictionIn,
  heldUntil,
  isExcess,
  isHeld,
  isKept,
  type JobContext,
  ownerOf,
  planIn,
  plannedNodes,
  podCounts,
  podInputOf,
  removal,
  stillToDelete,
} from "./context.ts";
import { namesOfCreated } from "./created-pods.ts";
import { mostTried } from "./denied-pods.ts";
import { endReason } from "./end-reason.ts";
import type { Later } from "./events.ts";
import { isWorking, type Move, moveFor, type PodsAct, type Rule } from "./machine.ts";
import { changed, enterPhase, type Memory, ofTask } from "./memory.ts";
import { type Counting, isOverByRight, type Member, type Tally } from "./pods.ts";
import { type ActionTarget, groupPhase, type PolicyEvent, withoutSuperseded } from "./policies.ts";
import { openRoom } from "./queue-room.ts";
import { makesWay, mayStart } from "./starts.ts";

type Counted = {
  readonly spec: JobSpec;
  readonly tally: Tally;
  readonly retryCount: number;
  /** A job that is held must not have pods yet. */
  readonly held?: boolean;
};

const least = ({ minAvailable }: JobSpec): number => minAvailable ?? 0;

const leastTogether = (spec: JobSpec): number =>
  tasksOf(spec).reduce((sum, { minAvailable, replicas }) => sum + (minAvailable ?? replicas ?? 0), 0);

/** True for a task with its own minAvailable of which fewer pods succeeded. */
const fellShort =
  ({ byTask }: Tally) =>
  (task: Task): boolean => {
    const phases = byTask[nameOf(task)];
    return task.minAvailable !== undefined && phases !== undefined && (phases["Succeeded"] ?? 0) < task.minAvailable;
  };

/** Returns the final phase of a job whose pods have all finished. */
const verdict = ({ spec, tally }: Counted): Phase => {
  const { minSuccess } = spec;
  if (least(spec) >= leastTogether(spec) && tasksOf(spec).some(fellShort(tally))) return "Failed";
  if (minSuccess !== undefined && tally.succeeded < minSuccess) return "Failed";
  return tally.succeeded >= least(spec) ? "Completed" : "Failed";
};

const gangUp = ({ spec, tally, held }: Counted): Phase =>
  held !== true && least(spec) <= tally.running + tally.succeeded + tally.failed ? "Running" : "Pending";

const tasksDone = (counted: Counted): Phase => {
  const { spec, tally } = counted;
  const total = totalReplicas(spec);
  if (total === 0) return "Running";
  if (spec.minSuccess !== undefined && tally.succeeded >= spec.minSuccess) return "Completed";
  if (tally.succeeded + tally.failed === total) return verdict(counted);
  return tally.pending > total - least(spec) ? "Pending" : "Running";
};

/** A job without retries left fails; retries are checked first. */
const podsGone = ({ spec, tally, retryCount, held }: Counted): Phase => {
  if (retryCount >= (spec.maxRetry ?? 0)) return "Failed";
  if (held === true) return "Restarting";
  return totalReplicas(spec) - tally.terminating >= tally.minAvailable ? "Pending" : "Restarting";
};

/** True if no pod is terminating, pending or running. Pods of unknown phase do not count. */
const isDrained = ({ tally }: Counted): boolean => tally.terminating + tally.pending + tally.running === 0;

type Follows = (from: Phase, to: Phase | undefined, counted: Counted) => Phase;

const rules: Readonly<Record<Rule, Follows>> = {
  now: (from, to) => to ?? from,
  never: (from) => from,
  whenGangIsUp: (_, __, counted) => gangUp(counted),
  whenTasksAreDone: (_, __, counted) => tasksDone(counted),
  whenPodsAreGone: (_, __, counted) => podsGone(counted),
  whenDrained: (from, to, counted) => (isDrained(counted) ? (to ?? from) : from),
};

/** Returns the phase that a move leads to. */
export const phaseAfter = (from: Phase, { when, into }: Move, counted: Counted): Phase =>
  rules[when](from, into, counted);

/** The one action that a step takes: see select-action.ts. */
export type SelectedAction = {
  readonly memory: Memory;
  readonly action: Action;
  readonly target: ActionTarget;
  /** Absent for a sync without a cause. */
  readonly because?: {
    readonly event: string;
    readonly exitCodes: readonly number[];
    /** The event came from outside: see `PolicyEvent`. */
    readonly disrupted?: true;
    /** Kueue no longer admits the job: its restart spends no retry and needs no backoff. */
    readonly unadmitted?: true;
  };
  /** The pod that is read again before the action is taken. */
  readonly witness?: PolicyEvent["witness"];
  /** When the first Pending pod will have waited for too long, epoch ms. */
  readonly wakeAt?: number;
  /** Actions that wait from this step on. */
  readonly laters?: readonly Later[];
};

type Place = Pick<Member, "task" | "index">;

type Reaches = (context: JobContext, place: Place, target: ActionTarget) => boolean;

const partitionIn = ({ spec }: JobContext, { task, index }: Place): string | undefined => {
  const one = tasksOf(spec).find((each) => nameOf(each) === task);
  return one === undefined ? undefined : partitionOf(one, index);
};

const targets: Readonly<Partial<Record<PodsAct, Reaches>>> = {
  killTask: (_, member, target) => member.task === target.task,
  killPod: (_, member, target) => member.task === target.task && member.index === target.index,
  killPartition: (context, member, target) =>
    member.task === target.task && target.partition !== undefined && partitionIn(context, member) === target.partition,
};

const filtered = (sets: Memory["done"], stays: (place: Place) => boolean): Memory["done"] =>
  changed(
    new Map(Object.keys(sets).map((task) => [task, [...ofTask(sets, task)].filter((index) => stays({ task, index }))])),
  );

const without = (sets: Memory["seen"], members: readonly Member[]): Memory["seen"] => {
  const gone = new Set(members.map(({ task, index }) => `${task}/${index}`));
  return filtered(sets, ({ task, index }) => !gone.has(`${task}/${index}`));
};

/** Marks the pods of one target to be ended; their end is no eviction. */
const aimed = (context: JobContext, memory: Memory, move: Move, target: ActionTarget): Memory => {
  const reaches = targets[move.pods];
  if (reaches === undefined) return memory;
  const hit = context.members.filter((member) => reaches(context, member, target));
  const tasks = new Set(hit.map(({ task }) => task));
  return {
    ...memory,
    doomed: [...new Set([...memory.doomed, ...hit.map(({ pod }) => pod.metadata.uid)])],
    seen: without(memory.seen, hit),
    failed: without(memory.failed, hit),
    done: filtered(memory.done, (place) => !reaches(context, place, target)),
    completed: memory.completed.filter((task) => !tasks.has(task)),
    exhausted: memory.exhausted.filter((task) => !tasks.has(task)),
  };
};

/** Begins the next version: its pods are new, the group is retired. As upstream, the last retry keeps finished pods. */
const renewed = ({ group, spec }: JobContext, memory: Memory, move: Move): Memory => {
  const keeps = move.pods === "killUnfinished" || memory.retryCount >= (spec.maxRetry ?? 0) - 1;
  return {
    ...omit(memory, "kept", "unknown", "denied"),
    version: memory.version + 1,
    keeps,
    seen: {},
    failed: {},
    done: keeps ? memory.done : {},
    completed: [],
    exhausted: [],
    delays: [],
    ...(group === undefined ? {} : { retired: group.metadata.uid }),
  };
};

/** True if the move ends the pods of the version; its group is then left behind. */
export const endsAll = ({ pods, when }: Move): boolean =>
  pods === "killAll" || (pods === "killUnfinished" && when === "now");

const reasonText = (
  { event, exitCodes }: NonNullable<SelectedAction["because"]>,
  { task, index }: ActionTarget,
): string => {
  const where = task === "" ? "" : ` of ${index === undefined ? `task ${task}` : `pod ${task}-${index}`}`;
  const codes = exitCodes.length === 0 ? "" : ` (exit code ${exitCodes.join(", ")})`;
  return `${event}${where}${codes}`;
};

/** True for an action that spends no retry, because the job asks for that or Kueue is the cause. */
const isFree = ({ annotationPolicies }: JobContext, { action, because, memory }: SelectedAction): boolean =>
  action === "ResumeJob"
    ? annotationPolicies.resumes === "free" || memory.suspended === true
    : because?.unadmitted === true || (annotationPolicies.evictions === "free" && because?.disrupted === true);

/** Counts the retry and begins the backoff. A resumed job has no backoff, and its active time begins when it runs. */
const restarted = (context: JobContext, memory: Memory, choice: SelectedAction): Memory => {
  const retryCount = memory.retryCount + (isFree(context, choice) ? 0 : 1);
  const { backoff: before, suspended: _, ...rest } = memory;
  if (choice.action === "ResumeJob" || choice.because?.unadmitted === true) return { ...rest, retryCount };
  const backoff = backoffAfter(before, context.annotationPolicies, context.view.now);
  return {
    ...rest,
    retryCount,
    ...(backoff === undefined ? {} : { backoff }),
  };
};

/** Sets `activeSince` when the job is first Running, and removes it when the job stops working. */
const activeIn = ({ activeSince, ...memory }: Memory, now: number): Memory => {
  const since = activeSince ?? (memory.phase === "Running" ? now : undefined);
  return since === undefined || !isWorking(memory.phase) ? memory : { ...memory, activeSince: since };
};

/** Returns the memory after the action; `isShown`: the status shows the job's current phase, so the job may leave it. */
export const applyAction = (context: JobContext, choice: SelectedAction, isShown: boolean): Memory => {
  const { action, target, because } = choice;
  const before = choice.memory;
  const move = moveFor(before.phase, action);
  const held = isHeld({ ...context, memory: before });
  const counts = { spec: context.spec, retryCount: before.retryCount, held };
  const reached = endsAll(move) ? renewed(context, before, move) : aimed(context, before, move, target);
  const spent = move.spends === true ? restarted(context, reached, choice) : reached;
  const tally = podCounts({ ...context, memory: spent });
  const into = isShown ? phaseAfter(before.phase, move, { ...counts, tally }) : before.phase;
  const next = activeIn(enterPhase(spent, into, context.view.now), context.view.now);
  if (because === undefined) return into === before.phase ? next : withWhy(next, endReason(context, before, into));
  const delays = withoutSuperseded(next.delays, action, target);
  const until = into === before.phase ? undefined : heldUntil(next, context.view.now);
  const wait = until === undefined ? "" : `; its pods are created at ${timeText(until)}`;
  return { ...next, delays, why: { reason: action, message: `${reasonText(because, target)}${wait}` } };
};

/** Replaces the cause: the cause of one phase is not that of the next. */
const withWhy = ({ why: _, ...memory }: Memory, why: Memory["why"]): Memory =>
  why === undefined ? memory : { ...memory, why };

/** The most creations at once: as many as a step's fence leaves time for. */
const mostAtOnce = 400;

/** True if the scheduler, or Rekindle in its place, has admitted the group; pods are created only then. */
export const isAdmitted = (context: JobContext): boolean => {
  const { group, memory } = context;
  if (group === undefined || group.metadata.uid === memory.retired) return false;
  return !["", "Pending"].includes(groupPhase(context));
};

/** Ordinals that have no pod and are not done, except seen ones: their eviction must be an event first. */
const missingOf = (context: JobContext, task: Task): readonly number[] => {
  const name = nameOf(task);
  const stays = (member: Member): boolean => member.task === name && !makesWay(context, member);
  const there = new Set(context.members.filter(stays).map(({ index }) => index));
  const seen = ofTask(context.memory.seen, name);
  const done = ofTask(context.memory.done, name);
  return Array.from({ length: replicasOf(task) }, (_, index) => index).filter(
    (index) => !there.has(index) && !seen.has(index) && !done.has(index),
  );
};

/** `wave`: pods of a lower one are created first; absent: with the first. */
type Missing = { readonly task: Task; readonly index: number; readonly wave?: number };

/** Pods that may be created now: those that the queue has room for, and while the plan of the group stands, those of the plan. */
const missing = (context: JobContext): readonly Missing[] => {
  const nodes = planIn(context) === undefined ? undefined : plannedNodes(context);
  const mark = evictionIn(context);
  const room = openRoom(context);
  return tasksOf(context.spec)
    .filter((task) => mayStart(context, task))
    .flatMap((task) => {
      const most = nodes?.(nameOf(task)).length ?? Number.POSITIVE_INFINITY;
      return missingOf(context, task)
        .filter(
          (index) => index < most && (mark === undefined || !isKeptOut(mark, nameOf(task), index, context.view.now)),
        )
        .slice(0, room(task))
        .slice(0, mostTried(context, task))
        .map((index) => ({ task, index }));
    });
};

/** The most characters of all pods of one decision; larger decisions would delay the steps of other keys. */
const mostBuilt = 8_388_608;

/**
 * The most characters of a pod that the plan holds built, because its size was asked for: only that of the plan's first
 * pod. All others are built when they are sent.
 */
const mostHeld = 65_536;

type Creation = Extract<Effect, { do: "create" }>;

/** Returns the creation of the pod as it was built for its size. */
const held = ({ body: _, ...effect }: Creation, object: Creation["object"]): Creation => ({ ...effect, object });

/** Creates as many pods as fit at once, fewer if they are large. Plugins compute the values of the whole job once. */
const creations = (context: JobContext, wanted: readonly Missing[]): readonly Effect[] => {
  const input = podInputOf(context);
  const scope = { owner: input.owner, tasks: tasksOf(context.spec) };
  const { name, namespace, uid } = ownerOf(context);
  const type = { apiVersion: "v1", kind: "Pod" } as const;
  const creation = ({ task, index }: Missing): Creation => ({
    do: "create",
    object: { ...type, metadata: { name: podName(name, nameOf(task), index), namespace } },
    body: () => ({ ...type, ...onPod(podDraft(input, task, index), scope, context.spec.plugins) }),
    resource: pods,
    owner: uid,
    limited: true,
  });
  const made: Effect[] = [];
  const sizes = new Map<Task, number>();
  let left = mostBuilt;
  for (const one of wanted.slice(0, mostAtOnce)) {
    const effect = creation(one);
    const known = sizes.get(one.task);
    const object = known === undefined ? wholeOf(effect) : undefined;
    const size = known ?? JSON.stringify(object).length;
    sizes.set(one.task, size);
    left -= size;
    if (left < 0 && made.length > 0) break;
    const holds = object !== undefined && made.length === 0 && size <= mostHeld;
    made.push(holds ? held(effect, object) : effect);
  }
  return made;
};

/** Deletes a pod by judgement of its state: only if its resourceVersion has not changed. */
const dismissal = ({ pod }: Member): Effect => ({
  do: "delete",
  ref: refTo(pods, pod),
  uid: pod.metadata.uid,
  resourceVersion: pod.metadata.resourceVersion,
});

export type Pods = {
  readonly ends: readonly Effect[];
  /** Deletions of pods for which the spec has no place. */
  readonly excess: readonly Effect[];
  /** Creations in stages: of pods that are placed as a native gang, larger ones come first. */
  readonly creates: readonly (readonly Effect[])[];
  /** The created pods, as the status counts them. */
  readonly created: readonly Counting[];
  /** More pods are missing than `creates` holds. */
  readonly more: boolean;
};

/** Returns the creations of a native gang with a stage for each size of pods, as the scheduler tries pods in their order. */
const inWaves = (creates: readonly Effect[], wanted: readonly Missing[]): Pods["creates"] => [
  ...Map.groupBy(creates, (_, at) => wanted[at]?.wave ?? 0).values(),
];

/** Returns the effects on the pods; `ready`: everything that the pods need exists. */
export const podEffects = (context: JobContext, ready: boolean): Pods => {
  const over = stillToDelete(context);
  const excess = isKept(context)
    ? context.members.filter((member) => isExcess(context, member) && !member.ending && !over.includes(member))
    : [];
  const ended = (member: Member): Effect =>
    isOverByRight(member, context.memory) ? removal(pods, member.pod) : dismissal(member);
  const again = context.again.filter(({ ending }) => !ending);
  const ends = [...over.map(ended), ...again.map(dismissal)];
  const made = namesOfCreated(context);
  const wanted = (isKept(context) && ready && isAdmitted(context) && !isHeld(context) ? missing(context) : []).filter(
    ({ task, index }) => !made.has(podName(ownerOf(context).name, nameOf(task), index)),
  );
  const ordered = isNative(context.group) ? largestFirst(wanted) : wanted;
  const creates = creations(context, ordered);
  const created = ordered
    .slice(0, creates.length)
    .map(({ task }): Counting => ({ task: nameOf(task), phase: "Pending", terminating: false }));
  const more = wanted.length > creates.length;
  return { ends, excess: excess.map(dismissal), creates: inWaves(creates, ordered), created, more };
};

/** Effects that make the pods match the spec: missing pods are created in the order of tasks, others deleted. */
import { type Effect, wholeOf } from "../../core/plan.ts";
import { pods } from "../../kube/resources.ts";
import { onPod } from "../plugins/all.ts";
import { podName } from "../pods/names.ts";
import { podDraft } from "../pods/pod.ts";
import { leastOf, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import {
  isExcess,
  isHeld,
  isKept,
  type JobContext,
  makingOf,
  overdue,
  ownerOf,
  planIn,
  plannedNodes,
  refOf,
  removal,
} from "./context.ts";
import { ofTask } from "./memory.ts";
import { hasFinished, isDone, isOver, isOverByRight, isReady, type Member, removedOf } from "./pods.ts";
import { groupPhase } from "./policy-events.ts";

/** The most creations at once: as many as a step's fence leaves time for. */
const mostAtOnce = 400;

/** True if the scheduler, or Rekindle in its place, has admitted the group; pods are created only then. */
export const isAdmitted = (context: JobContext): boolean => {
  const { group, memory } = context;
  if (group === undefined || group.metadata.uid === memory.retired) return false;
  return !["", "Pending"].includes(groupPhase(context));
};

const countsFor = (context: JobContext, member: Member): boolean =>
  isDone(member, context.memory) || (!isOver(member, context.memory) && isReady(member));

const isThere = (context: JobContext, name: string): boolean => {
  const task = tasksOf(context.spec).find((one) => nameOf(one) === name);
  if (task === undefined) return false;
  const there = context.members.filter((member) => member.task === name && countsFor(context, member));
  return there.length + removedOf(context, task).length >= leastOf(task);
};

/** True if the tasks that a task depends on are there: all of them, or one with iteration `any`. */
const mayStart = (context: JobContext, { dependsOn }: Task): boolean => {
  const names = dependsOn?.name ?? [];
  if (names.length === 0) return true;
  const any = dependsOn?.iteration === "any" && names.length >= 2;
  return any ? names.some((name) => isThere(context, name)) : names.every((name) => isThere(context, name));
};

/** True for a finished pod that is gone as soon as a step deletes it, because it has no finalizer. */
const makesWay = ({ spec, memory }: JobContext, member: Member): boolean =>
  hasFinished(member) &&
  isOverByRight(member, memory) &&
  (member.pod.metadata.finalizers ?? []).length === 0 &&
  memory.retryCount < (spec.maxRetry ?? 0);

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

type Missing = { readonly task: Task; readonly index: number };

/** Pods that may be created now; while the plan of the group stands, these are the pods of the plan. */
const missing = (context: JobContext): readonly Missing[] => {
  const nodes = planIn(context) === undefined ? undefined : plannedNodes(context);
  return tasksOf(context.spec)
    .filter((task) => mayStart(context, task))
    .flatMap((task) => {
      const most = nodes?.(nameOf(task)).length ?? Number.POSITIVE_INFINITY;
      return missingOf(context, task)
        .filter((index) => index < most)
        .map((index) => ({ task, index }));
    });
};

/** The most characters of all pods of one decision; larger decisions would delay the steps of other keys. */
const mostBuilt = 8_388_608;

type Creation = Extract<Effect, { do: "create" }>;

/** Creates as many pods as fit at once, fewer if they are large. Plugins compute the values of the whole job once. */
const creations = (context: JobContext, wanted: readonly Missing[]): readonly Effect[] => {
  const making = makingOf(context);
  const scope = { owner: making.owner, tasks: tasksOf(context.spec) };
  const { name, namespace, uid } = ownerOf(context);
  const type = { apiVersion: "v1", kind: "Pod" } as const;
  const creation = ({ task, index }: Missing): Creation => ({
    do: "create",
    object: { ...type, metadata: { name: podName(name, nameOf(task), index), namespace } },
    body: () => ({ ...type, ...onPod(podDraft(making, task, index), scope, context.spec.plugins) }),
    resource: pods,
    owner: uid,
  });
  const made: Effect[] = [];
  const sizes = new Map<Task, number>();
  let left = mostBuilt;
  for (const one of wanted.slice(0, mostAtOnce)) {
    const effect = creation(one);
    const size = sizes.get(one.task) ?? JSON.stringify(wholeOf(effect)).length;
    sizes.set(one.task, size);
    left -= size;
    if (left < 0 && made.length > 0) break;
    made.push(effect);
  }
  return made;
};

/** Deletes a pod by judgement of its state: only if its resourceVersion has not changed. */
const dismissal = ({ pod }: Member): Effect => ({
  do: "delete",
  ref: refOf(pods, pod),
  uid: pod.metadata.uid,
  resourceVersion: pod.metadata.resourceVersion,
});

/** Returns the names of the pods that this step has created already. */
const madeIn = ({ view: { done = [] } }: JobContext): ReadonlySet<string> =>
  new Set(done.flatMap((effect) => (effect.do === "create" ? [effect.object.metadata.name] : [])));

export type Pods = {
  readonly ends: readonly Effect[];
  readonly creates: readonly Effect[];
  /** More pods are missing than `creates` holds. */
  readonly more: boolean;
};

/** Returns the effects on the pods; `ready`: everything that the pods need exists. */
export const podEffects = (context: JobContext, ready: boolean): Pods => {
  const over = overdue(context);
  const excess = isKept(context)
    ? context.members.filter((member) => isExcess(context, member) && !member.ending && !over.includes(member))
    : [];
  const ended = (member: Member): Effect =>
    isOverByRight(member, context.memory) ? removal(pods, member.pod) : dismissal(member);
  const again = context.again.filter(({ ending }) => !ending);
  const ends = [...over.map(ended), ...excess.map(dismissal), ...again.map(dismissal)];
  const made = madeIn(context);
  const wanted = (isKept(context) && ready && isAdmitted(context) && !isHeld(context) ? missing(context) : []).filter(
    ({ task, index }) => !made.has(podName(ownerOf(context).name, nameOf(task), index)),
  );
  const creates = creations(context, wanted);
  return { ends, creates, more: wanted.length > creates.length };
};

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
export const isAdmitted = (scene: JobContext): boolean => {
  const { group, memory } = scene;
  if (group === undefined || group.metadata.uid === memory.retired) return false;
  return !["", "Pending"].includes(groupPhase(scene));
};

const countsFor = (scene: JobContext, member: Member): boolean =>
  isDone(member, scene.memory) || (!isOver(member, scene.memory) && isReady(member));

const isThere = (scene: JobContext, name: string): boolean => {
  const task = tasksOf(scene.spec).find((one) => nameOf(one) === name);
  if (task === undefined) return false;
  const there = scene.members.filter((member) => member.task === name && countsFor(scene, member));
  return there.length + removedOf(scene, task).length >= leastOf(task);
};

/** True if the tasks that a task depends on are there: all of them, or one with iteration `any`. */
const mayStart = (scene: JobContext, { dependsOn }: Task): boolean => {
  const names = dependsOn?.name ?? [];
  if (names.length === 0) return true;
  const any = dependsOn?.iteration === "any" && names.length >= 2;
  return any ? names.some((name) => isThere(scene, name)) : names.every((name) => isThere(scene, name));
};

/** True for a finished pod that is gone as soon as a step deletes it, because it has no finalizer. */
const makesWay = ({ spec, memory }: JobContext, member: Member): boolean =>
  hasFinished(member) &&
  isOverByRight(member, memory) &&
  (member.pod.metadata.finalizers ?? []).length === 0 &&
  memory.retryCount < (spec.maxRetry ?? 0);

/** Ordinals that have no pod and are not done, except seen ones: their eviction must be an event first. */
const missingOf = (scene: JobContext, task: Task): readonly number[] => {
  const name = nameOf(task);
  const stays = (member: Member): boolean => member.task === name && !makesWay(scene, member);
  const there = new Set(scene.members.filter(stays).map(({ index }) => index));
  const seen = ofTask(scene.memory.seen, name);
  const done = ofTask(scene.memory.done, name);
  return Array.from({ length: replicasOf(task) }, (_, index) => index).filter(
    (index) => !there.has(index) && !seen.has(index) && !done.has(index),
  );
};

type Missing = { readonly task: Task; readonly index: number };

/** Pods that may be created now; while the plan of the group stands, these are the pods of the plan. */
const missing = (scene: JobContext): readonly Missing[] => {
  const nodes = planIn(scene) === undefined ? undefined : plannedNodes(scene);
  return tasksOf(scene.spec)
    .filter((task) => mayStart(scene, task))
    .flatMap((task) => {
      const most = nodes?.(nameOf(task)).length ?? Number.POSITIVE_INFINITY;
      return missingOf(scene, task)
        .filter((index) => index < most)
        .map((index) => ({ task, index }));
    });
};

/** The most characters of all pods of one decision; larger decisions would delay the steps of other keys. */
const mostBuilt = 8_388_608;

type Creation = Extract<Effect, { do: "create" }>;

/** Creates as many pods as fit at once, fewer if they are large. Plugins compute the values of the whole job once. */
const creations = (scene: JobContext, wanted: readonly Missing[]): readonly Effect[] => {
  const making = makingOf(scene);
  const scope = { owner: making.owner, tasks: tasksOf(scene.spec) };
  const { name, namespace, uid } = ownerOf(scene);
  const type = { apiVersion: "v1", kind: "Pod" } as const;
  const creation = ({ task, index }: Missing): Creation => ({
    do: "create",
    object: { ...type, metadata: { name: podName(name, nameOf(task), index), namespace } },
    body: () => ({ ...type, ...onPod(podDraft(making, task, index), scope, scene.spec.plugins) }),
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
export const podEffects = (scene: JobContext, ready: boolean): Pods => {
  const over = overdue(scene);
  const excess = isKept(scene)
    ? scene.members.filter((member) => isExcess(scene, member) && !member.ending && !over.includes(member))
    : [];
  const ended = (member: Member): Effect =>
    isOverByRight(member, scene.memory) ? removal(pods, member.pod) : dismissal(member);
  const again = scene.again.filter(({ ending }) => !ending);
  const ends = [...over.map(ended), ...excess.map(dismissal), ...again.map(dismissal)];
  const made = madeIn(scene);
  const wanted = (isKept(scene) && ready && isAdmitted(scene) && !isHeld(scene) ? missing(scene) : []).filter(
    ({ task, index }) => !made.has(podName(ownerOf(scene).name, nameOf(task), index)),
  );
  const creates = creations(scene, wanted);
  return { ends, creates, more: wanted.length > creates.length };
};

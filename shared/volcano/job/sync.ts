/** Pods as the spec says: those that are missing made, in the order of their tasks, and those that are too many ended. */
import { type Effect, wholeOf } from "../../core/plan.ts";
import { pods } from "../../kube/resources.ts";
import { onPod } from "../plugins/all.ts";
import { podName } from "../pods/names.ts";
import { podDraft } from "../pods/pod.ts";
import { leastOf, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { removedOf } from "./completed-pods.ts";
import { isExcess, isHeld, isKept, type JobContext, makingOf, overdue, ownerOf, refOf, removal } from "./context.ts";
import { ofTask } from "./ordinals.ts";
import { hasFinished, isDone, isOver, isOverByRight, isReady, type Member } from "./pods.ts";
import { groupPhase } from "./policy-events.ts";

/** Creations of one step: as many as its fence leaves time for. */
const mostAtOnce = 400;

/** Pods are made when the scheduler, or who stands in for it, has let the group in. */
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

/** What a task comes after: all of it, or any of several. */
const mayStart = (scene: JobContext, { dependsOn }: Task): boolean => {
  const names = dependsOn?.name ?? [];
  if (names.length === 0) return true;
  const any = dependsOn?.iteration === "any" && names.length >= 2;
  return any ? names.some((name) => isThere(scene, name)) : names.every((name) => isThere(scene, name));
};

/** Who has finished is gone as soon as they are asked to go, unless somebody holds them. */
const makesWay = ({ spec, memory }: JobContext, member: Member): boolean =>
  hasFinished(member) &&
  isOverByRight(member, memory) &&
  (member.pod.metadata.finalizers ?? []).length === 0 &&
  memory.retryCount < (spec.maxRetry ?? 0);

/** Ordinals without a pod that are not done; of those that were seen the eviction must be an event first. */
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

/** Pods that may be made now. */
const missing = (scene: JobContext): readonly Missing[] =>
  tasksOf(scene.spec)
    .filter((task) => mayStart(scene, task))
    .flatMap((task) => missingOf(scene, task).map((index) => ({ task, index })));

/** The pods of one decision have so many characters together: more would take the time of all others. */
const mostBuilt = 8_388_608;

type Creation = Extract<Effect, { do: "create" }>;

/** Pods as far as they are made at once: fewer of larger ones. What plugins work out for the whole job, they do once. */
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

/** By judgement of how it stands: only if nothing about it has changed since. */
const dismissal = ({ pod }: Member): Effect => ({
  do: "delete",
  ref: refOf(pods, pod),
  uid: pod.metadata.uid,
  resourceVersion: pod.metadata.resourceVersion,
});

/** Names of what this very step has made already. */
const madeIn = ({ view: { done = [] } }: JobContext): ReadonlySet<string> =>
  new Set(done.flatMap((effect) => (effect.do === "create" ? [effect.object.metadata.name] : [])));

export type Pods = {
  readonly ends: readonly Effect[];
  readonly creates: readonly Effect[];
  /** More are to be made than one step does. */
  readonly more: boolean;
};

/** What is to be done about the pods; `ready`: everything that they need stands. */
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

/**
 * The places of a group's members, as its plan gives them: what the creator of a group states of its pods, how long a plan
 * may be used, and the pods pinned to their places. The same for every kind whose driver and executors start as one group.
 */
import { list, type Reads } from "../../../core/decision.ts";
import { fieldsOf, recordsIn, same } from "../../../core/json.ts";
import type { Key } from "../../../core/key.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { evictedOf } from "../../../kube/gang-eviction.ts";
import { type GangMembers, membersKey, schedulingPart } from "../../../kube/gang-members.ts";
import { createMs, type GangPlan, isWaiting, nodesOf, planOf as planIn, takenBackOf } from "../../../kube/gang-plan.ts";
import { pinned, pinOf } from "../../../kube/nodes.ts";
import { appUidLabel, nodeNameOf } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { only } from "../../../kube/trim.ts";
import { isLiving, membersOf } from "../../executors/allotment.ts";
import { addedLabels, foundBy } from "../../submission/additions.ts";
import type { PlannedPods } from "../../submission/planned-pods.ts";

/** The tasks of the group. */
export const driverTask = "driver";
export const executorTask = "executor";

const ofAttempt: readonly string[] = [...addedLabels, ...foundBy, "spark-app-selector", "spark-exec-id"];

/** The labels that pods of every attempt have. */
const lastingLabels = ({ metadata: { labels = {} } }: Pick<Obj, "metadata">): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !ofAttempt.includes(name)));

const memberOf = (task: string, count: number, pod: Obj) => ({
  ...{ task, count },
  ...{ spec: schedulingPart(fieldsOf(pod.spec)), labels: lastingLabels(pod) },
});

/** The annotations and the size of the PodGroup for a run's first pods. `required`: the value of `rekindle.dev/gang-required`. */
export const statedGroup = ({ driver, executor, executors }: PlannedPods, required: boolean) => {
  const others =
    executor === undefined || executors === 0
      ? []
      : [{ ...memberOf(executorTask, executors, executor), after: driverTask }];
  const stated: GangMembers = { members: [memberOf(driverTask, 1, driver), ...others], required };
  return {
    annotations: { [membersKey]: JSON.stringify(stated) },
    minMember: stated.members.reduce((sum, { count }) => sum + count, 0),
  };
};

/** The longest time from the decision to create a pod to its creation, ms: the fence, the request timeout, rounding. */
const latestMs = 16_000;

const defaultQueue = "default";

const asked = (group: Obj): unknown => {
  const spec = fieldsOf(group.spec);
  const { [membersKey]: members } = group.metadata.annotations ?? {};
  return [members, spec["queue"] ?? defaultQueue, only(spec, ["priorityClassName", "minMember"])];
};

/** True for a group that states what this one would state. */
export const isSame = (group: Stored, desired: Obj): boolean => same(asked(group), asked(desired));

/** Why no plan holds a group, in the words of its admission round. */
export const whyOf = (group: Stored): string | undefined => {
  const { message } =
    recordsIn(fieldsOf(group.status)["conditions"]).findLast(({ type }) => type === "Unschedulable") ?? {};
  return typeof message === "string" && message !== "" ? message.slice(0, 400) : undefined;
};

/** A pod that is created within its fence must be there before a group without pods is taken back. */
export const isTimely = ({ since }: GangPlan, now: number): boolean => now + latestMs < since + createMs;

/** The pod pinned to its node; undefined: to none. */
export const pinnedPod = (pod: Obj, node: string | undefined): Obj =>
  node === undefined ? pod : { ...pod, spec: pinned(fieldsOf(pod.spec), node) };

/** Places as the record keeps them: counts by node. */
export const countsOf = (nodes: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(nodes, (node) => node)].map(([node, same]) => [node, same.length]));

/** True for a group whose plan ended before its pods had their nodes. */
export const isTakenBack = (group: Stored): boolean => isWaiting(group) && takenBackOf(group) !== undefined;

/** True for a group that gives its room to another group. */
export const isEvicted = (group: Stored): boolean => isWaiting(group) && evictedOf(group) !== undefined;

const isExecutor = (effect: Effect): effect is Extract<Effect, { do: "create" }> =>
  effect.do === "create" && effect.resource === pods && effect.body !== undefined;

type Run = { readonly key: Pick<Key, "namespace">; readonly view: { readonly uid: string } };

/** Returns the executors' places that no living executor has, a node's name for each. */
function* freePlaces({ key: { namespace }, view }: Run, places: readonly string[]): Reads<readonly string[]> {
  const labels = { [appUidLabel]: view.uid, "spark-role": "executor" };
  const there = yield* list({ do: "list", resource: pods, namespace, labels });
  const free = [...places];
  for (const { pod } of membersOf(there).filter(isLiving)) {
    const place = free.indexOf(pinOf(fieldsOf(pod.spec)) ?? nodeNameOf(pod) ?? "");
    if (place >= 0) free.splice(place, 1);
  }
  return free;
}

/** Counts of executors by node. */
export type ExecutorPlaces = Readonly<Record<string, number>>;

type Stages = readonly (readonly Effect[])[];

/** True if the stages create executors of Rekindle's. */
export const createsExecutors = (stages: Stages): boolean => stages.flat().some(isExecutor);

/**
 * Pins the executors that Rekindle creates while the group's plan stands. Places are given by what is free of the plan and
 * not by ids: a step that died after it saved ids leaves ids without pods.
 */
export function* withPins(run: Run, places: ExecutorPlaces, stages: Stages, group: Stored | undefined): Reads<Stages> {
  if (group === undefined || planIn(group) === undefined) return stages;
  const free = yield* freePlaces(run, nodesOf({ places: { [executorTask]: places } }, executorTask));
  const nodes = free.values();
  const pin = (effect: Effect): Effect => {
    if (!isExecutor(effect)) return effect;
    const { body } = effect;
    const node = nodes.next().value;
    return node === undefined || body === undefined ? effect : { ...effect, body: () => pinnedPod(body(), node) };
  };
  return stages.map((stage) => stage.map(pin));
}

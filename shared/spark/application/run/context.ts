/** The context that every act of a SparkApplication's step works with, and the queries and effects that acts share. */
import { type Decision, list, type Reads } from "../../../core/decision.ts";
import type { Key } from "../../../core/key.ts";
import type { OwnerReference, Ref, Resource, Stored } from "../../../core/object.ts";
import type { Effect, Listing, Query, View } from "../../../core/plan.ts";
import { judgedRemoval } from "../../../kube/history.ts";
import { workloads } from "../../../kube/kueue.ts";
import { isGrowthOf } from "../../../kube/kueue-growth.ts";
import { appUidLabel, ownedBy } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { type RareKind, rareKinds } from "../../auxiliary-objects/all.ts";
import type { Options } from "../../auxiliary-objects/options.ts";
import type { ExecutorBasis } from "../../executor-pod/request.ts";
import { isLiving, membersOf, settlesAt } from "../../executors/allotment.ts";
import { hasId, idsOf } from "../../executors/ids.ts";
import { executorId } from "../../executors/losses.ts";
import { podsOf } from "../../schema/pod-query.ts";
import { made } from "../../schema/resource.ts";
import type { ParsedSpec } from "../../schema/rules.ts";
import type { Policies } from "../spec/policies.ts";
import { judged, notDeleted, type Pods, sortOut } from "../state/evidence.ts";
import { type Driver, isOwnRun, type Memory, type OwnSpec } from "../state/memory.ts";
import type { RestartPolicy } from "./retry.ts";

/** The settings of a deployment for all its SparkApplications. */
export type Settings = {
  /** The API server's address for pods, for `spark.master`. */
  readonly apiServer: string;
  /** Distance between two drivers, ms: see engine/settings.ts. */
  readonly settledMs: number;
  /** The fence and the distance, ms, for a creation that begins soon after the first read or not at all. */
  readonly prompt: { readonly fenceMs: number; readonly settledMs: number };
  readonly options: Options;
  /** Starts driver and initial executors as one group; absent where groups do not start by plans. */
  readonly gang?: GangDecision;
};

type Acting = (context: ApplicationContext) => Decision<Memory>;

/** Decides with the act of the phase, which creates the driver only once its group has places. */
export type GangDecision = (context: ApplicationContext, act: Acting) => Decision<Memory>;

type Texts = Readonly<Record<string, string>>;

/** A kind's declaration of its runs, by which their executors are found, told of, created and replaced. */
export type RunKind = {
  /** Events about executors are about its objects. */
  readonly resource: Resource;
  /** Labels of all pods of the application of this name. */
  readonly podsOf: (name: string) => Texts;
  /** The pods of the run among these. */
  readonly sorted: (context: ApplicationContext, pods: readonly Stored[]) => Pods;
  /** True of the pod of a driver that runs. */
  readonly runs: (pod: Stored) => boolean;
  /** The owner of its executors beside their driver. */
  readonly owner: (app: { readonly name: string; readonly namespace: string; readonly uid: string }) => OwnerReference;
  /** The confs, the template and the names of the executors of a run; undefined where its present spec makes none. */
  readonly basis: (context: ApplicationContext, driver: Driver) => ExecutorBasis | undefined;
  /** True where the status lists executors, and keeps the end of each. */
  readonly listsExecutors: boolean;
  /** True where Kueue admits its applications, and their growths. */
  readonly isQueued: boolean;
};

export type ApplicationContext = {
  readonly key: Key;
  readonly kind: RunKind;
  readonly view: View<Memory>;
  readonly object: Stored;
  readonly memory: Memory;
  /** The parsed `spec`, or the reason why it cannot be parsed. */
  readonly read: ParsedSpec;
  readonly settings: Settings;
  /** Information for `status.driverInfo` that this step has read. */
  readonly info?: Readonly<Record<string, unknown>>;
  /** The policies that the object's annotations ask for. */
  readonly policies: Policies;
};

export const policyOf = (context: ApplicationContext): RestartPolicy =>
  context.read.ok ? (context.read.spec.restartPolicy ?? {}) : {};

/** The part of the spec that an own run depends on. */
export const ownSpec = ({ options }: Pick<Settings, "options">): OwnSpec => (options.partialRestart ? "movable" : true);

/** Lists the executors: a second look, because the first list may have been behind. */
export const executorsAgain = ({ key, kind }: Pick<ApplicationContext, "key" | "kind">): Listing => ({
  do: "list",
  resource: pods,
  namespace: key.namespace,
  labels: { ...kind.podsOf(key.name), "spark-role": "executor" },
});

/** Gets the driver pod by its name. */
export const bodyOf = (key: Key, driver: Driver): Extract<Query, { do: "get" }> => ({
  do: "get",
  ref: { resource: pods, namespace: key.namespace, name: driver.podName },
});

/** The application of the leftovers. */
type Maker = Pick<ApplicationContext, "key"> & { readonly view: Pick<View<Memory>, "uid"> };

const madeOf = ({ key, view }: Maker, resource: Ref["resource"]): Listing => ({
  do: "list",
  resource,
  namespace: key.namespace,
  labels: { [appUidLabel]: view.uid },
  // Kueue may have been removed, and its objects with it.
  ...(resource === workloads ? { spared: true } : {}),
});

/** Lists the objects that submissions created beside driver pods; rare kinds only if the application had one. */
export const leftoversOf = (context: Maker & { readonly memory: Pick<Memory, "rare"> }): readonly Listing[] =>
  [...made, ...(context.memory.rare ?? []).map((name) => rareKinds[name])].map((resource) => madeOf(context, resource));

/** True for an object that was created for the application beside its pods. */
export const isMadeFor = (object: Stored, resource: Ref["resource"], uid: string): boolean =>
  resource === workloads ? isGrowthOf(object, uid) : ownedBy(object, uid);

/** Lists the auxiliary objects of one rare kind. */
export const rareOf = (context: ApplicationContext, name: RareKind): Listing => madeOf(context, rareKinds[name]);

/** Reads the pods with the application's name and sorts them. */
export function* readPods({ key, view, memory }: ApplicationContext): Reads<Pods> {
  return sortOut(yield* list(podsOf(key)), view.uid, memory.driver);
}

/** Deletes the object of this UID, whatever its resourceVersion; another object of that name stays. */
export const removal = (object: Stored, resource: Ref["resource"]): Effect => {
  const { name, namespace, uid } = object.metadata;
  return { do: "delete", ref: { resource, name, ...(namespace === undefined ? {} : { namespace }) }, uid };
};

/** Deletes strays, in every phase. */
export const endStrays = (found: Pods | undefined): readonly Effect[] =>
  notDeleted(found?.strays ?? []).map((pod) => removal(pod, pods));

/** The living executors that Rekindle created: no driver deletes them. Ended pods are kept for debugging. */
const ownLiving = (memory: Memory, { executors }: Pods): readonly Stored[] =>
  isOwnRun(memory)
    ? membersOf(executors)
        .filter(isLiving)
        .map(({ pod }) => pod)
    : [];

/**
 * Deletes a pod of an ended run. A list that is behind may show an executor alive whose end is on record, and whose pod is
 * kept for debugging: it is deleted only as it was seen.
 */
const endingOf = ({ executors }: Memory): ((pod: Stored) => Effect) => {
  const over = idsOf(executors?.over ?? "");
  return (pod) => (hasId(over, executorId(pod) ?? 0) ? judgedRemoval(pods, pod) : removal(pod, pods));
};

/** Deletes strays, and the pods of a run that is over or was given up, while they may still run. */
export const endOver = (memory: Memory, found: Pods): readonly Effect[] => {
  const { state } = memory;
  const given = "cause" in state && state.cause !== undefined && judged[state.cause];
  const driver = found.driver === undefined ? [] : [found.driver];
  const run = given ? [...driver, ...found.executors] : ownLiving(memory, found);
  return [...endStrays(found), ...notDeleted(run).map(endingOf(memory))];
};

/** The time, epoch ms, after which no creation of a save can arrive, neither of a driver nor of executors. */
export const settledAt = ({ memory, settings }: Pick<ApplicationContext, "memory" | "settings">): number =>
  Math.max(
    (memory.plannedAt ?? 0) + settings.settledMs,
    ...(memory.allotment?.underway ?? []).map((round) => settlesAt(round, settings.settledMs)),
  );

/**
 * The decision of one step of a SparkCluster: creates the objects that are missing, changes those whose spec has changed, and
 * deletes an autoscaler or a disruption budget that is no longer wanted. StatefulSets make the pods. Pure.
 */
import { all, type Decision, get, type Reads } from "../../core/decision.ts";
import { fieldsOf, mergePatch, omit } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { type Obj, type Ref, type Resource, refTo, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { type Effect, kindOf, type Next, type Plan, type View } from "../../core/plan.ts";
import { backoffOf } from "../../core/time.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until, type WaitingOn } from "../../core/waiting-on.ts";
import { isEnding, labelOf, ownedBy } from "../../kube/pods.ts";
import { podDisruptionBudgets, services, statefulSets } from "../../kube/resources.ts";
import { sentinelLabel } from "../apache/resource.ts";
import { unservedIn } from "../apache/spec/read.ts";
import { stateEvents } from "../apache/status/events.ts";
import { heldUpText, statusSaying } from "../apache/status/history.ts";
import {
  entered,
  hasEnded,
  isClusterState,
  type Memory,
  newestOf,
  parseMemory,
  recovery,
  remembered,
  type States,
  statesIn,
  submitted,
} from "./memory.ts";
import { type Cluster, clusterObjects, isScaled, specAnnotation } from "./objects.ts";
import { autoscalers, clusterFinalizer, parts } from "./parts.ts";
import { readCluster } from "./read.ts";
import { sparkClusters } from "./resource.ts";
import type { ClusterSpec } from "./schema.ts";
import { sparkClusterWatcher } from "./watches.ts";

/** A deployment's settings for all SparkClusters. */
export type Settings = {
  /** The value of the label `spark.operator/name`. */
  readonly operatorName: string;
};

type ClusterContext = {
  readonly object: Stored;
  readonly cluster: Cluster;
  readonly states: States;
  readonly view: View<Memory>;
};

const memoryOf = ({ view, states }: Pick<ClusterContext, "view" | "states">): Memory =>
  view.memory ?? remembered(states);

const nameOf = (effect: Effect): string => {
  if ("ref" in effect) return effect.ref.name;
  return effect.do === "create" ? effect.object.metadata.name : "";
};

const generationOf = ({ metadata }: Stored): number => metadata.generation ?? 0;

const placeOf = (kind: string, name: string): string => `${kind}/${name}`;

const resourceOf = (kind: string): Resource => parts.find((one) => one.kind === kind) ?? statefulSets;

const refOf = (resource: Resource, { namespace }: Cluster, name: string): Ref => ({ resource, namespace, name });

/** Fields of a StatefulSet that the API server lets nobody change. */
const fixed = ["selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"] as const;

/**
 * The spec that an object of the cluster gets when it differs: a StatefulSet keeps what cannot change, and the number of
 * workers that an autoscaler gave it.
 */
const changedSpec = (
  { cluster: { name, spec } }: ClusterContext,
  there: Stored,
  wanted: Obj,
): Readonly<Record<string, unknown>> => {
  const now = fieldsOf(there.spec);
  const next = fieldsOf(wanted.spec);
  if (there.kind !== statefulSets.kind) return next;
  const isCounted = isScaled(spec) && there.metadata.name === `${name}-worker`;
  return {
    ...omit(next, ...fixed),
    ...Object.fromEntries(fixed.flatMap((field) => (field in now ? [[field, now[field]]] : []))),
    ...(isCounted ? { replicas: now["replicas"] } : {}),
  };
};

const changeOf = (context: ClusterContext, there: Stored, wanted: Obj): Effect => {
  const { name, uid, resourceVersion } = there.metadata;
  const spec = mergePatch(fieldsOf(there.spec), changedSpec(context, there, wanted));
  const { labels = {}, annotations = {} } = wanted.metadata;
  return {
    do: "patch",
    ref: refOf(resourceOf(wanted.kind), context.cluster, name),
    ...{ uid, resourceVersion },
    patch: { metadata: { labels, annotations }, ...(spec === undefined ? {} : { spec }) },
  };
};

/** Creates a missing object, and patches one of another spec; the create refuses another owner's object. */
const kept = (context: ClusterContext, there: Stored | undefined, wanted: Obj): readonly Effect[] => {
  const owner = context.cluster.uid;
  if (there === undefined || !ownedBy(there, owner))
    return [{ do: "create", object: wanted, resource: resourceOf(wanted.kind), owner }];
  if (isEnding(there)) return [];
  const made = there.metadata.annotations?.[specAnnotation];
  return made === wanted.metadata.annotations?.[specAnnotation] ? [] : [changeOf(context, there, wanted)];
};

/** The objects of a cluster that not every spec has. */
const optional = ({ name }: Cluster): readonly (readonly [Resource, string])[] => [
  [autoscalers, `${name}-worker-hpa`],
  [podDisruptionBudgets, `${name}-worker-pdb`],
];

const readyOf = (set: Stored | undefined): number => {
  const ready = fieldsOf(set?.status)["readyReplicas"];
  return typeof ready === "number" ? ready : 0;
};

type Sets = { readonly master: Stored | undefined; readonly worker: Stored | undefined };

/** The message about how many parts of the cluster are ready; upstream's words once all are. */
const readiness = (
  spec: ClusterSpec,
  { master, worker }: Sets,
): { readonly isReady: boolean; readonly message: string } => {
  const { replicas } = fieldsOf(worker?.spec);
  const wanted = typeof replicas === "number" ? replicas : spec.clusterTolerations.instanceConfig.initWorkers;
  const [masters, workers] = [readyOf(master), readyOf(worker)];
  if (masters > 0 && worker !== undefined && workers >= wanted)
    return { isReady: true, message: "Cluster has reached ready state." };
  const ofMaster = masters > 0 ? "Master is ready" : "Master is not ready";
  return { isReady: false, message: `${ofMaster}, ${workers} of ${wanted} workers are ready.` };
};

/** The plan with the Events of all states that its status shows first: every plan with a status passes here. */
const reported = (view: View<Memory>, object: Stored, plan: Plan<Memory>): Plan<Memory> => {
  if (plan.status === undefined) return plan;
  const events = stateEvents(view, object, {
    resource: sparkClusters,
    entries: statesIn(plan.status) ?? [],
    warns: (summary) => summary === "SchedulingFailure",
  });
  return events.length === 0 ? plan : { ...plan, stages: [events, ...plan.stages] };
};

/** 5 s, 10 s, 20 s … 5 min: the wait before a refused object is sent again. */
const backoffMs = (before: number): number => backoffOf(before, 5_000, 300_000);

const untilAccepted = (wakeAt: number, message: string | undefined): Next => ({
  ...{ do: "wait", wakeAt, waitsFor: until("the refused object", "corrected", message) },
});

/** Refusals of the present spec; those of an earlier one count no more. */
const refusalsOf = ({ object, view }: ClusterContext): Memory["refused"] => {
  const refused = view.memory?.refused;
  return refused?.generation === generationOf(object) ? refused : undefined;
};

/** A refusal is shown once, and its object is sent again after a wait that grows, or with the next change of the spec. */
const refusedPlan = (context: ClusterContext, message: string): Plan<Memory> => {
  const { object, states, view } = context;
  const times = (refusalsOf(context)?.times ?? 0) + 1;
  const refused = { times, generation: generationOf(object), retryAt: view.now + backoffMs(times - 1) };
  const memory = remembered(entered(states, "SchedulingFailure", message, view.now), refused);
  return {
    memory,
    stages: [],
    status: memory.status,
    next: untilAccepted(refused.retryAt, message),
  };
};

/** The order of effects: Services first, then the StatefulSets, then the rest. */
const staged = (effects: readonly Effect[]): readonly (readonly Effect[])[] => {
  const first = [services.kind, statefulSets.kind];
  const rest = effects.filter((effect) => !first.includes(kindOf(effect)));
  return [...first.map((kind) => effects.filter((effect) => kindOf(effect) === kind)), rest].filter(
    (stage) => stage.length > 0,
  );
};

/** Deletes what an earlier spec had and this one has not. */
const surplusOf = (
  { cluster }: ClusterContext,
  found: ReadonlyMap<string, Stored>,
  wanted: readonly Obj[],
): readonly Effect[] => {
  const places = new Set(wanted.map(({ kind, metadata }) => placeOf(kind, metadata.name)));
  return optional(cluster)
    .filter(([{ kind }, name]) => !places.has(placeOf(kind, name)))
    .flatMap(([resource, name]): readonly Effect[] => {
      const there = found.get(placeOf(resource.kind, name));
      return there === undefined || !ownedBy(there, cluster.uid) || isEnding(there)
        ? []
        : [{ do: "delete", ref: refOf(resource, cluster, name), uid: there.metadata.uid }];
    });
};

/** True for the same write of a step that decides again. */
const isSame = (one: Effect, other: Effect): boolean =>
  one.do === other.do && kindOf(one) === kindOf(other) && nameOf(one) === nameOf(other);

/**
 * The state follows once the step has made its changes: a record that said before that the cluster runs would be wrong where
 * one of them is refused.
 */
const planOf = (context: ClusterContext, found: ReadonlyMap<string, Stored>, wanted: readonly Obj[]): Plan<Memory> => {
  const { cluster, states, view } = context;
  const set = (role: string) => found.get(placeOf(statefulSets.kind, `${cluster.name}-${role}`));
  const { isReady, message } = readiness(cluster.spec, { master: set("master"), worker: set("worker") });
  const waitsFor: WaitingOn = isReady ? { on: "clients" } : until("its master and workers", "started");
  const changes = [
    ...wanted.flatMap((one) => kept(context, found.get(placeOf(one.kind, one.metadata.name)), one)),
    ...surplusOf(context, found, wanted),
  ].filter((effect) => !(view.done ?? []).some((one) => isSame(one, effect)));
  if (changes.length > 0) {
    const memory = memoryOf(context);
    return { memory, stages: staged(changes), status: memory.status, next: { do: "continue", waitsFor } };
  }
  const memory = remembered(entered(states, "RunningHealthy", message, view.now));
  return {
    memory,
    stages: [],
    status: memory.status,
    next: { do: "wait", waitsFor },
  };
};

/** Removes upstream's finalizer from a cluster under deletion; its objects go with their owner. */
const leave = (object: Stored, memory: Memory): Plan<Memory> => {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((name) => name !== clusterFinalizer);
  const patch: Effect = {
    do: "patch",
    ref: refTo(sparkClusters, object),
    ...{ uid, resourceVersion, patch: { metadata: { finalizers: others } } },
  };
  return {
    memory,
    stages: others.length === finalizers.length ? [] : [[patch]],
    next: { do: "wait", waitsFor: { on: "deletion" } },
  };
};

/** Suspension holds the creation alone: a cluster that has its StatefulSets is not touched. */
const held = (memory: Memory): Plan<Memory> => ({
  memory,
  stages: [],
  next: { do: "rest", waitsFor: { on: "field", path: "spec.suspend", value: "false" } },
});

/** A spec that is refused rests until its user changes it; a refusal of the API server is tried again. */
const invalid = (states: States, message: string, now: number): Plan<Memory> => {
  const memory = remembered(entered(states, "SchedulingFailure", message, now));
  return { memory, stages: [], status: memory.status, next: { do: "rest", waitsFor: until("its spec", "corrected") } };
};

/** The objects of the cluster that exist, by kind and name; also those that this spec no longer has. */
function* readParts({ cluster }: ClusterContext, wanted: readonly Obj[]): Reads<ReadonlyMap<string, Stored>> {
  const places = new Map([
    ...optional(cluster).map(
      ([resource, name]) => [placeOf(resource.kind, name), refOf(resource, cluster, name)] as const,
    ),
    ...wanted.map(
      ({ kind, metadata: { name } }) => [placeOf(kind, name), refOf(resourceOf(kind), cluster, name)] as const,
    ),
  ]);
  const answers = yield* all([...places.values()].map((ref) => get({ do: "get", ref })));
  return new Map(
    [...places.keys()].flatMap((place, index): readonly (readonly [string, Stored])[] => {
      const there = answers[index];
      return there === undefined ? [] : [[place, there]];
    }),
  );
}

function* decideSpec(context: ClusterContext, memory: Memory): Decision<Memory> {
  const { cluster, view, states } = context;
  const refusal = view.refused[0]?.message;
  if (refusal !== undefined) return refusedPlan(context, refusal);
  const retryAt = refusalsOf(context)?.retryAt ?? 0;
  if (view.now < retryAt)
    return { memory, stages: [], status: memory.status, next: untilAccepted(retryAt, newestOf(states).message) };
  const wanted = clusterObjects(cluster);
  const found = yield* readParts(context, wanted);
  const isMade = [...found.values()].some((one) => one.kind === statefulSets.kind && ownedBy(one, cluster.uid));
  return cluster.spec.suspend === true && !isMade ? held(memory) : planOf(context, found, wanted);
}

/** Decides one step of a cluster. It owns its objects, so that garbage collection deletes them. */
export function* decide({ operatorName }: Settings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object, now, uid } = view;
  const states = statesIn(view.memory?.status ?? object?.status) ?? submitted(now);
  const memory = view.memory ?? remembered(states);
  if (object === undefined) return { memory, stages: [], next: { do: "forget" } };
  if (isEnding(object)) return leave(object, memory);
  if (labelOf(object, sentinelLabel) === "true")
    return { memory, stages: [], next: { do: "rest" }, safety: { statusIsRecord: true } };
  if (hasEnded(states))
    return reported(view, object, { memory, stages: [], status: memory.status, next: { do: "rest" } });
  const read = readCluster(object);
  if (!read.ok) return reported(view, object, invalid(states, read.message, now));
  const unserved = unservedIn(object, "cluster");
  if (unserved.length > 0) return reported(view, object, invalid(states, unserved.join("; "), now));
  const cluster: Cluster = { name: key.name, namespace: key.namespace, uid, spec: read.spec, operatorName };
  return reported(view, object, yield* decideSpec({ object, cluster, states, view }, memory));
}

/** Returns the status of the plan, or else the one shown, with the trouble; the reason of a SchedulingFailure stays. */
const heldUp = (
  object: Stored,
  message: string,
  planned?: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined =>
  statusSaying(planned ?? fieldsOf(object.status), heldUpText(message), {
    isState: isClusterState,
    stays: (summary) => !["Submitted", "RunningHealthy"].includes(summary),
  });

/** The update of a cluster's plan for its listener: no state of it is terminal. */
export const statusUpdate = ({ memory }: Plan<Memory>): StateUpdate | undefined => {
  const states = statesIn(memory.status);
  return states === undefined ? undefined : { state: newestOf(states).summary, attempt: 0, terminal: false };
};

/** The operator of SparkClusters under the given settings. */
export const sparkClusterOf = (settings: Settings): Operator<Memory> => ({
  ...sparkClusterWatcher,
  parse: parseMemory,
  statusUpdate,
  recovery,
  heldUp,
  decide: (key, view) => decide(settings, key, view),
});

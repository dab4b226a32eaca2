/**
 * One pod of a job as upstream creates it, before its plugins: template, owner, labels and annotations; and the small
 * changes that plugins make to it before its creation. Nothing is changed in place.
 */
import { isRecord } from "../../core/json.ts";
import type { Metadata } from "../../core/object.ts";
import { queueGate } from "../../kube/admission.ts";
import { type GangTopology, keptTo } from "../../kube/gang-topology.ts";
import { type Placement, withPlacement } from "../../kube/kueue-placement.ts";
import { pinned } from "../../kube/nodes.ts";
import type { Json } from "../../kube/responses.ts";
import { keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, type Task } from "../schema/spec.ts";
import {
  groupName,
  nativeGroupName,
  type Owner,
  ownerReference,
  podName,
  volcanoScheduler,
  volumeName,
} from "./names.ts";

export type Draft = { readonly metadata: Metadata; readonly spec: Json; readonly [field: string]: unknown };

const listIn = (value: Json, field: string): readonly unknown[] => {
  const list = value[field];
  return Array.isArray(list) ? list : [];
};

/** Returns the value with items appended to one of its lists. */
export const appended = (value: Json, field: string, items: readonly unknown[]): Json =>
  items.length === 0 ? value : { ...value, [field]: [...listIn(value, field), ...items] };

/** Changes every container of the named lists. */
export const inContainers = (
  draft: Draft,
  change: (container: Json) => Json,
  lists: readonly string[] = ["containers"],
): Draft => {
  const changed = lists.flatMap((list) => {
    const containers = draft.spec[list];
    if (!Array.isArray(containers)) return [];
    return [[list, containers.map((one) => (isRecord(one) ? change(one) : one))]];
  });
  return { ...draft, spec: { ...draft.spec, ...Object.fromEntries(changed) } };
};

export const everywhere: readonly string[] = ["containers", "initContainers"];

/** Appends variables to each container's own: of two with one name the last counts. */
export const withEnv = (draft: Draft, env: readonly Json[], lists?: readonly string[]): Draft =>
  inContainers(draft, (container) => appended(container, "env", env), lists);

/** Adds a volume and mounts it into every container. */
export const withVolume = (draft: Draft, volume: Json, mount: Json): Draft => {
  const mounted = inContainers(draft, (container) => appended(container, "volumeMounts", [mount]), everywhere);
  return { ...mounted, spec: appended(mounted.spec, "volumes", [volume]) };
};

/** Adds a port to the container, unless it has one of this number. */
export const withPort = (container: Json, name: string, containerPort: number): Json => {
  const taken = listIn(container, "ports").some((port) => isRecord(port) && port["containerPort"] === containerPort);
  return taken ? container : appended(container, "ports", [{ name, containerPort }]);
};

/** The input of a pod. */
export type PodInput = {
  readonly owner: Owner;
  readonly spec: JobSpec;
  /** The job's own labels and annotations, some of which its pods inherit. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly version: number;
  readonly retryCount: number;
  /** The group that its pods belong to; absent: `<job>-<uid>`. */
  readonly group?: string;
  /** The scheduler of pods that would go to Volcano's scheduler, where that does not run. */
  readonly placer?: string;
  /** The job's queue sends its pods to other clusters. */
  readonly forwarding: boolean;
  /** Returns the nodes of a task's first pods, while the plan of the group stands. */
  readonly nodesOf?: (task: string) => readonly string[];
  /** The nodes that pods without such a node keep to; absent: any. */
  readonly topology?: GangTopology;
  /** The pods name the PodGroup of Kubernetes of their version. */
  readonly isNative?: boolean;
  /** Additions of Kueue's admission to the pods of each task. */
  readonly placements?: ReadonlyMap<string, Placement>;
};

type Texts = Readonly<Record<string, string>>;

const only = (texts: Texts, names: readonly string[]): Texts =>
  Object.fromEntries(names.flatMap((name) => (texts[name] === undefined ? [] : [[name, texts[name]]])));

/** A disruption budget is given by minAvailable, or else by maxUnavailable. */
const budgetKeys = ({ annotations }: PodInput): readonly string[] =>
  annotations[keys.jdbMinAvailable] === undefined ? [keys.jdbMaxUnavailable] : [keys.jdbMinAvailable];

const inherited = (input: PodInput): Texts =>
  only(input.annotations, [keys.preemptable, keys.cooldown, keys.revocableZone, ...budgetKeys(input)]);

const forwarded = ({ forwarding }: PodInput): Texts => (forwarding ? { [keys.forwarding]: "true" } : {});

const annotationsOf = (input: PodInput, task: Task, index: number): Texts => ({
  ...task.template?.metadata?.annotations,
  [keys.taskIndex]: `${index}`,
  [keys.taskSpec]: nameOf(task),
  [keys.group]: input.group ?? groupName(input.owner),
  [keys.jobName]: input.owner.name,
  [keys.queueName]: input.spec.queue ?? "",
  [keys.jobVersion]: `${input.version}`,
  [keys.template]: `${input.owner.name}-${nameOf(task)}`,
  [keys.retryCount]: `${input.retryCount}`,
  ...((task.topologyPolicy ?? "") === "" ? {} : { [keys.numaPolicy]: task.topologyPolicy ?? "" }),
  ...forwarded(input),
  ...inherited(input),
});

/** Returns the partition of a pod; undefined if its task has none. */
export const partitionOf = ({ partitionPolicy }: Task, index: number): string | undefined => {
  if (partitionPolicy === undefined) return undefined;
  const size = partitionPolicy.partitionSize ?? 0;
  return size <= 0 ? "0" : `${Math.floor(index / size)}`;
};

const labelsOf = (input: PodInput, task: Task, index: number): Texts => {
  const partition = partitionOf(task, index);
  return {
    ...task.template?.metadata?.labels,
    [keys.taskIndex]: `${index}`,
    [keys.jobName]: input.owner.name,
    [keys.taskSpec]: nameOf(task),
    [keys.jobNamespace]: input.owner.namespace,
    [keys.queueName]: input.spec.queue ?? "",
    ...only(input.labels, [keys.preemptable, keys.cooldown]),
    ...forwarded(input),
    ...(partition === undefined ? {} : { [keys.partition]: partition }),
  };
};

const metadataOf = (input: PodInput, task: Task, index: number): Metadata => ({
  name: podName(input.owner.name, nameOf(task), index),
  namespace: input.owner.namespace,
  labels: labelsOf(input, task, index),
  annotations: annotationsOf(input, task, index),
  ownerReferences: [ownerReference(input.owner)],
});

/**
 * Removes the gate that Volcano's scheduler removes: where another scheduler places the pod, its queue had room before
 * the pod was created.
 */
const ungated = (spec: Json): Json => {
  const { schedulingGates: gates, ...rest } = spec;
  if (!Array.isArray(gates)) return spec;
  const others = gates.filter((gate) => !(isRecord(gate) && gate["name"] === queueGate));
  return others.length === 0 ? rest : { ...rest, schedulingGates: others };
};

const unset = (value: unknown): boolean => value === undefined || value === "";

const placedBy = (name: unknown, { placer }: PodInput): Json => {
  if (unset(name)) return {};
  return { schedulerName: name === volcanoScheduler && placer !== undefined ? placer : name };
};

const scheduled = (task: Task, input: PodInput): Json => {
  const { schedulerName, priorityClassName }: JobSpec = input.spec;
  const given = task.template?.spec ?? {};
  const own = input.placer === undefined ? given : ungated(given);
  const scheduler = placedBy(unset(own["schedulerName"]) ? schedulerName : own["schedulerName"], input);
  const priority = unset(own["priorityClassName"]) && !unset(priorityClassName) ? { priorityClassName } : {};
  return { ...own, ...scheduler, ...priority };
};

const placed = (spec: Json, { nodesOf, topology }: PodInput, task: Task, index: number): Json => {
  const node = nodesOf?.(nameOf(task))[index];
  if (node !== undefined) return pinned(spec, node);
  return topology === undefined ? spec : keptTo(spec, topology, nameOf(task), partitionOf(task, index));
};

const together = (spec: Json, { isNative, owner, version }: PodInput): Json =>
  isNative === true ? { ...spec, schedulingGroup: { podGroupName: nativeGroupName(owner, version) } } : spec;

/** Mounts each claim once, however often the job names it. */
const claimed = (draft: Draft, { owner, spec }: PodInput): Draft => {
  const taken = new Set<string>();
  return (spec.volumes ?? []).reduce((before, { volumeClaimName: claim = "", mountPath = "" }) => {
    if (claim === "" || taken.has(claim)) return before;
    taken.add(claim);
    const name = volumeName(owner, claim);
    return withVolumeOf(before, name, claim, mountPath);
  }, draft);
};

const withVolumeOf = (draft: Draft, name: string, claimName: string, mountPath: string): Draft => {
  const { initContainers, ...main } = draft.spec;
  const mounted = withVolume(
    { ...draft, spec: main },
    { name, persistentVolumeClaim: { claimName } },
    { name, mountPath },
  );
  return initContainers === undefined ? mounted : { ...mounted, spec: { ...mounted.spec, initContainers } };
};

export const podDraft = (input: PodInput, task: Task, index: number): Draft => {
  const draft: Draft = {
    metadata: metadataOf(input, task, index),
    spec: together(placed(scheduled(task, input), input, task, index), input),
  };
  return claimed(withPlacement(draft, input.placements?.get(nameOf(task))), input);
};

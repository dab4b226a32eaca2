/** One pod of a job as upstream creates it, before its plugins: template, owner, labels and annotations. */
import { isRecord } from "../../core/json.ts";
import type { Metadata } from "../../core/object.ts";
import { queueGate } from "../../kube/admission.ts";
import { pinned } from "../../kube/nodes.ts";

import { keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, type Task } from "../schema/spec.ts";
import { type Draft, withVolume } from "./draft.ts";
import { groupName, type Owner, ownerReference, podName, volcanoScheduler, volumeName } from "./names.ts";

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
const ungated = (spec: Draft["spec"]): Draft["spec"] => {
  const { schedulingGates: gates, ...rest } = spec;
  if (!Array.isArray(gates)) return spec;
  const others = gates.filter((gate) => !(isRecord(gate) && gate["name"] === queueGate));
  return others.length === 0 ? rest : { ...rest, schedulingGates: others };
};

const unset = (value: unknown): boolean => value === undefined || value === "";

const placedBy = (name: unknown, { placer }: PodInput): Draft["spec"] => {
  if (unset(name)) return {};
  return { schedulerName: name === volcanoScheduler && placer !== undefined ? placer : name };
};

const scheduled = (task: Task, input: PodInput): Draft["spec"] => {
  const { schedulerName, priorityClassName }: JobSpec = input.spec;
  const given = task.template?.spec ?? {};
  const own = input.placer === undefined ? given : ungated(given);
  const scheduler = placedBy(unset(own["schedulerName"]) ? schedulerName : own["schedulerName"], input);
  const priority = unset(own["priorityClassName"]) && !unset(priorityClassName) ? { priorityClassName } : {};
  return { ...own, ...scheduler, ...priority };
};

const placed = (spec: Draft["spec"], { nodesOf }: PodInput, task: Task, index: number): Draft["spec"] => {
  const node = nodesOf?.(nameOf(task))[index];
  return node === undefined ? spec : pinned(spec, node);
};

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

export const podDraft = (input: PodInput, task: Task, index: number): Draft =>
  claimed(
    {
      metadata: metadataOf(input, task, index),
      spec: placed(scheduled(task, input), input, task, index),
    },
    input,
  );

/**
 * The units of pods that may be evicted: single pods beyond the minimum of their group, and whole groups. Only groups that
 * Rekindle has admitted, and whose plan has ended, give room. Pods with `volcano.sh/preemptable: "false"`, pods of
 * system-critical classes and pods of kube-system stay. As volcano's plugins gang, priority and conformance.
 */
import { fieldsOf } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { instantOf } from "../../../core/time.ts";
import { evictedOf } from "../../../kube/gang-eviction.ts";
import { phaseOf, placer, planOf, scheduledByKey } from "../../../kube/gang-plan.ts";
import { type Amounts, merged } from "../../../kube/pod-usage.ts";
import { isEnding, isOver, nodeNameOf, podStatus } from "../../../kube/pods.ts";
import { specOf } from "../../queue/state/tree.ts";
import { keys } from "../../schema/resource.ts";
import { needsOf } from "../needs.ts";
import { demandOf, type Jobs, jobOwnerOf, statedMembers } from "../outlines.ts";
import { isCritical } from "../pod-outlines.ts";

/** Pods that are evicted together. */
export type Unit = {
  readonly group: Stored;
  /** The value of the group's priority class. */
  readonly priority: number;
  readonly isWhole: boolean;
  readonly pods: readonly Stored[];
  /** The needs of those of its pods that have nodes. */
  readonly needs: Amounts;
};

/** The priority classes that groups name. */
export type Classes = {
  readonly values: ReadonlyMap<string, number>;
  /** Names of the classes whose pods displace no others. */
  readonly peaceful: ReadonlySet<string>;
};

/** Returns the priority of a group; undefined if its class is unknown. */
export const priorityOf = (group: Stored, { values }: Classes): number | undefined => {
  const { priorityClassName } = specOf(group);
  return typeof priorityClassName === "string" && priorityClassName !== "" ? values.get(priorityClassName) : 0;
};

/** True for a group that may give room at all. */
export const isVictim = (group: Stored): boolean => {
  const { annotations = {}, namespace } = group.metadata;
  return (
    annotations[scheduledByKey] === placer &&
    annotations[keys.preemptable] !== "false" &&
    namespace !== "kube-system" &&
    ["Running", "Unknown"].includes(phaseOf(group)) &&
    planOf(group) === undefined &&
    evictedOf(group) === undefined &&
    !isEnding(group) &&
    (jobOwnerOf(group) !== undefined || statedMembers(group) !== undefined)
  );
};

const isFixed = ({ metadata, spec }: Stored): boolean =>
  metadata.annotations?.[keys.preemptable] === "false" || isCritical(fieldsOf(spec));

/** Returns the ordinal at the end of a pod's name. */
export const ordinalOf = ({ metadata: { name } }: Stored): number => {
  const ordinal = Number(name.slice(name.lastIndexOf("-") + 1));
  return Number.isSafeInteger(ordinal) && ordinal >= 0 ? ordinal : 0;
};

export const taskOf = ({ metadata }: Stored): string => metadata.annotations?.[keys.taskSpec] ?? "";

const unitOf = (group: Stored, priority: number, isWhole: boolean, pods: readonly Stored[]): Unit => ({
  ...{ group, priority, isWhole, pods },
  needs: pods
    .filter((pod) => nodeNameOf(pod) !== undefined)
    .reduce<Amounts>((sum, { spec }) => merged(sum, needsOf(fieldsOf(spec))), new Map()),
});

/** Returns the pods with nodes of a Job's group that its minimum does not need, the highest ordinals of each task. */
const surplusOf = (group: Stored, pods: readonly Stored[], jobs: Jobs): readonly Stored[] => {
  const demand = jobOwnerOf(group) === undefined ? undefined : demandOf(group, jobs);
  if (demand?.is !== "planned") return [];
  return demand.parts.flatMap(({ task, least }) =>
    pods
      .filter((pod) => taskOf(pod) === task && nodeNameOf(pod) !== undefined && !isEnding(pod))
      .sort((a, b) => ordinalOf(b) - ordinalOf(a))
      .slice(0, -least || undefined),
  );
};

const unitsIn = (group: Stored, priority: number, all: readonly Stored[], jobs: Jobs): readonly Unit[] => {
  const pods = all.filter((pod) => !isOver(podStatus(pod)));
  const single = surplusOf(group, pods, jobs)
    .filter((pod) => !isFixed(pod))
    .map((pod) => unitOf(group, priority, false, [pod]));
  return pods.length === 0 || pods.some(isFixed) ? single : [...single, unitOf(group, priority, true, pods)];
};

const createdAt = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

/** Compares units: pods beyond minima first, then the lowest priority, then the youngest group. */
const byWorth = (a: Unit, b: Unit): number =>
  Number(a.isWhole) - Number(b.isWhole) ||
  a.priority - b.priority ||
  createdAt(b.group) - createdAt(a.group) ||
  (a.group.metadata.uid < b.group.metadata.uid ? -1 : 1);

type Given = {
  readonly groups: readonly Stored[];
  readonly podsOf: (group: Stored) => readonly Stored[];
  readonly jobs: Jobs;
  readonly classes: Classes;
};

/** Returns all units in the order in which they are evicted. A group of an unknown priority gives none. */
export const unitsOf = ({ groups, podsOf, jobs, classes }: Given): readonly Unit[] =>
  groups
    .filter(isVictim)
    .flatMap((group) => {
      const priority = priorityOf(group, classes);
      return priority === undefined ? [] : unitsIn(group, priority, podsOf(group), jobs);
    })
    .sort(byWorth);

/**
 * The groups from whose units a waiting group may get room. It preempts groups of its own queue with a lower priority. It
 * reclaims from another queue what that has beyond what it deserves, and never the other queue's guarantee, while its own
 * queue has less than it deserves. As volcano's actions preempt and reclaim, with the plugin capacity. A queue that does not
 * state what it deserves deserves nothing in particular.
 */
import { fieldsOf } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { phaseOf } from "../../../kube/gang-plan.ts";
import { type Amounts, amountsIn, merged } from "../../../kube/pod-usage.ts";
import { isEnding, isOver, nodeNameOf, podStatus } from "../../../kube/pods.ts";
import { larger, type Quantity } from "../../../kube/quantity.ts";
import { lineOf, queueOfGroup, specOf } from "../../queue/state/tree.ts";
import type { Part } from "../fit.ts";
import { openDues } from "../ledger.ts";
import { needsOf } from "../needs.ts";
import type { Classes, Unit } from "./victims.ts";
import { priorityOf } from "./victims.ts";

export type Claimant = { readonly group: Stored; readonly parts: readonly Part[] };

const nanoOf = (amounts: Amounts, name: string): bigint => amounts.get(name)?.nano ?? 0n;

const requestOf = (parts: readonly Part[]): ReadonlyMap<string, bigint> => {
  const sum = new Map<string, bigint>();
  for (const { needs, least } of parts)
    for (const [name, { nano }] of needs) sum.set(name, (sum.get(name) ?? 0n) + nano * BigInt(least));
  return sum;
};

const neverDisplaces = (part: Part, { peaceful }: Classes): boolean =>
  part.spec["preemptionPolicy"] === "Never" || peaceful.has(String(part.spec["priorityClassName"] ?? ""));

/** True if pods of this group displace others at all. */
export const isClaimant = ({ group, parts }: Claimant, classes: Classes): boolean =>
  priorityOf(group, classes) !== undefined &&
  !classes.peaceful.has(String(specOf(group)["priorityClassName"] ?? "")) &&
  !parts.some((part) => neverDisplaces(part, classes));

/** Returns the units that the group preempts. */
export const preemptible = ({ group }: Claimant, units: readonly Unit[], classes: Classes): readonly Unit[] => {
  const own = priorityOf(group, classes) ?? 0;
  return units.filter((unit) => queueOfGroup(unit.group) === queueOfGroup(group) && unit.priority < own);
};

type Given = {
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly podsOf: (group: Stored) => readonly Stored[];
  /** UIDs of pods that are about to be evicted. */
  readonly leaving: ReadonlySet<string>;
  /** UIDs of groups that get the room of evicted pods. */
  readonly nominated: ReadonlySet<string>;
};

/** The amounts that a group has: of its pods with nodes, and at least its minimum while it gets them. */
const allocatedTo = (group: Stored, { podsOf, leaving, nominated }: Given): Amounts => {
  const bound = podsOf(group).filter(
    (pod) =>
      nodeNameOf(pod) !== undefined && !isOver(podStatus(pod)) && !isEnding(pod) && !leaving.has(pod.metadata.uid),
  );
  const sum = bound.reduce<Amounts>((all, { spec }) => merged(all, needsOf(fieldsOf(spec))), new Map());
  const starts = phaseOf(group) === "Inqueue" || nominated.has(group.metadata.uid);
  return starts ? merged(sum, amountsIn(specOf(group)["minResources"]), larger) : sum;
};

/** The amounts that groups have in each queue and below it. */
const allocatedIn = (given: Given, queues: ReadonlyMap<string, Stored>): Map<string, Amounts> => {
  const held = new Map<string, Amounts>();
  for (const group of given.groups) {
    const own = allocatedTo(group, given);
    if (own.size === 0) continue;
    for (const { metadata } of lineOf(queueOfGroup(group), queues))
      held.set(metadata.name, merged(held.get(metadata.name) ?? new Map(), own));
  }
  return held;
};

const minus = (amounts: Amounts, needs: Amounts): Amounts =>
  merged(amounts, needs, (one: Quantity, other: Quantity) => ({ ...one, nano: one.nano - other.nano }));

/** Makes the function that returns the units that a group reclaims, each valid after those before it. */
export const openReclaim = (given: Given): ((claimant: Claimant, units: readonly Unit[]) => readonly Unit[]) => {
  const queues = new Map(given.queues.map((queue) => [queue.metadata.name, queue]));
  const held = allocatedIn(given, queues);
  const dues = openDues(given.queues);

  const isBelow = (line: readonly Stored[], request: ReadonlyMap<string, bigint>): boolean => {
    const own = held.get(line[0]?.metadata.name ?? "") ?? new Map();
    const asked = [...dues(line)].filter(([name]) => (request.get(name) ?? 0n) > 0n);
    return (
      asked.length > 0 &&
      asked.every(([name, { deserved }]) => nanoOf(own, name) + (request.get(name) ?? 0n) <= deserved.nano)
    );
  };

  /** True if a queue has more than it deserves of something that the unit has and the claimant needs. */
  const isBeyond = (
    line: readonly Stored[],
    has: Amounts,
    needs: Amounts,
    request: ReadonlyMap<string, bigint>,
  ): boolean => {
    const due = dues(line);
    const isOpen = [...due.values()].every(({ isStated }) => !isStated);
    return [...needs].some(([name, { nano }]) => {
      if (nano <= 0n || (request.get(name) ?? 0n) <= 0n) return false;
      const one = due.get(name);
      if (one === undefined) return isOpen && name !== "pods";
      return nanoOf(has, name) > one.deserved.nano;
    });
  };

  const keepsGuarantee = (line: readonly Stored[], has: Amounts, needs: Amounts): boolean =>
    [...dues(line)].every(
      ([name, { guarantee }]) => nanoOf(needs, name) <= 0n || nanoOf(has, name) - nanoOf(needs, name) >= guarantee.nano,
    );

  return ({ group, parts }, units) => {
    const own = lineOf(queueOfGroup(group), queues);
    const request = requestOf(parts);
    if (!isBelow(own, request)) return [];
    const left = new Map(held);
    const singles = new Map<string, Amounts>();
    const hasOf = ({ metadata }: Stored): Amounts => left.get(metadata.name) ?? new Map();
    /** A whole group has its single pods, too: they count once. */
    const needsOfUnit = ({ group: one, isWhole, needs }: Unit): Amounts =>
      isWhole ? minus(needs, singles.get(one.metadata.uid) ?? new Map()) : needs;
    const mayTake = (line: readonly Stored[], needs: Amounts): boolean => {
      const others = line.filter((queue) => !own.includes(queue));
      const [queue] = others;
      if (queue === undefined || queue !== line[0] || specOf(queue)["reclaimable"] === false) return false;
      const isKept = others.every((one, at) => keepsGuarantee(others.slice(at), hasOf(one), needs));
      return isKept && isBeyond(line, hasOf(queue), needs, request);
    };
    return units.filter((unit) => {
      const line = lineOf(queueOfGroup(unit.group), queues);
      const needs = needsOfUnit(unit);
      if (!mayTake(line, needs)) return false;
      for (const one of line) left.set(one.metadata.name, minus(hasOf(one), needs));
      const { uid } = unit.group.metadata;
      if (!unit.isWhole) singles.set(uid, merged(singles.get(uid) ?? new Map(), needs));
      return true;
    });
  };
};

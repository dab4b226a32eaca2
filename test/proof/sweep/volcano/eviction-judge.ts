/**
 * The invariants of evictions for groups, judged from objects alone. All pods of a scenario are of one size, and each group
 * needs all of its pods.
 *
 * E1. A running pod of a group that waits again has ended by the Eviction API alone, and its group was marked before.
 * E2. For a group no more pods are evicted than it has.
 * E3. In its own queue a group gets room only from lower priorities.
 * E4. From another queue a group gets room only if that queue has more than it deserves when its group is marked.
 * E5. While a group waits for the room of evicted pods, no other group gets a place on their nodes.
 * E6. A group that was evicted gets a plan only when none of its pods is left.
 * E7. No pod of an evicted group is created while the group waits, from 20 s after its mark on.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Actor, Oracle } from "../oracle.ts";
import type { Scenario } from "../scenario.ts";

type Item = Change["object"];

type Group = {
  readonly name: string;
  readonly queue: string;
  readonly priority: number;
  readonly size: number;
  readonly isWaiting: boolean;
  readonly nodes: readonly string[];
  /** The name of the group that gets its room. */
  readonly by: string;
  readonly markedAt: number;
};

type Pod = {
  readonly name: string;
  readonly group: string;
  readonly node: string;
  readonly cpu: number;
  readonly isOver: boolean;
};

type Facts = {
  violations: string[];
  priorities: Map<string, number>;
  deserved: Map<string, number>;
  groups: Map<string, Group>;
  pods: Map<string, Pod>;
  /** By the UID of an evicted pod: the group that gets its room, and its node. */
  evicted: Map<string, { readonly by: string; readonly node: string }>;
};

const unseenMs = 20_000;
/** A nomination ends after ten minutes. */
const mostMs = 600_000;

const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const annotationOf = ({ metadata }: Item, name: string): unknown => {
  const text = metadata.annotations?.[`rekindle.dev/${name}`];
  return text === undefined ? undefined : JSON.parse(text);
};

const groupOf = ({ priorities }: Facts, object: Item): Group => {
  const mark = annotationOf(object, "evicted");
  const places = Object.values(Object(at(annotationOf(object, "plan"), "places")));
  return {
    name: object.metadata.name,
    queue: textAt(object, "spec", "queue") || "default",
    priority: priorities.get(textAt(object, "spec", "priorityClassName") ?? "") ?? 0,
    size: Number(at(object, "spec", "minMember") ?? 0),
    isWaiting: ["", "Pending"].includes(textAt(object, "status", "phase") ?? ""),
    nodes: places.flatMap((nodes) => Object.keys(Object(nodes))),
    by: (textAt(mark, "by") ?? "").split("/").at(-1) ?? "",
    markedAt: Date.parse(textAt(mark, "at") ?? "") || 0,
  };
};

const podsOf = ({ pods }: Facts, group: string): readonly Pod[] =>
  [...pods.values()].filter((pod) => pod.group === group && !pod.isOver);

/** E3 and E4, when a group is marked. */
const checkMark = (facts: Facts, group: Group): void => {
  const claimant = facts.groups.get(group.by);
  if (claimant === undefined) return;
  if (claimant.queue === group.queue) {
    if (claimant.priority <= group.priority)
      facts.violations.push(`E3: ${group.name} gives room to ${claimant.name}, whose priority is not higher`);
    return;
  }
  const has = [...facts.groups.values()]
    .filter(({ queue }) => queue === group.queue)
    .flatMap(({ name }) => podsOf(facts, name))
    .reduce((sum, { cpu, node }) => sum + (node === "" ? 0 : cpu), 0);
  const deserved = facts.deserved.get(group.queue) ?? 0;
  if (has <= deserved)
    facts.violations.push(`E4: ${group.name} gives room, and its queue has ${has} cpu and deserves ${deserved}`);
};

/** E5 and E6, when a group gets a plan. */
const checkPlan = (facts: Facts, group: Group, before: Group | undefined, now: number): void => {
  for (const { by, node } of facts.evicted.values()) {
    const waiting = facts.groups.get(by);
    if (by === group.name || waiting?.isWaiting !== true || !group.nodes.includes(node)) continue;
    const marks = [...facts.groups.values()].filter((one) => one.by === by).map(({ markedAt }) => markedAt);
    if (marks.some((markedAt) => now - markedAt < mostMs))
      facts.violations.push(`E5: ${group.name} gets a place on ${node}, whose pods were evicted for ${by}`);
  }
  const left = podsOf(facts, group.name).length;
  if (before !== undefined && before.by !== "" && left > 0)
    facts.violations.push(`E6: ${group.name} gets a plan beside ${left} of its evicted pods`);
};

const hearGroup = (facts: Facts, { type, object }: Change, now: number): void => {
  const { name } = object.metadata;
  const before = facts.groups.get(name);
  if (type === "DELETED") {
    facts.groups.delete(name);
    return;
  }
  const group = groupOf(facts, object);
  facts.groups.set(name, group);
  if (group.by !== "" && group.by !== before?.by) checkMark(facts, group);
  if (group.nodes.length > 0 && (before?.nodes.length ?? 0) === 0) checkPlan(facts, group, before, now);
};

const isEvicted = (pod: Item): boolean =>
  items(at(pod, "status", "conditions")).some((one) => textAt(one, "reason") === "EvictionByEvictionAPI");

/** E1 and E2, when a pod begins to end. */
const checkEnd = (facts: Facts, object: Item, pod: Pod, isByEngine: boolean): void => {
  const { uid, name } = object.metadata;
  const group = facts.groups.get(pod.group);
  const isRunning = textAt(object, "status", "phase") === "Running";
  if (group === undefined || facts.evicted.has(uid)) return;
  if (!isEvicted(object)) {
    if (isRunning && isByEngine && group.by !== "" && group.isWaiting)
      facts.violations.push(`E1: pod ${name} of an evicted group is deleted without the Eviction API`);
    return;
  }
  facts.evicted.set(uid, { by: group.by, node: pod.node });
  if (group.by === "") facts.violations.push(`E1: pod ${name} is evicted, and its group is not marked`);
  const many = [...facts.evicted.values()].filter(({ by }) => by === group.by).length;
  const size = facts.groups.get(group.by)?.size;
  if (size !== undefined && many > size)
    facts.violations.push(`E2: ${many} pods are evicted for ${group.by}, which has ${size}`);
};

const cpuOf = (spec: unknown): number =>
  items(at(spec, "containers")).reduce<number>(
    (sum, one) => sum + Number(textAt(one, "resources", "requests", "cpu") ?? 0),
    0,
  );

const hearPod = (facts: Facts, { type, object }: Change, actor: Actor, now: number): void => {
  const { uid, name, annotations = {}, deletionTimestamp } = object.metadata;
  const pod: Pod = {
    ...{ name, group: annotations["scheduling.k8s.io/group-name"] ?? "" },
    ...{ node: textAt(object, "spec", "nodeName") ?? "", cpu: cpuOf(object["spec"]) },
    isOver: ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? ""),
  };
  if (type === "DELETED") facts.pods.delete(uid);
  else facts.pods.set(uid, pod);
  if (pod.group === "") return;
  if (deletionTimestamp !== undefined || type === "DELETED") checkEnd(facts, object, pod, actor === "engine");
  const group = facts.groups.get(pod.group);
  if (type !== "ADDED" || actor !== "engine" || group === undefined) return;
  if (group.by !== "" && group.isWaiting && now - group.markedAt > unseenMs)
    facts.violations.push(`E7: pod ${name} is created while its evicted group waits`);
};

const judging = (inner: Oracle, facts: Facts): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    const { table } = change;
    if (table === "podgroups.scheduling.volcano.sh") hearGroup(facts, change, now);
    if (table === "pods") hearPod(facts, change, actor, now);
    inner.hear(change, actor, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), forked(facts)),
});

const numbersOf = (stands: Scenario["stands"], kind: string, ...path: readonly string[]): Map<string, number> =>
  new Map(
    (stands ?? []).flatMap(([, object]): readonly (readonly [string, number])[] =>
      textAt(object, "kind") === kind
        ? [[textAt(object, "metadata", "name") ?? "", Number(at(object, ...path) ?? 0)]]
        : [],
    ),
  );

/** Adds the invariants of evictions to the oracle of a scenario. */
export const withEvictions = (inner: Oracle, { stands }: Pick<Scenario, "stands">): Oracle =>
  judging(inner, {
    violations: [],
    priorities: numbersOf(stands, "PriorityClass", "value"),
    deserved: numbersOf(stands, "Queue", "spec", "deserved", "cpu"),
    ...{ groups: new Map(), pods: new Map(), evicted: new Map() },
  });

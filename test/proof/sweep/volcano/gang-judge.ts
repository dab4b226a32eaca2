/**
 * The invariants of groups that enter by plans, judged from objects alone, with a ledger of its own. Only cpu is counted:
 * the scenarios leave room of all else.
 *
 * G1. No two plans have one place: when a group gets its plan, the unfinished pods of each node, the open places of all
 *     plans and the new places together have at most what the node can allocate. A pod of others that is bound for less
 *     than 20 s may not have been seen yet.
 * G2. A group that was never whole has pods on nodes for at most ten minutes, and at rest it has none.
 * G3. A pod of a group is created only while the group is admitted, or at most 20 s after that.
 * G4. A pod that is created while a plan stands is pinned to a place of the plan that no other pod of its task has.
 * G5. A group that has waited for 16 minutes is not passed by a younger one.
 * G6. A group of a Job is taken back no sooner than 60 s after its newest pod was created, or 180 s after it got its plan;
 *     without a pod, 120 s after it. A pod that is younger than 20 s may not have been seen yet.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, numberAt, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Actor, Oracle } from "../oracle.ts";

type Item = Change["object"];

/** Counts of pods by node, by task. */
type Plan = Readonly<Record<string, Readonly<Record<string, number>>>>;

type Group = {
  readonly name: string;
  readonly job: string;
  readonly phase: string;
  readonly plan: Plan | undefined;
  readonly least: number;
  readonly createdAt: number;
  readonly isTakenBack: boolean;
  /** When it got the plan that it has, epoch ms. */
  readonly plannedAt: number;
  readonly statesMembers: boolean;
  /** When it was last seen admitted, epoch ms. */
  admittedAt: number;
  /** True once enough of its pods had a node. */
  isWhole: boolean;
  /** Since when a part of its pods has had nodes, epoch ms. */
  partSince: number | undefined;
};

type Pod = {
  /** The name of its group; "" for a pod of others. */
  readonly group: string;
  readonly task: string;
  readonly node: string;
  readonly pin: string;
  readonly cpu: number;
  readonly isOver: boolean;
  readonly boundAt: number;
  readonly createdAt: number;
};

type Facts = {
  violations: string[];
  groups: Map<string, Group>;
  pods: Map<string, Pod>;
  /** The cpu of a pod, by job and task. */
  needs: Map<string, number>;
};

type Ground = { readonly nodes: readonly string[]; readonly cpuOfNode: number };

const unseenMs = 20_000;
const longestPartMs = 600_000;
const patienceMs = 960_000;
/** Creation times have whole seconds. */
const bindMs = 59_000;
const createMs = 119_000;
const longestPlanMs = 179_000;

const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const cpuOf = (spec: unknown): number =>
  items(at(spec, "containers")).reduce<number>(
    (sum, one) => sum + Number(textAt(one, "resources", "requests", "cpu") ?? 0),
    0,
  );

const needId = (job: string, task: string): string => `${job}/${task}`;

const isAdmitted = (phase: string): boolean => !["", "Pending"].includes(phase);

/** Partitions of a task have places of their own, as `task/0`. */
const planIn = (group: Item): Plan | undefined => {
  const text = group.metadata.annotations?.["rekindle.dev/plan"];
  if (text === undefined) return undefined;
  const plan: Record<string, Record<string, number>> = {};
  const places: Plan = Object(JSON.parse(text))["places"];
  for (const [key, nodes] of Object.entries(places))
    for (const [node, count] of Object.entries(nodes)) {
      const [task = key] = key.split("/");
      const own = plan[task] ?? {};
      plan[task] = { ...own, [node]: (own[node] ?? 0) + count };
    }
  return plan;
};

const pinIn = (pod: Item): string => {
  const terms = at(
    pod,
    "spec",
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
  );
  const [first] = items(terms).flatMap((term) => items(at(term, "matchFields")));
  return String(items(at(first, "values"))[0] ?? "");
};

const hearJob = ({ needs }: Facts, { object }: Change): void => {
  for (const task of items(at(object, "spec", "tasks")))
    needs.set(needId(object.metadata.name, textAt(task, "name") ?? ""), cpuOf(at(task, "template", "spec")));
};

/** The cpu of the members that a group without a Job states. */
const hearMembers = ({ needs }: Facts, { job }: Group, { metadata }: Item): void => {
  const text = metadata.annotations?.["rekindle.dev/members"];
  for (const member of text === undefined ? [] : items(at(JSON.parse(text), "members")))
    needs.set(needId(job, textAt(member, "task") ?? ""), cpuOf(at(member, "spec")));
};

const placesOf = ({
  plan,
}: Group): readonly { readonly task: string; readonly node: string; readonly count: number }[] =>
  Object.entries(plan ?? {}).flatMap(([task, nodes]) =>
    Object.entries(nodes).map(([node, count]) => ({ task, node, count })),
  );

const podsOf = ({ pods }: Facts, group: string): readonly Pod[] =>
  [...pods.values()].filter((pod) => pod.group === group);

const placeOf = ({ node, pin }: Pod): string => (node === "" ? pin : node);

/** The cpu of places on a node that a plan has and no pod of its group yet. */
const openOn = (facts: Facts, group: Group, node: string): number =>
  placesOf(group)
    .filter((place) => place.node === node)
    .reduce((sum, { task, count }) => {
      const taken = podsOf(facts, group.name).filter((pod) => pod.task === task && placeOf(pod) === node).length;
      return sum + Math.max(0, count - taken) * (facts.needs.get(needId(group.job, task)) ?? 0);
    }, 0);

/** G1, when `entering` has got its plan. */
const checkLedger = (facts: Facts, { nodes, cpuOfNode }: Ground, entering: Group, now: number): void => {
  for (const node of nodes) {
    const bound = [...facts.pods.values()]
      .filter((pod) => !pod.isOver && placeOf(pod) === node)
      .filter((pod) => pod.group !== "" || now - pod.boundAt >= unseenMs)
      .reduce((sum, { cpu }) => sum + cpu, 0);
    const open = [...facts.groups.values()].reduce((sum, group) => sum + openOn(facts, group, node), 0);
    if (bound + open > cpuOfNode)
      facts.violations.push(`G1: with the plan of ${entering.name} node ${node} would hold ${bound + open} cpu`);
  }
};

/** G5, when `entering` is admitted. */
const checkTurn = (facts: Facts, entering: Group, now: number): void => {
  for (const { name, phase, createdAt, isTakenBack } of facts.groups.values())
    if (!isAdmitted(phase) && !isTakenBack && createdAt < entering.createdAt && now - createdAt > patienceMs)
      facts.violations.push(`G5: ${entering.name} passes ${name}, which has waited for ${now - createdAt} ms`);
};

/** G6, when the group has lost its plan. */
const checkPatience = (facts: Facts, { name, plannedAt, statesMembers }: Group, now: number): void => {
  const sinceMs = now - plannedAt;
  if (statesMembers || sinceMs >= longestPlanMs) return;
  const ages = podsOf(facts, name)
    .filter(({ isOver, createdAt }) => !isOver && now - createdAt >= unseenMs)
    .map(({ createdAt }) => now - createdAt);
  if (ages.length === 0 ? sinceMs < createMs : Math.min(...ages) < bindMs)
    facts.violations.push(`G6: ${name} is taken back ${sinceMs} ms after its plan, its pods are ${ages.join()} ms old`);
};

const groupOf = (object: Item, before: Group | undefined, now: number): Group => {
  const { name, creationTimestamp, annotations = {}, ownerReferences = [] } = object.metadata;
  const phase = textAt(object, "status", "phase") ?? "";
  const wasAdmitted = isAdmitted(phase) || isAdmitted(before?.phase ?? "");
  return {
    ...{ name, phase },
    job: ownerReferences[0]?.name ?? "",
    plan: planIn(object),
    least: numberAt(object, "spec", "minMember") ?? 0,
    createdAt: Date.parse(String(creationTimestamp)),
    isTakenBack: annotations["rekindle.dev/taken-back"] !== undefined,
    plannedAt: before?.plan === undefined ? now : before.plannedAt,
    statesMembers: annotations["rekindle.dev/members"] !== undefined,
    admittedAt: wasAdmitted ? now : (before?.admittedAt ?? Number.NEGATIVE_INFINITY),
    isWhole: before?.isWhole ?? false,
    partSince: before?.partSince,
  };
};

const hearGroup = (facts: Facts, ground: Ground, { type, object }: Change, actor: Actor, now: number): void => {
  const { name } = object.metadata;
  const before = facts.groups.get(name);
  if (type === "DELETED") {
    facts.groups.delete(name);
    return;
  }
  const group = groupOf(object, before, now);
  facts.groups.set(name, group);
  hearMembers(facts, group, object);
  if (actor !== "engine") return;
  if (before?.plan === undefined && group.plan !== undefined) checkLedger(facts, ground, group, now);
  if (!isAdmitted(before?.phase ?? "") && isAdmitted(group.phase)) checkTurn(facts, group, now);
  if (before?.plan !== undefined && group.isTakenBack && !isAdmitted(group.phase)) checkPatience(facts, before, now);
};

/** G3 and G4, when a step has created a pod. */
const checkCreated = (facts: Facts, { metadata: { name } }: Item, pod: Pod, now: number): void => {
  const group = facts.groups.get(pod.group);
  if (group === undefined) return;
  if (!isAdmitted(group.phase) && now - group.admittedAt > unseenMs)
    facts.violations.push(`G3: pod ${name} is created, and its group is ${group.phase || "new"}`);
  if (group.plan === undefined) return;
  const there = podsOf(facts, pod.group).filter(({ task, pin }) => task === pod.task && pin === pod.pin).length;
  if (pod.pin === "" || there > (group.plan[pod.task]?.[pod.pin] ?? 0))
    facts.violations.push(`G4: pod ${name} is created for ${pod.pin || "any node"}, beyond its plan`);
};

/** G2. */
const checkParts = (facts: Facts, now: number): void => {
  for (const group of facts.groups.values()) {
    const placed = podsOf(facts, group.name).filter(({ node }) => node !== "").length;
    group.isWhole ||= placed >= group.least;
    group.partSince = group.isWhole || placed === 0 ? undefined : (group.partSince ?? now);
    if (group.partSince !== undefined && now - group.partSince > longestPartMs)
      facts.violations.push(`G2: ${placed} of ${group.least} pods of ${group.name} have had nodes for ten minutes`);
  }
};

const hearPod = (facts: Facts, change: Change, actor: Actor, now: number): void => {
  const { type, object } = change;
  const { uid, annotations = {} } = object.metadata;
  if (type === "DELETED") {
    facts.pods.delete(uid);
    return;
  }
  const node = textAt(object, "spec", "nodeName") ?? "";
  const before = facts.pods.get(uid);
  const pod: Pod = {
    group: annotations["scheduling.k8s.io/group-name"] ?? "",
    task: annotations["volcano.sh/task-spec"] ?? "",
    ...{ node, pin: pinIn(object), cpu: cpuOf(object["spec"]) },
    isOver: ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? ""),
    boundAt: before === undefined || before.node !== node ? now : before.boundAt,
    createdAt: before?.createdAt ?? now,
  };
  facts.pods.set(uid, pod);
  if (type === "ADDED" && actor === "engine") checkCreated(facts, object, pod, now);
};

const judging = (inner: Oracle, facts: Facts, ground: Ground): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    if (change.table === "jobs.batch.volcano.sh") hearJob(facts, change);
    if (change.table === "podgroups.scheduling.volcano.sh") hearGroup(facts, ground, change, actor, now);
    if (change.table === "pods") hearPod(facts, change, actor, now);
    checkParts(facts, now);
    inner.hear(change, actor, now);
  },
  end: (objects, now) => {
    for (const { name, partSince } of facts.groups.values())
      if (partSince !== undefined) facts.violations.push(`G2: at rest a part of ${name} has nodes`);
    inner.end(objects, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), forked(facts), ground),
});

/** Adds the invariants of plans to the oracle of a scenario. */
export const withGangs = (inner: Oracle, ground: Ground): Oracle =>
  judging(inner, { violations: [], groups: new Map(), pods: new Map(), needs: new Map() }, ground);

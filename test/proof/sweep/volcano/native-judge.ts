/**
 * The invariants of groups that PodGroups of Kubernetes place, judged from objects alone.
 *
 * K1. A pod that names a PodGroup of Kubernetes is created only while that exists.
 * K2. A group that was never whole has pods on nodes for at most ten minutes, and at rest it has none.
 * K3. At rest no PodGroup of Kubernetes is left.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { numberAt, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Actor, Oracle } from "../oracle.ts";

type Facts = {
  violations: string[];
  /** PodGroups of Kubernetes that exist. */
  gangs: Set<string>;
  /** By the name of a PodGroup of Kubernetes: the nodes of its unfinished pods by UID, "" for none. */
  pods: Map<string, Map<string, string>>;
  /** By the name of Volcano's group: how many pods it needs. */
  least: Map<string, number>;
  whole: Set<string>;
  partSince: Map<string, number>;
};

const longestPartMs = 600_000;

/** A probe's own gang is never whole. */
const isProbe = (name: string): boolean => name.startsWith("rekindle-probe-");

const hearPod = (facts: Facts, { type, object }: Change, actor: Actor): void => {
  const gang = textAt(object, "spec", "schedulingGroup", "podGroupName");
  if (gang === undefined || isProbe(gang)) return;
  if (type === "ADDED" && actor === "engine" && !facts.gangs.has(gang))
    facts.violations.push(`K1: pod ${object.metadata.name} comes before its PodGroup ${gang}`);
  const members = facts.pods.get(gang) ?? new Map<string, string>();
  facts.pods.set(gang, members);
  const isOver = ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");
  const isBound = (textAt(object, "spec", "nodeName") ?? "") !== "";
  if (type === "DELETED") members.delete(object.metadata.uid);
  else members.set(object.metadata.uid, isBound ? "bound" : isOver ? "over" : "");
};

const checkParts = (facts: Facts, now: number): void => {
  for (const [gang, members] of facts.pods) {
    const least = facts.least.get(gang.replace(/-\d+$/, "")) ?? 0;
    const bound = [...members.values()].filter((state) => state === "bound").length;
    if (bound >= least) facts.whole.add(gang);
    if (facts.whole.has(gang) || bound === 0) facts.partSince.delete(gang);
    else if (!facts.partSince.has(gang)) facts.partSince.set(gang, now);
    if (now - (facts.partSince.get(gang) ?? now) > longestPartMs)
      facts.violations.push(`K2: ${bound} of ${least} pods of ${gang} have had nodes for ten minutes`);
  }
};

const judging = (inner: Oracle, facts: Facts): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    const { table, type, object } = change;
    const { name } = object.metadata;
    if (table === "podgroups.scheduling.k8s.io") facts.gangs[type === "DELETED" ? "delete" : "add"](name);
    if (table === "podgroups.scheduling.volcano.sh") facts.least.set(name, numberAt(object, "spec", "minMember") ?? 0);
    if (table === "pods") hearPod(facts, change, actor);
    checkParts(facts, now);
    inner.hear(change, actor, now);
  },
  end: (objects, now) => {
    for (const gang of facts.partSince.keys()) facts.violations.push(`K2: at rest a part of ${gang} has nodes`);
    for (const gang of facts.gangs) facts.violations.push(`K3: at rest PodGroup ${gang} is left`);
    inner.end(objects, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), forked(facts)),
});

/** Adds the invariants of PodGroups of Kubernetes to the oracle of a scenario. */
export const withNatives = (inner: Oracle): Oracle =>
  judging(inner, {
    ...{ violations: [], gangs: new Set(), pods: new Map(), least: new Map() },
    ...{ whole: new Set(), partSince: new Map() },
  });

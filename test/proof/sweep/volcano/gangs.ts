/**
 * Two gangs for one place, judged from objects alone.
 *
 * G1. A step lets a group in only when no other group is let in without all its pods, and no pod of another group is
 *     unfinished on a node.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Actor, Oracle } from "../oracle.ts";
import type { Scenario } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { living, slowly, task } from "./jobs.ts";

const groups = "podgroups.scheduling.volcano.sh";

type Facts = {
  violations: string[];
  /** The phase of each existing group, by its name. */
  phases: Map<string, string>;
  /** The group of each unfinished pod with a node, by the pod's UID. */
  placed: Map<string, string>;
};

/** G1. */
const hearGroup = (facts: Facts, { type, object }: Change, actor: Actor): void => {
  const { name } = object.metadata;
  const phase = textAt(object, "status", "phase") ?? "";
  const enters = actor === "engine" && phase === "Inqueue" && facts.phases.get(name) !== phase;
  const starts = [...facts.phases].some(([other, is]) => other !== name && is === "Inqueue");
  const runs = [...facts.placed.values()].some((other) => other !== name);
  if (enters && (starts || runs)) facts.violations.push(`G1: group ${name} is let in, and another has its place`);
  if (type === "DELETED") facts.phases.delete(name);
  else facts.phases.set(name, phase);
};

const hearPod = ({ placed }: Facts, { type, object }: Change): void => {
  const { uid, annotations = {} } = object.metadata;
  const isOver = ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");
  if (type === "DELETED" || isOver || (textAt(object, "spec", "nodeName") ?? "") === "") placed.delete(uid);
  else placed.set(uid, annotations["scheduling.k8s.io/group-name"] ?? "");
};

const judging = (inner: Oracle, facts: Facts): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    if (change.table === groups) hearGroup(facts, change, actor);
    if (change.table === "pods") hearPod(facts, change);
    inner.hear(change, actor, now);
  },
  violations: () => [...inner.violations(), ...facts.violations],
  copy: () => judging(inner.copy(), forked(facts)),
});

/** Adds G1 to the oracle of a scenario in which one group fits at a time. */
export const oneAtATime = (inner: Oracle): Oracle =>
  judging(inner, { violations: [], phases: new Map(), placed: new Map() });

const container = { name: "main", image: "busybox", resources: { requests: { cpu: "24" } } };

/** Two pods of 24 cores; the node has 64. */
const wide = task("main", { replicas: 2 }, { template: { spec: { restartPolicy: "Never", containers: [container] } } });

/** The second job comes as soon as the first one runs: which of them is first must not depend on a fault. */
const second = {
  name: "b",
  dependsOn: { targets: ["a"], probe: { taskStatusList: [{ taskName: "main", phase: "Running" }] } },
};

export const gangs: readonly Scenario[] = [
  flow({
    name: "gang-fit",
    what: "two jobs of two pods, and room for one of them: the second waits whole until the first has ended",
    gang: "builtin",
    stands: ["a", "b"].map((name) => template(name, { tasks: [wide] })),
    spec: { flows: [{ name: "a" }, second] },
    lives: living({ "a-main-0": [slowly], "a-main-1": [slowly], "*": [{ runMs: 2_000 }] }),
    ends: "Succeed",
    // With this fault the status would never show that the first job runs.
    without: ["read-only-5m"],
  }),
];

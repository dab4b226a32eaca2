/**
 * The invariants of groups that must be inside HyperNodes, judged from objects alone. The HyperNodes of a scenario name their
 * nodes, and stay as they are.
 *
 * H1. The unfinished pods with nodes of a job with a hard topology are inside one HyperNode of at most its tier.
 * H2. So are those of each partition of a task with a hard topology.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, numberAt, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Oracle } from "../oracle.ts";
import type { Scenario } from "../scenario.ts";

type Rack = { readonly tier: number; readonly nodes: ReadonlySet<string> };

type Pod = { readonly job: string; readonly task: string; readonly partition: string; readonly node: string };

type Facts = {
  violations: string[];
  /** The highest tier of all pods of a job, or of the partitions of one of its tasks, by `job` and `job/task`. */
  tiers: Map<string, number>;
  /** Unfinished pods with nodes, by UID. */
  pods: Map<string, Pod>;
};

const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const racksOf = ({ stands = [] }: Scenario): readonly Rack[] =>
  stands
    .map(([, body]) => body)
    .filter((body) => textAt(body, "kind") === "HyperNode")
    .map((body) => ({
      tier: numberAt(body, "spec", "tier") ?? 0,
      nodes: new Set(
        items(at(body, "spec", "members"))
          .filter((member) => textAt(member, "type") === "Node")
          .flatMap((member) => textAt(member, "selector", "exactMatch", "name") ?? []),
      ),
    }));

const hear = (facts: Facts, { table, type, object }: Change): void => {
  const { name, uid, labels = {} } = object.metadata;
  const learn = (key: string, topology: unknown): void => {
    const tier = numberAt(topology, "highestTierAllowed");
    if (textAt(topology, "mode") === "hard" && tier !== undefined) facts.tiers.set(key, tier);
  };
  if (table === "jobs.batch.volcano.sh") {
    learn(name, at(object, "spec", "networkTopology"));
    for (const task of items(at(object, "spec", "tasks")))
      learn(`${name}/${textAt(task, "name")}`, at(task, "partitionPolicy", "networkTopology"));
  }
  if (table !== "pods") return;
  const node = textAt(object, "spec", "nodeName") ?? "";
  const isOver = ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");
  if (type === "DELETED" || isOver || node === "") {
    facts.pods.delete(uid);
    return;
  }
  const job = labels["volcano.sh/job-name"] ?? "";
  const partition = labels["volcano.sh/partition-id"] ?? "";
  facts.pods.set(uid, { job, task: labels["volcano.sh/task-spec"] ?? "", partition, node });
};

/** By a name of theirs: the tier that pods must keep to, and their nodes. */
const setsOf = ({ tiers, pods }: Facts): readonly (readonly [string, number, readonly string[]])[] => {
  const of = (key: (pod: Pod) => string) => [...Map.groupBy(pods.values(), key)];
  return [
    ...of(({ job }) => job).map(([key, own]) => [key, tiers.get(key), own] as const),
    ...of(({ job, task, partition }) => `${job}/${task}/${partition}`).map(
      ([key, own]) => [key, tiers.get(key.slice(0, key.lastIndexOf("/"))), own] as const,
    ),
  ].flatMap(([key, tier, own]) => (tier === undefined ? [] : [[key, tier, own.map(({ node }) => node)] as const]));
};

const check = (facts: Facts, racks: readonly Rack[]): void => {
  for (const [key, tier, nodes] of setsOf(facts)) {
    const isInside = racks.some((rack) => rack.tier <= tier && nodes.every((node) => rack.nodes.has(node)));
    const invariant = key.includes("/") ? "H2" : "H1";
    if (!isInside) facts.violations.push(`${invariant}: ${key} has pods on ${[...new Set(nodes)].sort().join()}`);
  }
};

const judging = (inner: Oracle, facts: Facts, racks: readonly Rack[]): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    hear(facts, change);
    if (change.table === "pods") check(facts, racks);
    inner.hear(change, actor, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), forked(facts), racks),
});

/** Adds the invariants of HyperNodes to the oracle of a scenario that has some. */
export const withNearness = (inner: Oracle, scenario: Scenario): Oracle => {
  const racks = racksOf(scenario);
  return racks.length === 0 ? inner : judging(inner, { violations: [], tiers: new Map(), pods: new Map() }, racks);
};

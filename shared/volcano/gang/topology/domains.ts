/**
 * HyperNodes: the sets of nodes within which network traffic is fast, nested by tiers. A faulty HyperNode is left out, or
 * counts without its faulty member, and changes nothing for the others. Members as volcano's hyper_node_info.go: of type
 * HyperNode by their exact name alone, of type Node also by an expression or by labels; an empty label selector selects none.
 */
import { fieldsOf, recordsIn } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import type { Looking, Projection } from "../../../core/plan.ts";
import { requirementsOf } from "../../../kube/pod-anti-affinity.ts";
import type { Json } from "../../../kube/responses.ts";
import { meetsExpression } from "../../../kube/selector.ts";
import { specOf } from "../../queue/state/tree.ts";
import { hyperNodes } from "../../schema/resource.ts";
import { type Budget, patternOf } from "./pattern.ts";

/** The most text of all HyperNodes of a round, characters. */
const mostText = 8_000_000;

const hyperNodeOutline = (): Projection => {
  let left = mostText;
  return ({ apiVersion, kind, metadata, spec }) => {
    const { name, uid, resourceVersion } = metadata;
    const { tier, tierName, members } = fieldsOf(spec);
    const kept = { tier, tierName, members };
    left -= JSON.stringify(kept).length;
    return { apiVersion, kind, metadata: { name, uid, resourceVersion }, ...(left < 0 ? {} : { spec: kept }) };
  };
};

/** All HyperNodes; none where the cluster does not serve the kind, or Rekindle may not list it. */
export const allHyperNodes: Looking = {
  ...{ do: "list", resource: hyperNodes, namespace: "", labels: {}, spared: true, optional: true },
  projecting: hyperNodeOutline,
};

/** A HyperNode with the nodes in it and below it. */
export type Domain = {
  readonly name: string;
  readonly tier: number;
  readonly tierName: string;
  readonly nodes: ReadonlySet<string>;
};

export type Domains = {
  /** Those with nodes, the lowest tier first, then by name. */
  readonly usable: readonly Domain[];
  /** Sentences about faulty HyperNodes. */
  readonly faults: readonly string[];
};

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** The work of all expressions of a round, and of those of one HyperNode: states of a matcher. */
const mostWork = 10_000_000;
const mostWorkOfOne = 1_000_000;

/** The most nodes in all HyperNodes together. */
const mostEntries = 1_000_000;

const nameOf = ({ metadata }: Stored): string => metadata.name;

const membersOf = (hyperNode: Stored, type: "Node" | "HyperNode"): readonly Json[] =>
  recordsIn(specOf(hyperNode)["members"])
    .filter((member) => member["type"] === type)
    .map(({ selector }) => fieldsOf(selector));

const childrenOf = (hyperNode: Stored): readonly string[] =>
  membersOf(hyperNode, "HyperNode").flatMap(({ exactMatch }) => textIn(fieldsOf(exactMatch)["name"]) || []);

type Selected = { readonly names: readonly string[]; readonly fault?: string };

const byPattern = (text: string, nodes: readonly Stored[], budget: Budget): Selected => {
  const pattern = patternOf(text);
  if (pattern.wrong !== undefined) return { names: [], fault: `its regexMatch is not used: ${pattern.wrong}` };
  const names: string[] = [];
  for (const { metadata } of nodes) {
    const matches = pattern.matches(metadata.name, budget);
    if (matches === undefined) return { names: [], fault: "its regexMatch takes too long" };
    if (matches) names.push(metadata.name);
  }
  return { names };
};

const byLabels = (selector: Json, nodes: readonly Stored[]): Selected => {
  const requirements = requirementsOf(selector);
  const stated = Object.keys(fieldsOf(selector["matchLabels"])).length + recordsIn(selector["matchExpressions"]).length;
  if (requirements.length < stated) return { names: [], fault: "its labelMatch has an unknown operator" };
  if (requirements.length === 0) return { names: [] };
  return {
    names: nodes
      .filter(({ metadata: { labels = {} } }) =>
        requirements.every((requirement) => meetsExpression(requirement, labels)),
      )
      .map(nameOf),
  };
};

const selected = (
  { exactMatch, regexMatch, labelMatch }: Json,
  nodes: readonly Stored[],
  names: ReadonlySet<string>,
  budget: Budget,
): Selected => {
  const name = textIn(fieldsOf(exactMatch)["name"]);
  if (name !== "") return { names: names.has(name) ? [name] : [] };
  const pattern = textIn(fieldsOf(regexMatch)["pattern"]);
  return pattern === "" ? byLabels(fieldsOf(labelMatch), nodes) : byPattern(pattern, nodes, budget);
};

/** Returns the names in an order in which each comes after its members; those that are in a circle, or above one, are left. */
const inOrder = (byName: ReadonlyMap<string, Stored>) => {
  const parents = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, hyperNode] of byName) {
    const children = new Set(childrenOf(hyperNode).filter((child) => byName.has(child)));
    open.set(name, children.size);
    for (const child of children) parents.set(child, [...(parents.get(child) ?? []), name]);
  }
  const order = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  for (const name of order)
    for (const parent of parents.get(name) ?? []) {
      const count = (open.get(parent) ?? 0) - 1;
      open.set(parent, count);
      if (count === 0) order.push(parent);
    }
  const done = new Set(order);
  return { order, left: [...byName.keys()].filter((name) => !done.has(name)) };
};

/** HyperNodes in and above circles that are told apart; if there are more, all of them are left out. */
const mostCircles = 300;

const isInCircle = (name: string, byName: ReadonlyMap<string, Stored>): boolean => {
  const seen = new Set<string>();
  const open = [name];
  for (let one = open.pop(); one !== undefined; one = open.pop())
    for (const child of byName.has(one) ? childrenOf(byName.get(one) ?? { ...nothing }) : []) {
      if (child === name) return true;
      if (seen.has(child)) continue;
      seen.add(child);
      open.push(child);
    }
  return false;
};

const nothing: Stored = { apiVersion: "", kind: "", metadata: { name: "", uid: "", resourceVersion: "" } };

/** Parts HyperNodes that are in a circle of members from the others. */
const withoutCircles = (all: readonly Stored[]) => {
  const byName = new Map(all.map((one) => [nameOf(one), one]));
  const { left } = inOrder(byName);
  const circular = left.length > mostCircles ? left : left.filter((name) => isInCircle(name, byName));
  const out = new Set(circular);
  const sound = new Map([...byName].filter(([name]) => !out.has(name)));
  return { byName: sound, order: inOrder(sound).order, circular };
};

type Found = { readonly nodes: ReadonlySet<string>; readonly faults: readonly string[] };

/** Finds the nodes of each HyperNode, its members first. */
const nodesIn = (order: readonly Stored[], nodes: readonly Stored[]): ReadonlyMap<string, Found> => {
  const names = new Set(nodes.map(nameOf));
  const found = new Map<string, Found>();
  let [work, entries] = [mostWork, mostEntries];
  for (const hyperNode of order) {
    const budget = { left: Math.min(work, mostWorkOfOne) };
    const before = budget.left;
    const own = membersOf(hyperNode, "Node").map((member) => selected(member, nodes, names, budget));
    work -= before - Math.max(0, budget.left);
    const below = childrenOf(hyperNode).map((child) => found.get(child)?.nodes ?? new Set<string>());
    const all = new Set([...own.flatMap(({ names }) => names), ...below.flatMap((names) => [...names])]);
    entries -= all.size;
    const faults = own.flatMap(({ fault }) => fault ?? []);
    found.set(
      nameOf(hyperNode),
      entries < 0
        ? { nodes: new Set(), faults: ["the HyperNodes have too many nodes together"] }
        : { nodes: all, faults },
    );
  }
  return found;
};

/** Returns the HyperNodes with their nodes. */
export const domainsOf = (hyperNodesOfCluster: readonly Stored[], nodes: readonly Stored[]): Domains => {
  const readable = hyperNodesOfCluster.filter((one) => typeof specOf(one)["tier"] === "number");
  const { byName, order, circular } = withoutCircles(readable);
  const ordered = order.flatMap((name) => byName.get(name) ?? []);
  const found = nodesIn(ordered, nodes);
  const usable = ordered.flatMap((hyperNode): readonly Domain[] => {
    const { tier, tierName } = specOf(hyperNode);
    const own = found.get(nameOf(hyperNode))?.nodes ?? new Set<string>();
    if (own.size === 0 || typeof tier !== "number") return [];
    return [{ name: nameOf(hyperNode), tier, tierName: textIn(tierName), nodes: own }];
  });
  return {
    usable: usable.sort((a, b) => a.tier - b.tier || (a.name < b.name ? -1 : 1)),
    faults: [
      ...circular.map((name) => `HyperNode ${name} is not used: its members form a circle`),
      ...[...found].flatMap(([name, { faults }]) => faults.map((fault) => `HyperNode ${name}: ${fault}`)),
      ...hyperNodesOfCluster
        .filter((one) => typeof specOf(one)["tier"] !== "number")
        .map((one) => `HyperNode ${nameOf(one)} is not used: it has no tier, or there is too much text in all of them`),
    ],
  };
};

/** HyperNodes with their nodes, and faulty ones, which cost the others nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { allHyperNodes, domainsOf } from "../../../../../shared/volcano/gang/topology/domains.ts";

type Fields = Readonly<Record<string, unknown>>;

const node = (name: string, labels: Readonly<Record<string, string>> = {}): Stored => ({
  ...{ apiVersion: "v1", kind: "Node" },
  metadata: { name, uid: name, resourceVersion: "1", labels },
});

const hyperNode = (name: string, tier: unknown, ...members: readonly Fields[]): Stored => ({
  ...{ apiVersion: "topology.volcano.sh/v1alpha1", kind: "HyperNode" },
  metadata: { name, uid: name, resourceVersion: "1" },
  spec: { tier, members },
});

const exact = (name: string, type = "Node"): Fields => ({ type, selector: { exactMatch: { name } } });
const below = (name: string): Fields => exact(name, "HyperNode");
const like = (pattern: string): Fields => ({ type: "Node", selector: { regexMatch: { pattern } } });
const labelled = (labelMatch: Fields): Fields => ({ type: "Node", selector: { labelMatch } });

const nodes = [node("n1", { rack: "a" }), node("n2", { rack: "a" }), node("n3", { rack: "b" }), node("m1")];

const shown = (...all: readonly Stored[]) => {
  const { usable, faults } = domainsOf(all, nodes);
  return { usable: usable.map(({ name, tier, nodes: own }) => `${name} ${tier} ${[...own].sort().join()}`), faults };
};

const rows: readonly (readonly [string, readonly Stored[], ReturnType<typeof shown>])[] = [
  [
    "are sorted by tier, and have the nodes of the HyperNodes below them",
    [
      hyperNode("hall", 2, below("b"), below("a"), exact("m1")),
      hyperNode("b", 1, exact("n3")),
      hyperNode("a", 1, like("^n[12]$")),
    ],
    { usable: ["a 1 n1,n2", "b 1 n3", "hall 2 m1,n1,n2,n3"], faults: [] },
  ],
  [
    "select nodes by labels; an empty selector selects none",
    [
      hyperNode("a", 1, labelled({ matchLabels: { rack: "a" } })),
      hyperNode("b", 1, labelled({ matchExpressions: [{ key: "rack", operator: "NotIn", values: ["a"] }] })),
      hyperNode("none", 1, labelled({})),
    ],
    { usable: ["a 1 n1,n2", "b 1 m1,n3"], faults: [] },
  ],
  [
    "pass over nodes and HyperNodes that do not exist, and select no HyperNodes by an expression",
    [hyperNode("a", 1, exact("n1"), exact("n9"), below("gone"), { ...like("."), type: "HyperNode" })],
    { usable: ["a 1 n1"], faults: [] },
  ],
  [
    "in a circle are left out, those above it stay with their other members",
    [
      hyperNode("a", 1, below("b"), exact("n1")),
      hyperNode("b", 1, below("a"), exact("n2")),
      hyperNode("self", 1, below("self"), exact("n2")),
      hyperNode("hall", 2, below("a"), below("c")),
      hyperNode("c", 1, exact("n3")),
    ],
    {
      usable: ["c 1 n3", "hall 2 n3"],
      faults: ["a", "b", "self"].map((name) => `HyperNode ${name} is not used: its members form a circle`),
    },
  ],
  [
    "lose a member whose expression or labels cannot be read",
    [
      hyperNode("a", 1, like("("), exact("n1")),
      hyperNode("b", 1, labelled({ matchExpressions: [{ key: "rack", operator: "Gt", values: ["1"] }] }), exact("n3")),
    ],
    {
      usable: ["a 1 n1", "b 1 n3"],
      faults: [
        "HyperNode a: its regexMatch is not used: a parenthesis is not closed",
        "HyperNode b: its labelMatch has an unknown operator",
      ],
    },
  ],
  [
    "without a tier are left out",
    [hyperNode("a", "1", exact("n1"))],
    { usable: [], faults: ["HyperNode a is not used: it has no tier, or there is too much text in all of them"] },
  ],
];

describe("HyperNodes", () => {
  for (const [what, all, expected] of rows) test(what, () => assert.deepEqual(shown(...all), expected));

  test("with a costly expression cost the others nothing", () => {
    const many = Array.from({ length: 3_000 }, (_, at) => node(`${"a".repeat(200)}${at}`));
    const costly = hyperNode("costly", 1, like("(a{1,30}){1,30}$"));
    const { usable, faults } = domainsOf([costly, hyperNode("z", 1, exact("n1"))], [...many, ...nodes]);
    assert.deepEqual(
      [usable.map(({ name }) => name), faults],
      [["z"], ["HyperNode costly: its regexMatch takes too long"]],
    );
  });

  test("of a large cluster, each with an expression, are all used", () => {
    const large = Array.from({ length: 5_000 }, (_, at) => node(`node-${Math.floor(at / 10)}-${at % 10}`));
    const racks = Array.from({ length: 500 }, (_, at) => hyperNode(`r${at}`, 1, like(`^node-${at}-.*$`)));
    const { usable, faults } = domainsOf(racks, large);
    assert.deepEqual([usable.length, usable[0]?.nodes.size, faults], [500, 10, []]);
  });

  test("in long chains, and circles of many, are read at once", () => {
    const chain = Array.from({ length: 5_000 }, (_, at) => hyperNode(`c${at}`, 1, below(`c${at + 1}`)));
    const circle = Array.from({ length: 5_000 }, (_, at) => hyperNode(`o${at}`, 1, below(`o${(at + 1) % 5_000}`)));
    const { usable, faults } = domainsOf([...chain, ...circle, hyperNode("c5000", 0, exact("n1"))], nodes);
    assert.deepEqual([usable.length, faults.length], [5_001, 5_000]);
  });

  test("are read without their text when there is too much of it", () => {
    const outline = allHyperNodes.do === "list" ? allHyperNodes.projecting?.() : undefined;
    const wide = hyperNode("a", 1, ...Array.from({ length: 60_000 }, (_, at) => exact(`n${at}`)));
    const kept = Array.from({ length: 3 }, () => outline?.(wide)?.["spec"] !== undefined);
    assert.deepEqual(kept, [true, true, false]);
  });
});

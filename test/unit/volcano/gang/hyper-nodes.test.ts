/** Groups whose Jobs have a network topology, in an admission round: where they enter, and the words of those that wait. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { topologyOf } from "../../../../shared/kube/gang-topology.ts";
import { openGround } from "../../../../shared/volcano/gang/ground.ts";
import { eight, type Fields, type Given, groupOf, job, node, podOf, type Task, verdicts } from "./round.ts";

const hyperNode = (name: string, tier: number, names: readonly string[], type = "Node"): Stored => ({
  ...{ apiVersion: "topology.volcano.sh/v1alpha1", kind: "HyperNode" },
  metadata: { name, uid: name, resourceVersion: "1" },
  spec: {
    tier,
    tierName: `t${tier}`,
    members: names.map((one) => ({ type, selector: { exactMatch: { name: one } } })),
  },
});

const names = ["a1", "a2", "b1", "b2"];

/** Two racks of two nodes of 4 cores, in one hall, and a node outside. */
const nodes = [...names, "z"].map((name) => node(name, 4));
const racks = [hyperNode("rack-a", 1, ["a1", "a2"]), hyperNode("rack-b", 1, ["b1", "b2"])];
const hall = hyperNode("hall", 2, ["rack-a", "rack-b"], "HyperNode");
const all = [hall, ...racks];

const within = (networkTopology: Fields, task: Task, partitionPolicy?: Fields): Stored => {
  const made = job("j", task);
  const { tasks, ...spec } = Object(made["spec"]);
  return {
    ...made,
    spec: {
      ...spec,
      ...(Object.keys(networkTopology).length === 0 ? {} : { networkTopology }),
      tasks: tasks.map((one: Fields) => (partitionPolicy === undefined ? one : { ...one, partitionPolicy })),
    },
  };
};

const groups = [groupOf("j")];
const given = (of: Stored, more: Partial<Given> = {}): Given => ({
  nodes,
  hyperNodes: all,
  jobs: [of],
  groups,
  ...more,
});

const hard = (highestTierAllowed: number): Fields => ({ mode: "hard", highestTierAllowed });
const soft: Fields = { mode: "soft" };
const pods = (replicas: number, least = replicas): Task => ({ cpu: 2, replicas, least });

const partitions = (total: number, size: number, least: number, networkTopology: Fields): Fields => ({
  ...{ totalPartitions: total, partitionSize: size, minPartitions: least, networkTopology },
});

const busy = (on: string, cpu: number): Stored => podOf(`busy-${on}`, "", { on, cpu });

const empty = "would not fit the empty cluster: ";

const rows: readonly (readonly [string, Given, string])[] = [
  ["a group enters a HyperNode of the lowest tier", given(within(hard(2), pods(4))), "2 on a1, 2 on a2"],
  [
    "a group enters the fullest HyperNode of a tier",
    given(within(hard(1), pods(2)), { pods: [busy("b1", 2), busy("b2", 2)] }),
    "1 on b1, 1 on b2",
  ],
  [
    "a group enters a higher tier if that is allowed and no lower one has room",
    given(within(hard(2), pods(5))),
    "2 on a1, 2 on a2, 1 on b1",
  ],
  [
    "a group waits if no HyperNode has room for all of it, and names the best",
    given(within(hard(1), pods(4)), { pods: [busy("a1", 4), busy("b1", 2)] }),
    "needs 4 × 2 cpu inside one HyperNode of tier ≤ 1; the best, rack-b, has room for 3",
  ],
  [
    "a group that would fit no HyperNode of the empty cluster is told so",
    given(within(hard(1), pods(5))),
    `${empty}needs 5 × 2 cpu inside one HyperNode of tier ≤ 1; the best, rack-a, has room for 4`,
  ],
  [
    "a tier may be named",
    given(within({ mode: "hard", highestTierName: "t1" }, pods(5))),
    `${empty}needs 5 × 2 cpu inside one HyperNode of tier t1 or lower; the best, rack-a, has room for 4`,
  ],
  [
    "a tier that no HyperNode has is told",
    given(within({ mode: "hard", highestTierName: "t7" }, pods(1))),
    `${empty}needs 1 × 2 cpu inside one HyperNode of tier t7 or lower; there is no such HyperNode`,
  ],
  [
    "a group is told if the cluster has no HyperNodes",
    given(within(hard(1), pods(1)), { hyperNodes: [] }),
    `${empty}needs 1 × 2 cpu inside one HyperNode of tier ≤ 1; the cluster has no HyperNode with nodes, or Rekindle may not list them`,
  ],
  [
    "a faulty HyperNode is named to the group that waits",
    given(within(hard(1), pods(5)), { hyperNodes: [...racks, hyperNode("self", 1, ["self"], "HyperNode")] }),
    `${empty}needs 5 × 2 cpu inside one HyperNode of tier ≤ 1; the best, rack-a, has room for 4; HyperNode self is not used: its members form a circle`,
  ],
  ["a soft topology is kept where there is room", given(within(soft, pods(3))), "2 on a1, 1 on a2"],
  [
    "a soft topology falls back to all nodes",
    given(within({ ...soft, highestTierAllowed: 1 }, pods(10))),
    "2 on a1, 2 on a2, 2 on b1, 2 on b2, 2 on z",
  ],
  ["a soft topology needs no HyperNodes", given(within(soft, pods(3)), { hyperNodes: [] }), "2 on a1, 1 on a2"],
  [
    "a hard topology without a tier limits nothing, as with Volcano",
    given(within({ mode: "hard" }, pods(10))),
    "2 on a1, 2 on a2, 2 on b1, 2 on b2, 2 on z",
  ],
  [
    "each partition has its places inside one HyperNode",
    given(within({}, pods(6), partitions(2, 3, 2, hard(1)))),
    "2 on a1, 1 on a2, 2 on b1, 1 on b2",
  ],
  [
    "only as many partitions as the least must have places",
    given(within({}, pods(9, 6), partitions(3, 3, 2, hard(1)))),
    "2 on a1, 1 on a2, 2 on b1, 1 on b2",
  ],
  [
    "partitions that do not fit are told",
    given(within({}, pods(6), partitions(2, 3, 2, hard(1))), { pods: [busy("b1", 4)] }),
    "task w needs 2 × (3 × 2 cpu), each inside one HyperNode of tier ≤ 1; the best, rack-a, has room for 4",
  ],
  [
    "partitions may be nearer to each other than the group",
    given(within(hard(2), pods(6), partitions(3, 2, 3, hard(1))), { pods: [busy("a1", 2)] }),
    "1 on a1, 1 on a2, 2 on b1, 2 on b2",
  ],
];

describe("with HyperNodes", () => {
  for (const [what, of, expected] of rows) test(what, () => assert.equal(verdicts(of)["j"], expected));
});

const answerTo = (of: Given) => {
  const labelled = (of.nodes ?? nodes).map((one) => ({
    ...one,
    metadata: { ...one.metadata, labels: { "kubernetes.io/hostname": `host-${one.metadata.name}` } },
  }));
  const [group] = of.groups;
  const ground = openGround({ pods: [], ...of, nodes: labelled, priorities: new Map(), now: eight });
  const answer = group === undefined ? undefined : ground.ask(group);
  return answer?.enters === true ? answer.topology : undefined;
};

const read = (text: string | undefined) =>
  topologyOf({ ...groupOf("j", { annotations: { "rekindle.dev/topology": text ?? "" } }) });

const hosts = (...of: readonly string[]): readonly string[] => of.map((name) => `host-${name}`);

describe("a group that enters", () => {
  test("keeps to the largest HyperNode that its limit allows, and near to the one of its plan", () => {
    const { lists = [], within: must = {}, near = {} } = read(answerTo(given(within(hard(2), pods(3))))) ?? {};
    assert.deepEqual(new Set(lists[must[""] ?? -1]), new Set(hosts(...names)));
    assert.deepEqual(lists[near[""] ?? -1], hosts("a1", "a2"));
  });

  test("has nothing to keep to but the wish to be near with a soft topology", () => {
    const { within: must, near } = read(answerTo(given(within(soft, pods(3))))) ?? {};
    assert.deepEqual([must, Object.keys(near ?? {})], [{}, [""]]);
  });

  test("has a HyperNode for each partition, also for those beyond the minimum", () => {
    const of = given(within({}, pods(9, 3), partitions(3, 3, 1, hard(1))));
    const { lists = [], within: must = {} } = read(answerTo(of)) ?? {};
    const found = Object.entries(must).map(([key, at]) => [key, lists[at]]);
    assert.deepEqual(found, [
      ["w/0", hosts("a1", "a2")],
      ["w/1", hosts("b1", "b2")],
      ["w/2", hosts("b1", "b2")],
    ]);
  });

  test("without a topology keeps to no nodes", () => assert.equal(answerTo(given(job("j", pods(3)))), undefined));

  test("names the nodes of its plan first when its HyperNode has more nodes than the annotation", () => {
    const many = Array.from({ length: 4_000 }, (_, at) => `node-${at}`);
    const large = [...many, "zz"].map((name) => node(name, name === "zz" ? 4 : 0));
    const of = given(within(hard(1), pods(2)), { nodes: large, hyperNodes: [hyperNode("all", 1, [...many, "zz"])] });
    const text = answerTo(of) ?? "";
    const [list = []] = read(text)?.lists ?? [];
    assert.ok(text.length <= 32_768 && list.length > 500, `${text.length} characters, ${list.length} nodes`);
    assert.equal(list[0], "host-zz");
  });
});

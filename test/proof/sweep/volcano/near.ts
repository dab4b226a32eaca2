/** Groups that must be inside HyperNodes. `near-judge.ts` holds what the scenarios must keep. */
import type { Scenario } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { minutes, unseen, whileRunning, wide } from "./gangs.ts";
import { living, policy } from "./jobs.ts";

const group = "topology.volcano.sh";

/** Rekindle ships no definition of HyperNodes. */
const definition: readonly [string, object] = [
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `hypernodes.${group}` },
    spec: {
      ...{ group, scope: "Cluster" },
      names: { plural: "hypernodes", kind: "HyperNode", singular: "hypernode", listKind: "HyperNodeList" },
      versions: [
        {
          ...{ name: "v1alpha1", served: true, storage: true },
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  },
];

const hyperNode = (name: string, tier: number, members: readonly object[]): readonly [string, object] => [
  `/apis/${group}/v1alpha1/hypernodes`,
  { apiVersion: `${group}/v1alpha1`, kind: "HyperNode", metadata: { name }, spec: { tier, members } },
];

const nodes = (...names: readonly string[]) =>
  names.map((name) => ({ type: "Node", selector: { exactMatch: { name } } }));

const networkTopology = { mode: "hard", highestTierAllowed: 1 };

/** Two partitions of two pods. */
const partitionPolicy = { totalPartitions: 2, partitionSize: 2, minPartitions: 2, networkTopology };

export const nears: readonly Scenario[] = [
  flow({
    name: "gang-near",
    what: "a job inside one of two HyperNodes, one of whose pods is created again, and a job with a partition in each: one after the other, although other nodes are free",
    gang: "builtin",
    machines: ["node-1", "node-2", "node-3", "node-4"],
    stands: [
      definition,
      hyperNode("rack", 1, nodes("node-3", "node-4")),
      hyperNode("solo", 1, nodes("node-2")),
      hyperNode("hall", 2, nodes("node-1", "node-2", "node-3", "node-4")),
      hyperNode("circle", 1, [{ type: "HyperNode", selector: { exactMatch: { name: "circle" } } }]),
      template("a", { networkTopology, tasks: [wide(4)], policies: [policy("PodFailed", "RestartPod")] }),
      template("b", { tasks: [{ ...wide(4), partitionPolicy }] }),
    ],
    spec: { flows: [{ name: "a" }, whileRunning("b", "a")] },
    lives: living({
      "a-main-1": [{ runMs: 2 * minutes, exitCode: 1 }, { runMs: 5 * minutes }],
      "*": [{ runMs: 5 * minutes }],
    }),
    ends: "Succeed",
    without: unseen,
  }),
];

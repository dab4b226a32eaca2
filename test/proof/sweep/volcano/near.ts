/** Groups that must be inside HyperNodes. `near-judge.ts` holds what the scenarios must keep. */
import {
  definitionsPath,
  hyperNodeDefinition,
  hyperNodeOf,
  hyperNodesPath,
  membersOf,
} from "../../../support/hyper-nodes.ts";
import type { Scenario } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { minutes, whileRunning, wide } from "./gangs.ts";
import { living, policy } from "./jobs.ts";

const hyperNode = (name: string, tier: number, members: readonly object[]): readonly [string, object] => [
  hyperNodesPath,
  hyperNodeOf(name, tier, members),
];

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
      [definitionsPath, hyperNodeDefinition],
      hyperNode("rack", 1, membersOf("Node", ["node-3", "node-4"])),
      hyperNode("solo", 1, membersOf("Node", ["node-2"])),
      hyperNode("hall", 2, membersOf("Node", ["node-1", "node-2", "node-3", "node-4"])),
      hyperNode("circle", 1, membersOf("HyperNode", ["circle"])),
      template("a", { networkTopology, tasks: [wide(4)], policies: [policy("PodFailed", "RestartPod")] }),
      template("b", { tasks: [{ ...wide(4), partitionPolicy }] }),
    ],
    spec: { flows: [{ name: "a" }, whileRunning("b", "a")] },
    lives: living({
      "a-main-1": [{ runMs: 2 * minutes, exitCode: 1 }, { runMs: 5 * minutes }],
      "*": [{ runMs: 5 * minutes }],
    }),
    ends: "Succeed",
  }),
];

/** Gangs that must be inside a HyperNode, on a real scheduler, which knows only the nodes that their pods name. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  definitionsPath,
  hyperNodeDefinition,
  hyperNodeOf,
  hyperNodesPath,
  membersOf,
} from "../../../support/hyper-nodes.ts";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, must, running, type Scene } from "../scene.ts";
import { jobsPath } from "../volcano/examples.ts";
import {
  createGangs,
  type Fixture,
  type GangForm,
  hostFlags,
  inNamespace,
  judge,
  untilCompleted,
  untilGang,
} from "./fixture.ts";
import type { Gang } from "./record.ts";

const networkTopology = { mode: "hard", highestTierAllowed: 1 };

/** Has two pods on the two nodes of the rack at once, and further ones, of which the rack has room for two. */
const early: GangForm = { name: "early", pods: 2, replicas: 5, cpu: "1", seconds: 3_600, networkTopology };
const inRack = 4;

/** The node outside of the rack has room for it. */
const late: GangForm = { name: "late", pods: 1, cpu: "2", seconds: 3, networkTopology };

/** The cluster has room for it, the rack never. */
const never: GangForm = { name: "never", pods: 3, cpu: "2", seconds: 3, networkTopology };

const waits = /needs 1 × 2 cpu inside one HyperNode of tier ≤ 1; the best, rack, has room for 0/;
const cannot =
  /would not fit the empty cluster: needs 3 × 2 cpu inside one HyperNode of tier ≤ 1; the best, rack, has room for 2/;

const nodesOf = async ({ cluster }: Scene): Promise<readonly string[]> => {
  const { body } = await cluster.api.call("GET", "/api/v1/nodes");
  return Object(body)
    ["items"].map((node: { metadata: { name: string } }) => node.metadata.name)
    .toSorted();
};

/** Creates HyperNodes: a rack of two nodes, a hall of all, and one in a circle. */
const createHyperNodes = async ({ cluster: { api } }: Scene, rack: readonly string[]): Promise<void> => {
  await api.call("POST", definitionsPath, hyperNodeDefinition);
  await api.until(hyperNodesPath, ({ status }) => status === 200, 30_000);
  const hall = [{ type: "Node", selector: { regexMatch: { pattern: "^.+$" } } }];
  for (const one of [
    hyperNodeOf("rack", 1, membersOf("Node", rack)),
    hyperNodeOf("hall", 2, hall),
    hyperNodeOf("circle", 1, membersOf("HyperNode", ["circle"])),
  ]) {
    const { status, body } = await api.call("POST", hyperNodesPath, one);
    must(status === 201, `no HyperNode: ${JSON.stringify(body)}`);
  }
};

const says =
  (reason: RegExp) =>
  ({ reasons }: Gang): boolean =>
    [...reasons].some((one) => reason.test(one));

/** Gangs inside a rack, of which one waits although a node outside of it is free. */
export const placing = async (fixture: Fixture): Promise<readonly string[]> => {
  const { scene, record, namespace } = fixture;
  const { api } = scene.cluster;
  const rack = (await nodesOf(scene)).slice(0, 2);
  await createHyperNodes(scene, rack);
  try {
    const bound = (name: string) => record.pods(namespace, name).flatMap(({ node }) => node ?? []);
    await createGangs(fixture, [early]);
    await untilGang(fixture, early.name, "in the rack", () => bound(early.name).length >= inRack, patienceMs);
    await createGangs(fixture, [late, never]);
    await untilGang(fixture, late.name, "waiting", says(waits), patienceMs);
    await untilGang(fixture, never.name, "told that it never fits", says(cannot), patienceMs);
    await sleep(5_000);
    const early4 = bound(early.name);
    must(early4.length === inRack, `${early4.length} pods of ${early.name} have nodes, expected ${inRack}`);
    must(
      early4.every((node) => rack.includes(node)),
      `pods on ${early4.join()}, and the rack is ${rack.join()}`,
    );
    must(bound(late.name).length + bound(never.name).length === 0, "a gang has a pod outside of the rack");
    await api.call("DELETE", `${jobsPath(namespace)}/${early.name}`);
    await untilCompleted(fixture, late.name);
    must(
      bound(late.name).every((node) => rack.includes(node)),
      `${late.name} ran on ${bound(late.name).join()}`,
    );
    judge(fixture, [late]);
    return [`${inRack} of 5 pods in the rack of 2 nodes, 0 on the third node`];
  } finally {
    await api.call("DELETE", `${definitionsPath}/${hyperNodeDefinition.metadata.name}`);
  }
};

export const insideHyperNode: Case = {
  name: "a HyperNode: gangs and their later pods stay inside, or wait, although another node is free",
  run: (scene) => inNamespace(scene, "gang-near", (fixture) => running(scene, () => placing(fixture), hostFlags)),
};

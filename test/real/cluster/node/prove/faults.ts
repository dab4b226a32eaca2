/** Checks that faults of containers and machines look in the API as on a real cluster. */

import { setTimeout as sleep } from "node:timers/promises";
import { testCase } from "../../../../support/test-case.ts";
import type { Cluster } from "../../cluster.ts";
import { exhaustMemory, killContainer, type Victim } from "../../faults.ts";
import type { Node } from "../../nodes.ts";
import type { Pod } from "../objects.ts";
import {
  type Check,
  container,
  ended,
  endOf,
  inPhase,
  isGone,
  logOf,
  must,
  post,
  remove,
  same,
  shell,
  until,
  waitsFor,
} from "./kit.ts";
import { readyIs } from "./nodes.ts";

const first = (cluster: Cluster): Node => {
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error("there is no node");
  return node;
};

const victim = (cluster: Cluster, { metadata }: Pod): Victim => ({
  ...{ node: first(cluster), namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
  container: "main",
});

const limits = { resources: { limits: { memory: "200Mi" } } };

const killed: Check = testCase(
  "a container killed from outside is Failed, 137, Error; one whose memory limit is reached OOMKilled",
  async (cluster) => {
    const names = await Promise.all(
      ["killed", "squeezed"].map((word) =>
        post(cluster, word, { containers: [shell("exec python3 -c 'import time; time.sleep(1000)'", limits)] }),
      ),
    );
    const pods = await Promise.all(names.map((name) => until(cluster, name, inPhase("Running"))));
    await sleep(500);
    const [one, two] = pods.map((pod) => victim(cluster, pod));
    if (one === undefined || two === undefined) throw new Error("two pods were made");
    killContainer(one);
    await exhaustMemory(two);
    const ends = await Promise.all(names.map(async (name) => endOf(await until(cluster, name, ended))));
    same(
      ends.map(({ exitCode, reason }) => [exitCode, reason]),
      [
        [137, "Error"],
        [137, "OOMKilled"],
      ],
      "ends",
    );
    return "137 Error, 137 OOMKilled";
  },
);

const refused: Check = testCase(
  "a refused pull is ErrImagePull and ImagePullBackOff for the pods that it is said of, until it is taken back",
  async (cluster) => {
    const node = first(cluster);
    await node.refusePulls(["^default/unlucky-"]);
    const unlucky = await post(cluster, "unlucky", { containers: [shell("exit 0")] });
    const lucky = await post(cluster, "lucky", { containers: [shell("exit 0")] });
    const waiting = await until(cluster, unlucky, (pod) => waitsFor(container(pod).state) === "ImagePullBackOff");
    same((await until(cluster, lucky, ended)).status?.phase, "Succeeded", "the other pod");
    same(waiting.status?.phase, "Pending", "phase");
    await node.refusePulls([]);
    same((await until(cluster, unlucky, ended)).status?.phase, "Succeeded", "taken back");
    return "ImagePullBackOff, then Succeeded";
  },
);

const suspended: Check = testCase(
  "a suspended machine is silent and its pods stand still; resumed, they go on where they were",
  async (cluster) => {
    const node = first(cluster);
    const name = await post(cluster, "stands", { containers: [shell("while :; do echo x; sleep 0.1; done")] });
    await until(cluster, name, inPhase("Running"));
    await sleep(500);
    node.suspend();
    await readyIs(cluster, node.name, "Unknown");
    node.resume();
    await readyIs(cluster, node.name, "True");
    const before = (await logOf(cluster, name)).length;
    await sleep(1_000);
    must((await logOf(cluster, name)).length > before, "it does not go on", before);
    await remove(cluster, name);
    await isGone(cluster, name);
    return `${before / 2} lines before it went on`;
  },
);

export const faultChecks: readonly Check[] = [killed, refused, suspended];

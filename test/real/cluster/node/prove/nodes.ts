/** Checks of nodes that are silent, die, or come back, and of real Spark that loses an executor. */

import { setTimeout as sleep } from "node:timers/promises";
import { testCase } from "../../../../support/test-case.ts";
import type { Cluster } from "../../cluster.ts";
import { allowSpark, postDriver } from "../../handmade.ts";
import { pidOf, processGone } from "./ends.ts";
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
  took,
  until,
} from "./kit.ts";

type NodeObject = { status: { conditions: { type: string; status: string }[] } };

export const readyIs = async ({ api }: Cluster, name: string, wanted: string): Promise<void> => {
  const holds = (body: unknown): boolean =>
    (body as NodeObject).status.conditions.some(({ type, status }) => type === "Ready" && status === wanted);
  await api.until(`/api/v1/nodes/${name}`, ({ status, body }) => status === 200 && holds(body), 60_000);
};

const frozen: Check = testCase(
  "a frozen node turns Unknown while its pods run on; thawed, it tells what happened meanwhile",
  async (cluster) => {
    const node = cluster.nodes[0];
    must(node !== undefined, "a node", cluster.nodes.length);
    const name = await post(cluster, "onice", { containers: [shell("while :; do echo x; sleep 0.1; done")] });
    await until(cluster, name, inPhase("Running"));
    const pid = await pidOf(cluster, name);
    node?.freeze();
    const { ms } = await took(readyIs(cluster, "node-1", "Unknown"));
    process.kill(pid, "SIGKILL");
    const still = await until(cluster, name, () => true);
    same(still.status?.phase, "Running", "phase while frozen");
    node?.thaw();
    const pod = await until(cluster, name, ended);
    same(endOf(pod).exitCode, 137, "end");
    await readyIs(cluster, "node-1", "True");
    return `Unknown after ${(ms / 1000).toFixed(1)} s`;
  },
);

const onNode = (name: string): object => ({ nodeSelector: { "kubernetes.io/hostname": name } });

const died: Check = testCase(
  "a killed node takes its processes along; back, it reports what was lost and starts what may start again",
  async (cluster) => {
    const node = await cluster.addNode("node-2");
    const never = await post(cluster, "never", { ...onNode("node-2"), containers: [shell("exec sleep 1000")] });
    const always = await post(cluster, "always", {
      ...onNode("node-2"),
      restartPolicy: "Always",
      containers: [shell("exec sleep 1000")],
    });
    const first = await until(cluster, never, inPhase("Running"));
    await until(cluster, always, inPhase("Running"));
    const pid = await pidOf(cluster, never);
    await node.kill();
    const { ms } = await took(processGone(pid));
    const silent = await until(cluster, never, () => true);
    same(silent.status?.phase, "Running", "nobody said that it died");
    await cluster.addNode("node-2");
    const lost = await until(cluster, never, ended);
    same(
      [lost.status?.phase, endOf(lost).exitCode, endOf(lost).reason],
      ["Failed", 137, "ContainerStatusUnknown"],
      "end",
    );
    const again = await until(
      cluster,
      always,
      (pod) => container(pod).restartCount === 1 && "running" in container(pod).state,
    );
    must(first.status?.podIP !== again.status?.podIP, "a fresh address", again.status);
    for (const name of [never, always]) {
      await remove(cluster, name);
      await isGone(cluster, name);
    }
    return `process gone after ${ms} ms`;
  },
);

const executorDies: Check = testCase(
  "a real Spark executor killed with SIGKILL is Failed 137 at once, is replaced, and the driver succeeds",
  async (cluster) => {
    const { api } = cluster;
    await allowSpark(api, "default");
    const began = performance.now();
    await postDriver(api, { namespace: "default", name: "loses", sparkVersion: "4.0.4", slices: 400, executors: 2 });
    const driver = "loses-driver";
    const executor = async (number: number): Promise<string> => {
      const list =
        "/api/v1/namespaces/default/pods?labelSelector=spark-role%3Dexecutor%2Cspark-app-selector%3Dspark-loses";
      const find = (body: unknown): string | undefined =>
        (body as { items: { metadata: { name: string } }[] }).items.find(({ metadata }) =>
          metadata.name.endsWith(`-exec-${number}`),
        )?.metadata.name;
      const reply = await api.until(list, ({ body }) => find(body) !== undefined, 90_000);
      return find(reply.body) ?? "";
    };
    const name = await executor(1);
    await until(cluster, name, inPhase("Running"));
    const waiting = until(cluster, driver, ended, 180_000);
    while (!(await logOf(cluster, driver)).includes("with ID 1,")) await sleep(100);
    process.kill(await pidOf(cluster, name, "spark-kubernetes-executor"), "SIGKILL");
    const path = `/api/v1/namespaces/default/pods/${name}`;
    const said = ({ status, body }: { status: number; body: unknown }): boolean =>
      status === 404 || JSON.stringify(body).includes('"exitCode":137');
    const { ms } = await took(api.until(path, said, 10_000));
    must(ms < 1500, "too slow", ms);
    await executor(3);
    const pod = await waiting;
    const log = await logOf(cluster, driver);
    same(pod.status?.phase, "Succeeded", "the driver");
    must(log.includes("Pi is roughly 3."), "the result", log.slice(-1000));
    same(container(pod, "spark-kubernetes-driver").imageID, "pypi/pyspark@4.0.4", "imageID");
    return `137 after ${ms} ms; Succeeded after ${((performance.now() - began) / 1000).toFixed(1)} s`;
  },
);

export const nodeChecks: readonly Check[] = [frozen, died];
export const sparkChecks: readonly Check[] = [executorDies];

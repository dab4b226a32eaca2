/** A real SparkCluster: a master, workers, and a job of another application on it, while the host is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { killing } from "../killing.ts";
import { type Case, kubectl, must, pi, type Scene } from "../scene.ts";
import { apachePi, caseFile, created, hostArgs, upstreamManifest } from "./applications.ts";
import { currentOf, openBook } from "./book.ts";
import { keptLog, podOf } from "./judgements.ts";

const plural = "sparkclusters.spark.apache.org";

/** Upstream's name of the cluster of its row E2. */
const name = "spark-cluster-succeeded-test";

const version = "4.1.1";

const state = z.looseObject({ currentStateSummary: z.string(), message: z.string().optional() });

const shape = z.object({
  metadata: z.object({ uid: z.string() }),
  status: z.object({ currentState: state, stateTransitionHistory: z.record(z.string(), state) }).optional(),
});

const read = async ({ cluster }: Scene) =>
  shape.parse(JSON.parse(await kubectl(cluster, ["get", plural, name, "-o", "json"])));

/** Waits until the cluster says so; returns its states. */
const untilSays = async (scene: Scene, says: RegExp): Promise<readonly string[]> => {
  const until = performance.now() + 240_000;
  for (;;) {
    const { status } = await read(scene);
    if (says.test(status?.currentState.message ?? ""))
      return Object.values(status?.stateTransitionHistory ?? {}).map(({ currentStateSummary }) => currentStateSummary);
    must(performance.now() < until, `${name} does not say ${says}: ${JSON.stringify(status)}`);
    await sleep(300);
  }
};

const replicasOf = ({ cluster }: Scene): Promise<string> =>
  kubectl(cluster, ["get", "statefulset", `${name}-worker`, "-o", "jsonpath={.spec.replicas}/{.status.readyReplicas}"]);

/** An application whose driver joins the cluster, and creates no executor pods. */
const runsOn = async (scene: Scene): Promise<string> => {
  const book = openBook(scene.cluster.api);
  try {
    const app = "on-cluster";
    await created(
      scene,
      apachePi(app, version, {
        driverArgs: ["20"],
        sparkConf: {
          "spark.master": `spark://${name}-master-svc:7077`,
          // A standalone master has no secret to share.
          "spark.authenticate": "false",
          "spark.cores.max": "1",
          "spark.executor.cores": "1",
        },
      }),
    );
    const page = await book.until(app, "over", (one) => currentOf(one) === "ResourceReleased", patienceMs);
    const said = pi.exec(await keptLog(scene, podOf(page, "driver")))?.[0];
    must(said !== undefined, `${app}: its driver's log does not say that Pi is roughly 3`);
    const executors = [...page.pods.values()].filter(({ metadata }) => metadata.labels["spark-role"] === "executor");
    must(executors.length === 0, `${app} has ${executors.length} executor pods of its own`);
    return `${app}: "${said}" by the workers of ${name}`;
  } finally {
    await book.stop();
  }
};

/** E2, then one worker more and fewer, a job, and the deletion. */
export const realCluster = (dir: string): Case => ({
  name: "upstream's row E2: a real master and workers, one more and one fewer, and a job on them; the host is killed",
  run: async (scene) => {
    const killer = killing(scene, hostArgs);
    try {
      return await killer.during(
        (async () => {
          const manifest = await upstreamManifest(
            caseFile(dir, "state-transition", "spark-cluster-example-succeeded.yaml"),
            version,
          );
          await created(scene, manifest);
          const states = await untilSays(scene, /has reached ready state/);
          must(states.join() === "Submitted,RunningHealthy", `${name}: ${states.join(" → ")}`);
          must((await replicasOf(scene)) === "1/1", `its workers are ${await replicasOf(scene)}`);
          const job = await runsOn(scene);
          const scale = (initWorkers: number) =>
            kubectl(scene.cluster, [
              ...["patch", plural, name, "--type=merge", "-p"],
              JSON.stringify({ spec: { clusterTolerations: { instanceConfig: { initWorkers } } } }),
            ]);
          await scale(2);
          while ((await replicasOf(scene)) !== "2/2") await sleep(500);
          await untilSays(scene, /has reached ready state/);
          await scale(1);
          while ((await replicasOf(scene)) !== "1/1") await sleep(500);
          await kubectl(scene.cluster, ["delete", plural, name, "--wait", "--timeout=60s"]);
          const left = (): Promise<string> =>
            kubectl(scene.cluster, [
              ...["get", "pods,services,statefulsets,networkpolicies,poddisruptionbudgets,hpa", "-o", "name"],
              ...["-l", `spark.operator/spark-cluster-name=${name}`],
            ]);
          const until = performance.now() + 60_000;
          while ((await left()) !== "" && performance.now() < until) await sleep(500);
          must((await left()) === "", `left behind: ${await left()}`);
          return [`${states.join(" → ")}, 1, 2 and 1 workers`, job, `${killer.kills()} kills`];
        })(),
      );
    } finally {
      await killer.stop();
    }
  },
});

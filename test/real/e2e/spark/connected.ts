/** A SparkConnect server answers a real query of PySpark's Connect client, is recreated when its pod is lost, and is deleted when idle. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { connectClient } from "../../setup/connect.ts";
import { sparkHome } from "../../setup/spark.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";

const name = "spark-connect";
const path = `/apis/sparkoperator.k8s.io/v1alpha1/namespaces/default/sparkconnects/${name}`;

const connectServer = z.object({
  status: z
    .looseObject({
      state: z.string().optional(),
      server: z.looseObject({ podName: z.string().optional(), podIp: z.string().optional() }).optional(),
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
      executors: z.record(z.string(), z.number()).optional(),
    })
    .optional(),
});

type Status = NonNullable<z.infer<typeof connectServer>["status"]>;

const awaitReady = async ({ cluster }: Scene, than: string | undefined): Promise<Status> => {
  const until = performance.now() + 300_000;
  for (;;) {
    const { status } = connectServer.parse((await cluster.api.call("GET", path)).body);
    const ip = status?.server?.podIp;
    if (status?.state === "Ready" && ip !== undefined && ip !== than) return status;
    must(performance.now() < until, `${name} is not Ready after 300 s: ${JSON.stringify(status)}`);
    await sleep(300);
  }
};

/** The query of a user in Python, against the server's pod IP: services have no addresses here. */
const query = `
import sys
from pyspark.sql.connect.session import SparkSession
spark = SparkSession.builder.remote("sc://" + sys.argv[1] + ":15002").getOrCreate()
rows = spark.range(0, 100000, 1, 4).selectExpr("sum(id) as total", "count(*) as rows").collect()
print("total", rows[0]["total"], "rows", rows[0]["rows"])
`;

const ask = async (ip: string): Promise<string> => {
  const home = sparkHome("4.0.4");
  const pythonPath = [
    await connectClient(),
    join(home, "python", "lib", "pyspark.zip"),
    join(home, "python", "lib", "py4j-0.10.9.9-src.zip"),
  ];
  return await new Promise((resolve, reject) => {
    const env = { PATH: process.env["PATH"] ?? "", PYTHONPATH: pythonPath.join(delimiter), SPARK_HOME: home };
    const child = spawn("python3", ["-c", query, ip], { env });
    let said = "";
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(said.trim()) : reject(new Error(`the query ended ${code}: ${said}`)),
    );
  });
};

/** Asks that the server be deleted once it is idle, and waits until that has happened: s. */
const untilDeletedIdle = async ({ cluster }: Scene): Promise<number> => {
  const began = performance.now();
  await kubectl(cluster, ["annotate", "sparkconnect", name, "rekindle.dev/delete-when-idle=1m"]);
  while ((await cluster.api.call("GET", path)).status !== 404) {
    must(performance.now() - began < 240_000, `${name} is idle, and still there after 240 s`);
    await sleep(500);
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  must(seconds >= 60, `${name} was deleted after ${seconds} s`);
  return seconds;
};

const answer = "total 4999950000 rows 100000";

/** `file` is upstream's example. */
export const connects = (file: string): Case => ({
  name: "upstream's SparkConnect example answers a PySpark query, again when its server was lost, and is deleted when idle",
  run: (scene) =>
    running(scene, async () => {
      await kubectl(scene.cluster, ["apply", "-f", file]);
      const first = await awaitReady(scene, undefined);
      const said = await ask(first.server?.podIp ?? "");
      must(said.endsWith(answer), `the query said "${said}", expected "${answer}"`);
      await kubectl(scene.cluster, ["delete", "pod", first.server?.podName ?? "", "--wait=false"]);
      const second = await awaitReady(scene, first.server?.podIp);
      must((await ask(second.server?.podIp ?? "")).endsWith(answer), "the second server answered otherwise");
      const seconds = await untilDeletedIdle(scene);
      return [
        `${first.server?.podName} at ${first.server?.podIp}: ${said}; made anew at ${second.server?.podIp}`,
        `deleted ${seconds} s after its user asked for that when no task has run for one minute`,
      ];
    }),
});

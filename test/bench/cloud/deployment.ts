/**
 * A deployment on AWS as the benchmarks run it: the built bundles under the real runtime client, queues by ElasticMQ, records in
 * DynamoDB Local, a real API server, and a forwarder as a process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { openAudit } from "../../real/cluster/audit.ts";
import { startCluster } from "../../real/cluster/cluster.ts";
import { build, install } from "../../real/e2e/installed.ts";
import { openCloud } from "../../real/lambda/cloud.ts";
import { spared } from "../../real/lambda/fates.ts";
import { none as unmeddled } from "../../real/lambda/meddler.ts";
import { credentials, region } from "../../real/lambda/queues.ts";
import { randomFrom } from "../../real/lambda/random.ts";
import { startElasticMq } from "../../real/queue/elasticmq.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { runtimeClient } from "../../real/setup/lambda.ts";
import { startDynamoLocal } from "../../real/store/dynamodb.ts";
import { type Bench, openMail } from "../costs.ts";
import { openUnits } from "./units.ts";
import type { Counted } from "./used.ts";

export const table = "rekindle-bench";

/** Creates the table of records. */
export const createTable = async (endpoint: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const string = (AttributeName: string) => ({ AttributeName, AttributeType: "S" }) as const;
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [string("cluster"), string("key")],
      KeySchema: [
        { AttributeName: "cluster", KeyType: "HASH" },
        { AttributeName: "key", KeyType: "RANGE" },
      ],
    }),
  );
  client.destroy();
};

/** Starts the forwarder of a cluster: the bundle as a process, which watches without an end. */
export const startForwarder = ({ cloud }: Bench, dir: string): ChildProcess => {
  const child = spawn(process.execPath, [join(dir, "code", "forward.mjs")], {
    env: { PATH: process.env["PATH"] ?? "", ...cloud.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(join(dir, "forwarder.log"));
  child.stdout.pipe(log);
  child.stderr.pipe(log, { end: false });
  return child;
};

export const ended = async (child: ChildProcess): Promise<void> => {
  child.kill("SIGTERM");
  if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
};

export type Deployment = {
  readonly bench: Counted;
  /** Of the shipped service account. */
  readonly kubeconfig: string;
  readonly dir: string;
  /** The endpoint of the queues' server. */
  readonly endpoint: string;
  /** Ends the functions and their mappings. */
  endCloud(): Promise<void>;
  /** Ends all servers. */
  close(): Promise<void>;
};

/** `more`: settings of the functions beside the template's. */
export const openDeployment = async (more: Readonly<Record<string, string>> = {}): Promise<Deployment> => {
  await ensure(["go", "lambda", "queue", "store"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir, extra: audit.flags });
  const [broker, store] = await Promise.all([startElasticMq({ dir }), startDynamoLocal(dir)]);
  const units = await openUnits(store.endpoint);
  const close = async (): Promise<void> => {
    units.close();
    await Promise.all([broker.stop(), store.stop()]);
    await cluster.stop();
  };
  try {
    await createTable(store.endpoint);
    const kubeconfig = await install(cluster, undefined);
    const fate: Bench["fate"] = { now: { do: "live" } };
    const logs = join(dir, "logs");
    const { mail, heard } = openMail();
    const cloud = await openCloud({
      ...{ kubeconfig, endpoint: broker.endpoint, client: await runtimeClient(), dir: logs, random: randomFrom(1) },
      ...{ mischief: () => unmeddled, heard, visibilitySeconds: 180, concurrency: 4, windowSeconds: 20 },
      environment: {
        REKINDLE_CHECKPOINTS: `dynamodb://${table}?keepDays=90`,
        REKINDLE_UPDATES_URL: `${broker.endpoint}/000000000000/updates.fifo`,
        AWS_ENDPOINT_URL_DYNAMODB: units.endpoint,
        ...more,
      },
      fates: () => (name, typicalMs) => (fate.now.do === "live" ? spared(name, typicalMs) : fate.now),
    });
    const bench: Counted = { cluster, cloud, audit, mail, fate, units, logs };
    return { bench, kubeconfig, dir, endpoint: broker.endpoint, endCloud: cloud.stop, close };
  } catch (cause) {
    await close();
    throw cause;
  }
};

/** Rekindle deployed into the small Lambda: the built bundles as functions, their queues, mappings and schedules. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { parse } from "yaml";
import * as z from "zod";
import type { Definition } from "./definition.ts";
import type { Fates } from "./fates.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { type Mapping, startMapping } from "./mapping.ts";
import { type Meddler, type Mischief, openMeddler } from "./meddler.ts";
import { deploy, type Lambda } from "./pool.ts";
import { createQueues, credentials, openClient, type Queues, region } from "./queues.ts";
import type { Random } from "./random.ts";

const dist = join(import.meta.dirname, "..", "..", "..", "dist");

const names = ["reconcile", "wake", "resync", "forward", "api", "admission"] as const;
export type FunctionName = (typeof names)[number];

export type CloudOptions = {
  /** Path of the real runtime interface client. */
  readonly client: string;
  /** The endpoint of the queue server. */
  readonly endpoint: string;
  /** The kubeconfig of functions without an account of their own. */
  readonly kubeconfig: string;
  /** Kubeconfigs of functions with an account of their own, by function name. */
  readonly kubeconfigs?: Readonly<Record<string, string>>;
  /**
   * Folder of the functions' logs and of a copy of their bundles, so that a later build does not change the deployment.
   */
  readonly dir: string;
  readonly random: Random;
  readonly fates: () => Fates;
  readonly mischief: () => Mischief;
  /** Called with every message, and the delay that it asks for, when a function sends it. */
  readonly heard?: (queueUrl: string, body: string, delaySeconds: number) => void;
  readonly visibilitySeconds: number;
  /** Number of parallel batches of keys. */
  readonly concurrency: number;
  /** Seconds for which one run of the forwarder watches. */
  readonly windowSeconds: number;
  /** Additional variables of the functions. */
  readonly environment?: Definition["environment"];
};

export type Cloud = {
  readonly functions: Readonly<Record<FunctionName, Lambda>>;
  readonly ledger: Ledger;
  readonly meddler: Meddler;
  readonly queue: SQSClient;
  readonly queues: Queues;
  /** The variables of every function. */
  readonly environment: Definition["environment"];
  /** Deploys another function with its own environments; the caller stops it. */
  another(name: string, more?: Definition["environment"]): Lambda;
  /** The mapping of the FIFO queue to `reconcile`, and of the delay queue to `wake`. */
  readonly mappings: { readonly keys: Mapping; readonly timers: Mapping };
  stop(): Promise<void>;
};

const kubeconfig = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), "certificate-authority-data": z.string() }) }),
  ]),
  users: z.tuple([z.object({ user: z.object({ token: z.string() }) })]),
});

/** Returns the flat cluster record that functions read: no file, and nothing to look up. */
export const recordOf = async (file: string): Promise<string> => {
  const { clusters, users } = kubeconfig.parse(parse(await readFile(file, "utf8")));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  return JSON.stringify({ server, ca: Buffer.from(data, "base64").toString(), token: users[0].user.token });
};

/** The key that signs triggers; of this lane only. */
export const triggerSecret = "a secret of nobody's";

const environmentOf = async (
  options: CloudOptions,
  meddler: Meddler,
  queues: Queues,
): Promise<Definition["environment"]> => ({
  REKINDLE_CLUSTER_RECORD: await recordOf(options.kubeconfig),
  REKINDLE_CLUSTER_ALIAS: "default",
  REKINDLE_FIFO_URL: meddler.urlOf(queues.fifo),
  REKINDLE_DELAY_URL: meddler.urlOf(queues.delay),
  REKINDLE_WINDOW: String(options.windowSeconds),
  REKINDLE_TRIGGER_SECRET: triggerSecret,
  AWS_ENDPOINT_URL_SQS: meddler.endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  ...options.environment,
});

/** Returns the cluster records of functions with their own account. */
const recordsOf = async ({ kubeconfigs = {} }: CloudOptions): Promise<Record<string, Definition["environment"]>> => {
  const all = Object.entries(kubeconfigs).map(async ([name, file]) => {
    return [name, { REKINDLE_CLUSTER_RECORD: await recordOf(file) }] as const;
  });
  return Object.fromEntries(await Promise.all(all));
};

const timeoutMs = 30_000;

const definitionOf = (name: string, options: CloudOptions, environment: Definition["environment"]): Definition => ({
  ...{ name, environment, timeoutMs },
  taskRoot: join(options.dir, "code"),
  module: name,
  memoryMb: 256,
  // Two forwarders may run at once: a retried run overlaps with the next one.
  concurrency: name === "reconcile" ? options.concurrency : 2,
  logDir: options.dir,
});

/** Deploys everything but the schedules, which a lane starts and stops itself. */
export const openCloud = async (options: CloudOptions): Promise<Cloud> => {
  const { client, endpoint, random, mischief, heard, fates, visibilitySeconds } = options;
  const ledger = openLedger();
  const queue = openClient(endpoint);
  const queues = await createQueues(queue, "keys", { visibilitySeconds, maxReceiveCount: 1_000 });
  const meddler = await openMeddler({ endpoint, random, mischief, ...(heard === undefined ? {} : { heard }) });
  const environment = await environmentOf(options, meddler, queues);
  await cp(dist, join(options.dir, "code"), { recursive: true });
  const records = await recordsOf(options);
  const made = (name: string, more: Definition["environment"] = {}): Lambda =>
    deploy({ client, ledger, fates }, definitionOf(name, options, { ...environment, ...records[name], ...more }));
  const functions = {
    reconcile: made("reconcile"),
    wake: made("wake"),
    resync: made("resync"),
    forward: made("forward"),
    api: made("api"),
    admission: made("admission"),
  };
  const shared = { client: queue, batchSize: 10, waitSeconds: 2 };
  const { concurrency } = options;
  const keys = startMapping({ ...shared, queueUrl: queues.fifo, lambda: functions.reconcile, concurrency });
  const timers = startMapping({ ...shared, queueUrl: queues.delay, lambda: functions.wake, concurrency: 2 });
  return {
    ...{ functions, ledger, meddler, queue, queues, environment, another: made },
    mappings: { keys, timers },
    stop: async () => {
      await Promise.all([keys.stop(), timers.stop()]);
      await Promise.all(names.map((name) => functions[name].stop()));
      await meddler.close();
      queue.destroy();
    },
  };
};

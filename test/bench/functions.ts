/**
 * `npm run bench -- functions`: the cost of an application that functions run. The built bundles run in environments of
 * the real runtime client, behind a real queue and on a real API server; `kubelet.ts` writes the statuses of pods.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openAudit } from "../real/cluster/audit.ts";
import { startCluster } from "../real/cluster/cluster.ts";
import { build, install } from "../real/e2e/installed.ts";
import { type Cloud, openCloud } from "../real/lambda/cloud.ts";
import { spared } from "../real/lambda/fates.ts";
import { gigabyteSeconds, median } from "../real/lambda/ledger.ts";
import { none } from "../real/lambda/meddler.ts";
import { sendAll } from "../real/lambda/queues.ts";
import { randomFrom } from "../real/lambda/random.ts";
import { startElasticMq } from "../real/queue/elasticmq.ts";
import { ensure } from "../real/setup/ensure.ts";
import { runtimeClient } from "../real/setup/lambda.ts";
import { firstQueues } from "../support/standins.ts";
import {
  type Bench,
  type Cost,
  costOf,
  figuresOf,
  openMail,
  type Row,
  recount,
  settled,
  tabulate,
  tell,
} from "./costs.ts";
import type { Figure } from "./figures.ts";
import { countFlow, dispatched } from "./flow.ts";
import { type Life, live } from "./kubelet.ts";

/** An application runs longer than the 16 s in which a late submission may still arrive, as with a real driver. */
const driverOnly: Life = { executors: 0, losses: 0, paceMs: 4_300 };
const withExecutors: Life = { executors: 2, losses: 0, paceMs: 3_000 };
const withLoss: Life = { executors: 2, losses: 1, paceMs: 3_000 };
const short: Life = { ...driverOnly, paceMs: 500 };
const crowd = 50;

/** Runs `count` applications one after the other; the callers use the mean of the costs. */
const lives = async (bench: Bench, name: string, life: Life, count: number): Promise<readonly Cost[]> => {
  const costs: Cost[] = [];
  for (let index = 0; index < count; index++) {
    costs.push(await costOf(bench, () => live(bench.cluster.api, `${name}-${index}`, life)));
    process.stderr.write(`${name} ${index + 1}/${count}: ${costs.at(-1)?.entries.length} invocations\n`);
  }
  return costs;
};

const startsPerFunction = 7;

const reconciled = ({ cloud }: Bench): number => cloud.ledger.entries.filter(({ name }) => name === "reconcile").length;

/** Resolves when there are more invocations of `reconcile` than these, and the message of the last one is deleted. */
const handled = async (bench: Bench, before: number): Promise<void> => {
  for (const until = performance.now() + 60_000; ; await sleep(50)) {
    if (reconciled(bench) > before && !bench.cloud.mappings.keys.isBusy()) return;
    if (performance.now() > until) throw new Error("a message was not delivered within a minute");
  }
};

/** Measures deliveries to a key at rest: cold, in a new environment, and warm. */
const starts = async (bench: Bench): Promise<readonly Figure[]> => {
  const { ledger, queue, queues } = bench.cloud;
  await settled(bench);
  const before = ledger.entries.length;
  for (const fate of [{ do: "kill", when: "idle" }, { do: "live" }] as const) {
    bench.fate.now = fate;
    for (let index = 0; index < startsPerFunction; index++) {
      const message = {
        cluster: "default",
        kind: "SparkApplication",
        namespace: "default",
        name: "life-0",
        reason: "x",
      };
      const id = `start-${fate.do}-${index}`;
      const invocations = reconciled(bench);
      await sendAll(queue, queues.fifo, [
        { MessageBody: JSON.stringify(message), MessageGroupId: "start", MessageDeduplicationId: id },
      ]);
      await handled(bench, invocations);
    }
  }
  const entries = ledger.entries.slice(before).filter(({ name }) => name === "reconcile");
  const cold = entries.filter(({ initMs }) => initMs !== undefined);
  const warm = entries.slice(-startsPerFunction + 1);
  const ms = (name: string, values: readonly number[]): Figure => ({
    name: `functions.reconcile.${name}`,
    value: median(values),
    unit: "ms",
  });
  return [
    ms(
      "cold-start",
      cold.map(({ initMs = 0 }) => initMs),
    ),
    ms(
      "cold-delivery",
      cold.map(({ durationMs }) => durationMs),
    ),
    ms(
      "warm-delivery",
      warm.map(({ durationMs }) => durationMs),
    ),
    {
      name: "functions.reconcile.peak-memory",
      value: Math.max(...entries.map(({ peakMb = 0 }) => peakMb)),
      unit: "MiB",
    },
  ];
};

/** Returns the figures of the functions that run without work too. */
const standing = (bench: Bench, sinceMs: number, resyncs: number): readonly Figure[] => {
  const { entries } = bench.cloud.ledger;
  const hours = (performance.now() - sinceMs) / 3_600_000;
  const forward = gigabyteSeconds(entries.filter(({ name }) => name === "forward"));
  return [
    { name: "functions.forward.gb-seconds-per-hour", value: forward / hours, unit: "GB-s" },
    {
      name: "functions.resync.gb-seconds-per-run",
      value: gigabyteSeconds(entries.filter(({ name }) => name === "resync")) / resyncs,
      unit: "GB-s",
    },
  ];
};

const nobody = {
  cluster: "default",
  kind: "SparkApplication",
  namespace: "default",
  name: "nobody",
  reason: "warm-up",
};

/** Starts every possible environment and runs one application, so that no start falls into a measurement. */
const warmUp = async ({ cluster, cloud }: Bench): Promise<void> => {
  const event = { Records: [{ messageId: "1", body: JSON.stringify(nobody), attributes: {} }] };
  for (const lambda of [cloud.functions.reconcile, cloud.functions.wake])
    await Promise.all(Array.from({ length: lambda.definition.concurrency }, () => lambda.invoke(event)));
  await live(cluster.api, "warm-up", short);
};

const everything = async (bench: Bench): Promise<readonly Figure[]> => {
  const { cluster, cloud, audit } = bench;
  const since = performance.now();
  const flow = await dispatched(cluster.api);
  const audited = (await audit.read()).length;
  await warmUp(bench);
  await settled(bench);
  const alone = await lives(bench, "life", driverOnly, 3);
  const brief = await lives(bench, "short", short, 2);
  const executors = await lives(bench, "executors", withExecutors, 2);
  const losses = await lives(bench, "loss", withLoss, 2);
  const many = await costOf(bench, () =>
    Promise.all(Array.from({ length: crowd }, (_, index) => live(cluster.api, `crowd-${index}`, driverOnly))),
  );
  for (let run = 0; run < 3; run++) await cloud.functions.resync.invoke({ id: `bench-${run}` });
  const restart = await starts(bench);
  const last = alone.at(-1);
  if (last !== undefined) recount(bench, "one life", last);
  const loss = losses.at(-1);
  if (loss !== undefined) recount(bench, "a life with two executors and the loss of one", loss);
  const rows: readonly Row[] = [
    {
      ...{ name: "life", says: "application's life besides its executors", costs: alone },
      aims: { invocations: 6, "api-requests": 12 },
    },
    { name: "short-life", says: "the same, when it ends within 16 s of its submission", costs: brief },
    {
      ...{ name: "executor", says: "executor, from its creation to its end", costs: executors },
      ...{ base: alone, parts: withExecutors.executors },
    },
    { name: "executor-loss", says: "executor lost and replaced by Spark", costs: losses, base: executors },
    { name: `life-among-${crowd}`, says: `application of ${crowd} at once`, costs: [many], parts: crowd },
  ];
  tabulate(rows);
  tell("an application's life besides its executors", alone);
  tell(`two executors and the loss of one, the life included`, losses);
  tell(`an application of ${crowd} at once`, [many], crowd);
  const counted = [(await dispatched(cluster.api)) - flow, (await audit.read()).length - audited];
  console.log(`all requests of the service account: ${counted[0]} by the flow schema, ${counted[1]} by the audit log`);
  return [...rows.flatMap(figuresOf), ...restart, ...standing(bench, since, 3)];
};

/** Runs windows one after the other, as a schedule with the window's period does. */
const forwarding = (cloud: Cloud) => {
  let stopped = false;
  const loop = (async () => {
    while (!stopped) await cloud.functions.forward.invoke({ source: "aws.events" });
  })();
  return async (): Promise<void> => {
    stopped = true;
    await loop;
  };
};

/** Creates Volcano's queues, as its scheduler does: what their steps cost is no cost of an application. */
const furnish = async ({ call }: Bench["cluster"]["api"]): Promise<void> => {
  for (const queue of firstQueues) {
    const { status, body } = await call("POST", "/apis/scheduling.volcano.sh/v1beta1/queues", queue);
    if (status !== 201) throw new Error(`create a queue: ${JSON.stringify(body)}`);
  }
};

/** Throws when work was wrong or missing; high costs are only reported. */
export const benchFunctions = async (): Promise<readonly Figure[]> => {
  await ensure(["go", "lambda", "queue"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir, extra: audit.flags });
  const broker = await startElasticMq({ dir });
  try {
    const kubeconfig = await install(cluster, undefined);
    await countFlow(cluster.api);
    await furnish(cluster.api);
    const fate: Bench["fate"] = { now: { do: "live" } };
    const { mail, heard } = openMail();
    const cloud = await openCloud({
      ...{ kubeconfig, endpoint: broker.endpoint, client: await runtimeClient(), dir: join(dir, "logs") },
      ...{ random: randomFrom(1), mischief: () => none, visibilitySeconds: 180, concurrency: 4, windowSeconds: 20 },
      heard,
      fates: () => (name, typicalMs) => (name === "reconcile" ? fate.now : spared(name, typicalMs)),
    });
    const stopForwarding = forwarding(cloud);
    const figures = await everything({ cluster, cloud, audit, mail, fate });
    await stopForwarding();
    await cloud.stop();
    await rm(dir, { recursive: true, force: true });
    return figures;
  } finally {
    await broker.stop();
    await cluster.stop();
  }
};

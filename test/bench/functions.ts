/**
 * `npm run bench -- functions`: what an application costs when functions run it. The built bundles run in environments of the
 * real runtime client, behind a real queue and on a real API server; pods live as `kubelet.ts` writes it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit, type Request, tableOf } from "../cluster/audit.ts";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { build, install } from "../e2e/installed.ts";
import { type Cloud, openCloud } from "../lambda/cloud.ts";
import { type Fate, spared } from "../lambda/fates.ts";
import { type Entry, gigabyteSeconds, median } from "../lambda/ledger.ts";
import { none } from "../lambda/meddler.ts";
import { depthOf, sendAll } from "../lambda/queues.ts";
import { randomFrom } from "../lambda/random.ts";
import { startElasticMq } from "../queue/elasticmq.ts";
import { ensure } from "../setup/ensure.ts";
import { runtimeClient } from "../setup/lambda.ts";
import type { Figure } from "./figures.ts";
import { countFlow, dispatched } from "./flow.ts";
import { type Life, live } from "./kubelet.ts";

type Bench = {
  readonly cluster: Cluster;
  readonly cloud: Cloud;
  readonly audit: Audit;
  /** What happens to environments; a measurement of starts changes it. */
  readonly fate: { now: Fate };
};

const paceMs = 2_500;
const driverOnly: Life = { executors: 0, losses: 0, paceMs };
const withExecutors: Life = { executors: 2, losses: 0, paceMs };
const withLoss: Life = { executors: 2, losses: 1, paceMs };
const crowd = 50;

/** What one or several lives cost together. Forwarder and resync run whether there is work or not: they are told apart. */
type Cost = {
  readonly invocations: number;
  readonly sqs: number;
  readonly requests: readonly Request[];
  readonly gigabyteSeconds: number;
};

const isStep = ({ name }: Entry): boolean => name === "reconcile" || name === "wake";

/** Sends of all functions, and what the mappings needed to receive and delete; polls that brought nothing are not the application's. */
const sqsRequests = ({ meddler, mappings }: Cloud): number => {
  const sends = Object.values(meddler.requests()).reduce((sum, count) => sum + count, 0);
  return [mappings.keys, mappings.timers].reduce((sum, one) => sum + one.counts().full + one.counts().deletes, sends);
};

/** Until no message is anywhere, also none that is delayed, and no function is at work. */
const settled = async ({ cloud }: Bench): Promise<void> => {
  const { queue, queues, mappings } = cloud;
  const until = performance.now() + 180_000;
  for (let still = 0; still < 3; ) {
    await sleep(1_000);
    const depth = (await depthOf(queue, queues.fifo)) + (await depthOf(queue, queues.delay));
    const busy = mappings.keys.isBusy() || mappings.timers.isBusy();
    still = depth === 0 && !busy ? still + 1 : 0;
    if (performance.now() > until) throw new Error(`${depth} messages are left three minutes after the last life`);
  }
};

const costOf = async (bench: Bench, work: () => Promise<unknown>): Promise<Cost> => {
  const { cloud, audit } = bench;
  const before = { entries: cloud.ledger.entries.length, sqs: sqsRequests(cloud), log: (await audit.read()).length };
  await work();
  await settled(bench);
  const entries = cloud.ledger.entries.slice(before.entries).filter(isStep);
  const wrong = entries.filter(({ ended }) => ended !== "answered");
  if (wrong.length > 0) throw new Error(`${wrong.length} invocations of ${wrong[0]?.name} did not end well`);
  const requests = (await audit.read()).slice(before.log).filter(({ agent }) => agent.startsWith("rekindle-reconcile"));
  return {
    invocations: entries.length,
    sqs: sqsRequests(cloud) - before.sqs,
    requests,
    gigabyteSeconds: gigabyteSeconds(entries),
  };
};

/** One after the other; each cost is the mean. */
const lives = async (bench: Bench, name: string, life: Life, count: number): Promise<readonly Cost[]> => {
  const costs: Cost[] = [];
  for (let index = 0; index < count; index++) {
    costs.push(await costOf(bench, () => live(bench.cluster.api, `${name}-${index}`, life)));
    process.stderr.write(`${name} ${index + 1}/${count}: ${costs.at(-1)?.invocations} invocations\n`);
  }
  return costs;
};

const meanOf = (costs: readonly Cost[], value: (cost: Cost) => number): number =>
  costs.reduce((sum, cost) => sum + value(cost), 0) / costs.length;

const measures = [
  ["invocations", "invocations", (cost: Cost) => cost.invocations],
  ["sqs-requests", "requests", (cost: Cost) => cost.sqs],
  ["api-requests", "requests", (cost: Cost) => cost.requests.length],
  ["gb-seconds", "GB-s", (cost: Cost) => cost.gigabyteSeconds],
] as const;

type Aims = Readonly<Record<string, number>>;

/** What `costs` cost more than `base`, for each of `parts` that make the difference. */
const figuresOf = (
  name: string,
  costs: readonly Cost[],
  { base = [], parts = 1, aims = {} }: { base?: readonly Cost[]; parts?: number; aims?: Aims },
): readonly Figure[] =>
  measures.map(([what, unit, value]) => {
    const more = meanOf(costs, value) - (base.length === 0 ? 0 : meanOf(base, value));
    const aim = aims[what];
    return { name: `functions.${name}.${what}`, value: more / parts, unit, ...(aim === undefined ? {} : { aim }) };
  });

const tell = (name: string, costs: readonly Cost[]): void => {
  console.log(`API requests of ${name}, by verb and resource:`);
  for (const [what, count] of tableOf(costs.flatMap(({ requests }) => requests)))
    console.log(`  ${(count / costs.length).toFixed(1).padStart(6)}  ${what}`);
};

const startsPerFunction = 9;

/** A delivery to a key that rests: cold, in an environment that is made for it; and warm. */
const starts = async (bench: Bench): Promise<readonly Figure[]> => {
  const { ledger, queue, queues } = bench.cloud;
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
      await sendAll(queue, queues.fifo, [
        { MessageBody: JSON.stringify(message), MessageGroupId: "start", MessageDeduplicationId: id },
      ]);
      await settled(bench);
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

/** What runs whether there is work or not. */
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

const everything = async (bench: Bench): Promise<readonly Figure[]> => {
  const { cluster, cloud, audit } = bench;
  const since = performance.now();
  const flow = await dispatched(cluster.api);
  const audited = (await audit.read()).length;
  await costOf(bench, () => live(cluster.api, "warm-up", { ...driverOnly, paceMs: 500 }));
  const alone = await lives(bench, "life", driverOnly, 3);
  const executors = await lives(bench, "executors", withExecutors, 2);
  const losses = await lives(bench, "loss", withLoss, 2);
  const many = await costOf(bench, () =>
    Promise.all(Array.from({ length: crowd }, (_, index) => live(cluster.api, `crowd-${index}`, driverOnly))),
  );
  for (let run = 0; run < 3; run++) await cloud.functions.resync.invoke({ id: `bench-${run}` });
  const restart = await starts(bench);
  tell("an application's life besides its executors", alone);
  tell(`two executors and the loss of one, the life included`, losses);
  const counted = [(await dispatched(cluster.api)) - flow, (await audit.read()).length - audited];
  console.log(`all requests of the service account: ${counted[0]} by the flow schema, ${counted[1]} by the audit log`);
  return [
    ...figuresOf("life", alone, { aims: { invocations: 6, "api-requests": 12 } }),
    ...figuresOf("executor", executors, { base: alone, parts: withExecutors.executors }),
    ...figuresOf("executor-loss", losses, { base: executors }),
    ...figuresOf(`life-among-${crowd}`, [many], { parts: crowd }),
    ...restart,
    ...standing(bench, since, 3),
  ];
};

/** Windows one after the other, as a schedule with the window's own period. */
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

/** Throws when work was wrong or missing; dear is only dear. */
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
    const fate: Bench["fate"] = { now: { do: "live" } };
    const cloud = await openCloud({
      ...{ kubeconfig, endpoint: broker.endpoint, client: await runtimeClient(), dir: join(dir, "logs") },
      ...{ random: randomFrom(1), mischief: () => none, visibilitySeconds: 180, concurrency: 4, windowSeconds: 20 },
      fates: () => (name, typicalMs) => (name === "reconcile" ? fate.now : spared(name, typicalMs)),
    });
    const stopForwarding = forwarding(cloud);
    const figures = await everything({ cluster, cloud, audit, fate });
    await stopForwarding();
    await cloud.stop();
    await rm(dir, { recursive: true, force: true });
    return figures;
  } finally {
    await broker.stop();
    await cluster.stop();
  }
};

/** Computes costs from counts, each figure beside its formula; pure. */
import { asOf, prices, region } from "./prices.ts";

/** The use of resources by some work. */
export type Use = {
  readonly invocations: number;
  readonly gigabyteSeconds: number;
  /** Requests to SQS. */
  readonly sqs: number;
  readonly api: number;
  /** Request units of DynamoDB. */
  readonly writes: number;
  readonly reads: number;
  readonly logBytes: number;
};

export const none: Use = { invocations: 0, gigabyteSeconds: 0, sqs: 0, api: 0, writes: 0, reads: 0, logBytes: 0 };

const combined = (a: Use, b: Use, times: number): Use => ({
  invocations: a.invocations + times * b.invocations,
  gigabyteSeconds: a.gigabyteSeconds + times * b.gigabyteSeconds,
  sqs: a.sqs + times * b.sqs,
  api: a.api + times * b.api,
  writes: a.writes + times * b.writes,
  reads: a.reads + times * b.reads,
  logBytes: a.logBytes + times * b.logBytes,
});

/** Returns `a` plus `times` × `b`. */
export const plus = (a: Use, b: Use, times = 1): Use => combined(a, b, times);
/** Returns one `of`-th of the use. */
export const part = (a: Use, of: number): Use => combined(none, a, 1 / of);

const million = 1_000_000;

/** Returns the cost in US$; all requests to SQS have the price of FIFO, which is the higher one. */
export const dollars = (use: Use): number =>
  (use.invocations * prices.invocations.usd +
    use.gigabyteSeconds * prices.gigabyteSeconds.usd +
    use.sqs * prices.fifo.usd +
    use.writes * prices.writes.usd +
    use.reads * prices.reads.usd) /
    million +
  (use.logBytes / 1e9) * prices.logs.usd;

/** Median and worst value, in seconds. */
export type Reaction = { readonly p50: number; readonly worst: number };

export type Measured = {
  readonly life: Use;
  readonly executor: Use;
  readonly loss: Use;
  /** One resync that finds nothing to do. */
  readonly resync: Use;
  /** The reaction of a host, and of functions with a forwarder in the cluster. */
  readonly host: Reaction;
  readonly functions: Reaction;
  /** Seconds until a cold forwarder watches. */
  readonly forwardStart: number;
  /** CPU seconds of a host per application. */
  readonly hostCpu: number;
  /** Metrics that the template's alarms read. */
  readonly alarms: number;
};

/** The defaults of the template. */
const hours = 730;
const minutes = hours * 60;
const window = { seconds: 50, every: 60, gigabytes: 0.5 };
const resyncs = minutes / 5;
const queues = { fifo: 2, standard: 1, pollers: 5, pollsPerMinute: 3 };
const pod = { cpu: 0.25, gigabytes: 0.5 };
/** The application of the table. */
const executors = 10;
const losses = 1;

const podMonth = hours * (pod.cpu * prices.cpu.usd + pod.gigabytes * prices.memory.usd);

const pollsMonth = (count: number): number => (count * queues.pollers * queues.pollsPerMinute * minutes) / million;

const lambdaMonth = ({ resync, alarms }: Measured): number =>
  pollsMonth(queues.fifo) * prices.fifo.usd +
  pollsMonth(queues.standard) * prices.standard.usd +
  resyncs * dollars(resync) +
  alarms * prices.alarms.usd +
  prices.secrets.usd;

const windowsMonth = ({ forwardStart }: Measured): number =>
  minutes * dollars({ ...none, invocations: 1, gigabyteSeconds: (window.seconds + forwardStart) * window.gigabytes });

const usd = (value: number): string => value.toFixed(2);
const time = (seconds: number): string =>
  seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : `${seconds.toFixed(1)} s`;

/** The use of the application of the table, run by functions. */
export const applicationOf = ({ life, executor, loss }: Measured): Use =>
  plus(plus(life, executor, executors), loss, losses);

/** Returns the table of the three deployments. */
export const tableOf = (measured: Measured): readonly string[] => {
  const { host, functions, forwardStart, hostCpu } = measured;
  const idle = lambdaMonth(measured);
  const perThousand = 1_000 * dollars(applicationOf(measured));
  const worst = window.every - window.seconds + forwardStart + functions.worst;
  return [
    "| | host | forwarder in the cluster + Lambda (recommended on EKS) | windowed Lambda forwarder |",
    "|---|---|---|---|",
    `| reaction, p50 | ${time(host.p50)} | ${time(functions.p50)} | ${time(functions.p50)} (${window.seconds} of ${window.every} s are watched) |`,
    `| reaction, worst | ${time(host.worst)} | ${time(functions.worst)} | ${time(worst)} = pause ${window.every - window.seconds} s + start ${time(forwardStart)} + ${time(functions.worst)} |`,
    `| US$ a month, idle | ${usd(podMonth)} = its pod¹ | ${usd(podMonth + idle)} = pod¹ + ${usd(idle)}² | ${usd(windowsMonth(measured) + idle)} = ${usd(windowsMonth(measured))}³ + ${usd(idle)}² |`,
    `| US$ per 1,000 applications⁴ | 0: ${Math.round(1_000 * hostCpu)} s of the pod's processor, with four executors each | ${usd(perThousand)} | ${usd(perThousand)} |`,
    "| while it is down | nothing is recovered or begun; drivers and executors run on; the next host goes on | events wait in the cluster until a forwarder is back, at most until the next resync (5 min); functions go on with what is queued | the same, and a run that is left out costs a minute |",
    "| who should choose it | everybody, unless there is a reason: nothing else to run | many clusters, or bursts that one process should not carry; nobody should watch over a controller | who may run nothing of his own in the cluster |",
  ];
};

/** Returns the notes with the formulas of the table. */
export const notesOf = (measured: Measured): readonly string[] => {
  const use = applicationOf(measured);
  const n = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : 0 });
  return [
    `¹ ${hours} h × (${pod.cpu} vCPU × ${prices.cpu.usd} + ${pod.gigabytes} GB × ${prices.memory.usd}) on Fargate; on nodes that are there, what it asks of them.`,
    `² polls of ${queues.fifo} FIFO queues and one standard queue: 3 × ${queues.pollers} pollers × ${queues.pollsPerMinute} a minute × ${n(minutes)} = ${n(pollsMonth(3) * million)} requests; ${n(resyncs)} resyncs × ${n(measured.resync.gigabyteSeconds)} GB-s and ${n(measured.resync.reads)} read units; ${measured.alarms} metrics of alarms × ${prices.alarms.usd}; a secret ${prices.secrets.usd}.`,
    `³ ${n(minutes)} windows × (${window.seconds} s + ${time(measured.forwardStart)}) × ${window.gigabytes} GB × ${prices.gigabyteSeconds.usd} per million GB-s.`,
    `⁴ of ${executors} executors, of which one is lost: ${n(use.invocations)} invocations, ${n(use.gigabyteSeconds)} GB-s, ${n(use.sqs)} SQS requests, ${n(use.writes)} write and ${n(use.reads)} read units, ${n(use.logBytes / 1_000)} kB of logs each.`,
    `Prices: ${region}, ${asOf}, no free tier: ${Object.values(prices)
      .map(({ usd: price, per }) => `${price} per ${per}`)
      .join("; ")}.`,
  ];
};

/** Computes costs from counts, each figure beside its formula; pure. */
import { asOf, prices, region } from "./prices.ts";
import {
  fifoPolls,
  hours,
  minutes,
  pod,
  podMonth,
  queues,
  type Resting,
  type RestPart,
  restOf,
  resyncs,
  standardPolls,
  totalOf,
  window,
} from "./rest.ts";
import { dollars, plus, type Use } from "./use.ts";

/** Median and worst value, in seconds. */
export type Reaction = { readonly p50: number; readonly worst: number };

export type Measured = Resting & {
  readonly life: Use;
  readonly executor: Use;
  readonly loss: Use;
  /** The reaction of a host, and of functions with a forwarder in the cluster. */
  readonly host: Reaction;
  readonly functions: Reaction;
  /** CPU seconds of a host per application. */
  readonly hostCpu: number;
};

/** The application of the table. */
const executors = 10;
const losses = 1;

const usd = (value: number): string => value.toFixed(2);
const time = (seconds: number): string =>
  seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : `${seconds.toFixed(1)} s`;

/** The use of the application of the table, run by functions. */
export const applicationOf = ({ life, executor, loss }: Measured): Use =>
  plus(plus(life, executor, executors), loss, losses);

/** The cost of a month of functions behind a forwarder, besides its pod. */
const functionsMonth = (rest: readonly RestPart[]): number => totalOf(rest, "forwarder");

/** Returns the table of the three deployments. */
export const tableOf = (measured: Measured): readonly string[] => {
  const { host, functions, forwardStart, hostCpu } = measured;
  const rest = restOf(measured);
  const idle = functionsMonth(rest);
  const perThousand = 1_000 * dollars(applicationOf(measured));
  const worst = window.every - window.seconds + forwardStart + functions.worst;
  return [
    "| | host | forwarder in the cluster + Lambda | windowed Lambda forwarder |",
    "|---|---|---|---|",
    `| reaction, p50 | ${time(host.p50)} | ${time(functions.p50)} | ${time(functions.p50)} (${window.seconds} of ${window.every} s are watched) |`,
    `| reaction, worst | ${time(host.worst)} | ${time(functions.worst)} | ${time(worst)} = pause ${window.every - window.seconds} s + start ${time(forwardStart)} + ${time(functions.worst)} |`,
    `| US$ a month, idle | ${usd(podMonth)} = its pod¹ | ${usd(podMonth + idle)} = pod¹ + ${usd(idle)}² | ${usd(totalOf(rest, "windowed"))} = ${usd(totalOf(rest, "windowed") - idle)}³ + ${usd(idle)}² |`,
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
    `² polls of ${queues.fifo} FIFO queues by ${queues.pollers} pollers each, and of one standard queue by ${queues.idlePollers}: ${queues.pollsPerMinute} a minute × ${n(minutes)} = ${n(fifoPolls(queues.fifo) + standardPolls)} requests; ${n(resyncs)} resyncs × ${n(measured.resync.gigabyteSeconds)} GB-s and ${n(measured.resync.reads)} read units, and depths of ${2 * (queues.fifo + queues.standard)} queues each; metrics of alarms: ${measured.alarms} × ${prices.alarms.usd}; of gauges: ${measured.gauges} × ${prices.metrics.usd}; dashboards: ${measured.dashboards} × ${prices.dashboards.usd}; a secret ${prices.secrets.usd}.`,
    `³ ${n(minutes)} windows × (${window.seconds} s + ${time(measured.forwardStart)}) × ${window.gigabytes} GB × ${prices.gigabyteSeconds.usd} per million GB-s.`,
    `⁴ of ${executors} executors, of which one is lost: ${n(use.invocations)} invocations, ${n(use.gigabyteSeconds)} GB-s, ${n(use.sqs)} SQS requests, ${n(use.writes)} write and ${n(use.reads)} read units, ${n(use.logBytes / 1_000)} kB of logs each.`,
    `Prices: ${region}, ${asOf}, no free tier: ${Object.values(prices)
      .map(({ usd: price, per, page }) => `${price} per ${per} (${page})`)
      .join("; ")}. In brackets: the page of the price below https://aws.amazon.com/.`,
  ];
};

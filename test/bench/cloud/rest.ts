/** Computes the cost of a month at rest by its parts and by deployment, each part beside its formula; pure. */
import { prices } from "./prices.ts";
import { dollars, none, type Use } from "./use.ts";

/** The defaults of the template. */
export const hours = 730;
export const minutes = hours * 60;
export const window = { seconds: 50, every: 60, gigabytes: 0.5 };
export const resyncs = minutes / 5;
export const queues = { fifo: 2, standard: 1, pollers: 5, idlePollers: 2, pollsPerMinute: 3 };
/** Seconds of a window in which nothing happens, by the parameter `ForwardLook`. */
const lookSeconds = 0.5;
/** Fargate's smallest pod. */
export const pod = { cpu: 0.25, gigabytes: 0.5 };
/** The requests of a pod in the overlays: 50m and 96Mi. */
const requested = { cpu: 0.05, gigabytes: 96 / 1_024 };

const podOf = ({ cpu, gigabytes }: { readonly cpu: number; readonly gigabytes: number }): number =>
  hours * (cpu * prices.cpu.usd + gigabytes * prices.memory.usd);

export const podMonth = podOf(pod);

/** Returns the polls of this many pollers in a month. */
const pollsOf = (pollers: number): number => pollers * queues.pollsPerMinute * minutes;

/** Returns the polls of this many FIFO queues in a month, whose mappings bound the concurrency. */
export const fifoPolls = (count: number): number => pollsOf(count * queues.pollers);

/** The polls of the standard queue in a month. */
export const standardPolls = pollsOf(queues.standard * queues.idlePollers);

const deployments = ["host", "forwarder", "windowed", "bell", "dispatcher"] as const;
type Deployment = (typeof deployments)[number];

/** US$ a month of one part of a deployment. */
export type RestPart = {
  readonly name: string;
  readonly usd: number;
  readonly formula: string;
  /** Deployments that have it. */
  readonly of: readonly Deployment[];
};

/** Deployments of the template. */
const onLambda: readonly Deployment[] = ["forwarder", "windowed", "bell"];

export type Resting = {
  /** One resync that finds nothing to do. */
  readonly resync: Use;
  /** Seconds until a cold forwarder watches. */
  readonly forwardStart: number;
  /** Seconds that a warm forwarder takes beside its window: one that is called each minute stays warm. */
  readonly lookStart: number;
  /** Metrics that the template's alarms read. */
  readonly alarms: number;
  /** Metrics of the alarms that `Alarms: FEW` leaves. */
  readonly fewAlarms: number;
  /** Metrics of gauges that a quiet cluster has. */
  readonly gauges: number;
  /** Dashboards of the template. */
  readonly dashboards: number;
};

const million = 1_000_000;

/** The template's parameters that a month at rest depends on, in the words of the table. */
const savings =
  '`Alarms: FEW`, `Dashboard: DISABLED`, `StatusUpdates: DISABLED`, `ForwardLook: 500ms`, `Settings: {"gauges":"false"}`, the record in a parameter';

/** The parts that are paid for in a stack whose parameters are `savings`. */
const saved = (resting: Resting): Resting => ({ ...resting, alarms: resting.fewAlarms, gauges: 0, dashboards: 0 });

type Paid = {
  /** Queues that Lambda polls. */
  readonly fifoQueues: number;
  readonly secrets: number;
  /** True: a quiet window ends after its look. */
  readonly looks: boolean;
};

const usual: Paid = { fifoQueues: queues.fifo, secrets: 1, looks: false };

/**
 * Returns the parts of the cost besides pods. A dispatcher has none: its queue and its resyncs are in the process, and
 * its functions run only while it calls them.
 */
export const restOf = (
  { resync, forwardStart, lookStart, alarms, gauges, dashboards }: Resting,
  { fifoQueues, secrets, looks }: Paid = usual,
): readonly RestPart[] => {
  const [seconds, start] = looks ? [lookSeconds, lookStart] : [window.seconds, forwardStart];
  const windowUse = { ...none, invocations: 1, gigabyteSeconds: (seconds + start) * window.gigabytes };
  const part = (name: string, usd: number, formula: string, of = onLambda): RestPart => ({ name, usd, formula, of });
  return [
    part(
      "polls of queues",
      (fifoPolls(fifoQueues) * prices.fifo.usd + standardPolls * prices.standard.usd) / million,
      `${fifoQueues} FIFO queues × ${fifoPolls(1)} requests, ${queues.standard} standard queue × ${standardPolls}`,
    ),
    part("alarms", alarms * prices.alarms.usd, `metrics: ${alarms} × ${prices.alarms.usd}`),
    part(
      "gauges",
      gauges * prices.metrics.usd,
      `metrics: ${gauges} × ${prices.metrics.usd}; those of 0 are not written`,
    ),
    part("dashboards", dashboards * prices.dashboards.usd, `${dashboards} × ${prices.dashboards.usd}`),
    part("secret", secrets * prices.secrets.usd, `${secrets} × ${prices.secrets.usd}`),
    part("resyncs", resyncs * dollars(resync), `${resyncs} × what one that finds nothing uses`),
    part(
      "depths of queues",
      (resyncs * 2 * (fifoQueues * prices.fifo.usd + queues.standard * prices.standard.usd)) / million,
      `${resyncs} × ${fifoQueues} FIFO and ${queues.standard} standard, and their dead letters`,
    ),
    part(
      "windows of the forwarder",
      minutes * dollars(windowUse),
      `${minutes} × (${seconds} s + its start) × ${window.gigabytes} GB`,
      ["windowed"],
    ),
  ];
};

/** Returns US$ a month of a deployment, besides its pod. */
export const totalOf = (parts: readonly RestPart[], deployment: Deployment): number =>
  parts.reduce((sum, { usd, of }) => sum + (of.includes(deployment) ? usd : 0), 0);

/** Returns US$ a month of a deployment whose parameters save most, besides its pod. */
export const leastOf = (resting: Resting, deployment: Deployment): number =>
  totalOf(restOf(saved(resting), { fifoQueues: 1, secrets: 0, looks: true }), deployment);

/** Deployments with a pod that runs all the time. */
const withPod: readonly Deployment[] = ["host", "forwarder", "dispatcher"];

/** The most that a month at rest should cost besides the pod, US$. */
export const restAims = [
  { deployment: "forwarder", aim: 1 },
  { deployment: "windowed", aim: 1 },
  { deployment: "bell", aim: 1 },
  { deployment: "dispatcher", aim: 0.5 },
] as const;

const cell = (usd: number, isThere: boolean): string => (isThere ? usd.toFixed(2) : "-");

const row = (name: string, formula: string, cells: readonly string[]): string =>
  `| ${[name, ...cells, formula].join(" | ")} |`;

/** Returns the table of a month at rest: a line for each part. */
export const restTable = (resting: Resting): readonly string[] => {
  const parts = restOf(resting);
  const pods = (usd: number): readonly string[] => deployments.map((one) => cell(usd, withPod.includes(one)));
  const sums = (podUsd: number): readonly string[] =>
    deployments.map((one) => (totalOf(parts, one) + (withPod.includes(one) ? podUsd : 0)).toFixed(2));
  return [
    "| US$ a month at rest | host | forwarder in the cluster + Lambda | windowed Lambda forwarder | bell + Lambda | dispatcher + functions that scale to zero | formula |",
    "|---|---|---|---|---|---|---|",
    ...parts.map(({ name, usd, formula, of }) =>
      row(
        name,
        formula,
        deployments.map((one) => cell(usd, of.includes(one))),
      ),
    ),
    row("**without the pod**", "the sum", sums(0)),
    row(
      "**without the pod, by the parameters that save most**",
      savings,
      deployments.map((one) => leastOf(resting, one).toFixed(2)),
    ),
    row("pod on Fargate", `${hours} h × (${pod.cpu} vCPU + ${pod.gigabytes} GB), its smallest`, pods(podMonth)),
    row(
      "or pod on nodes that are there",
      `${hours} h × (${requested.cpu} vCPU + ${requested.gigabytes} GB), its requests at Fargate's prices`,
      pods(podOf(requested)),
    ),
    row("**with the pod on Fargate**", "the sum", sums(podMonth)),
  ];
};

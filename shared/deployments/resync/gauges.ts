/**
 * Gauges of the cluster's objects, counted from the objects themselves at each scrape of a host and at the end of each
 * resync, which prints them as lines that CloudWatch turns into metrics; and the table of all metrics that functions
 * send to CloudWatch, by function, under their dimensions.
 */
import { pages } from "../../adapters/kubernetes/requests.ts";
import { gaugeLines } from "../../adapters/telemetry/emf.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { type CountedKind, type Figure, type MetricSample, ownFigures, ownLabels } from "../../core/metric.ts";
import type { Report } from "../../engine/ports.ts";
import type { Standing } from "../../forward/controller-detection.ts";
import { undeliveredOf } from "../../forward/resync.ts";
import { defaultFamilies, type Family } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";
import { apacheGauges } from "../../spark/apache/metrics.ts";
import { sparkFigures, sparkGauges } from "../../spark/application/metrics.ts";
import { clusterGauges } from "../../spark/cluster/metrics.ts";
import { volcanoFigures, volcanoGauges } from "../../volcano/metrics.ts";
import type { NamespaceScope } from "../common/namespaces.ts";
import type { Records } from "../common/records.ts";
import { hintsIn } from "./sweep.ts";

const kinds: readonly CountedKind[] = [...sparkGauges(), ...apacheGauges, ...clusterGauges, ...volcanoGauges];

type Counted = {
  readonly transport: Transport;
  readonly hints?: Records["hints"] | undefined;
  readonly namespaceScope: Pick<NamespaceScope, "watched" | "within">;
  /** Families whose kinds are counted; absent: the default ones. */
  readonly families?: readonly Family[];
  /** The other controllers at work; absent: this process does not know. */
  readonly standing?: (() => Standing | Promise<Standing>) | undefined;
  /** Changes that no message had told; absent: this process does not know. */
  readonly unheard?: (() => number | Promise<number>) | undefined;
  /** Epoch ms. */
  readonly now: () => number;
};

/** True where a kind has no objects for this caller: it is forbidden or not served. */
const isNone = (cause: unknown): boolean => cause instanceof ApiError && [403, 404].includes(cause.status);

export const standbySamples = async ({ standing }: Pick<Counted, "standing">): Promise<readonly MetricSample[]> =>
  standing === undefined ? [] : [{ do: "count", name: "rekindle_standby", value: (await standing()).size, of: {} }];

const unheardSamples = async ({ unheard }: Pick<Counted, "unheard">): Promise<readonly MetricSample[]> =>
  unheard === undefined ? [] : [{ do: "count", name: "rekindle_unheard_changes", value: await unheard(), of: {} }];

/**
 * Counts the objects in scope, page by page, so that only their samples stay in memory. A kind that is forbidden or not
 * served counts as empty. So does a kind that is not listed to its end, in all namespaces: a part would look like a fall.
 */
export const censusOf = async (parts: Counted): Promise<readonly MetricSample[]> => {
  const { transport, hints: known, namespaceScope, families = defaultFamilies, now } = parts;
  const within = await namespaceScope.within().catch(() => () => false);
  const watched = namespaceScope.watched.length === 0 ? [""] : namespaceScope.watched;
  const ofPlace = async ({ resource, samplesOf, everywhere, selector }: CountedKind, namespace: string) => {
    const samples: MetricSample[] = [];
    for await (const { items } of pages(transport, { resource, namespace, selector }))
      for (const object of items)
        if (everywhere === true || within(object.metadata.namespace ?? "")) samples.push(...samplesOf(object, now()));
    return samples;
  };
  const ofKind = async (kind: CountedKind): Promise<readonly MetricSample[]> => {
    const places = kind.everywhere === true ? [""] : watched;
    const lists = places.map((namespace) =>
      ofPlace(kind, namespace).catch((cause: unknown) => {
        if (isNone(cause)) return [];
        throw cause;
      }),
    );
    return (await Promise.all(lists).catch(() => [])).flat();
  };
  const counts = runs(families);
  const samples = await Promise.all(
    kinds.filter(({ resource, of = resource }) => counts({ resource: of })).map(ofKind),
  );
  const hints = await hintsIn({ transport, hints: known, namespaces: namespaceScope.watched }).catch(() => []);
  const late = undeliveredOf("", hints, "").filter(({ message }) => within(message.namespace));
  const waiting: MetricSample = { do: "count", name: "rekindle_updates_waiting", value: late.length, of: {} };
  return [...samples.flat(), waiting, ...(await standbySamples(parts)), ...(await unheardSamples(parts))];
};

export type FunctionFigure = {
  readonly name: string;
  /** The function that prints the lines; absent: no function does, see `reason`. */
  readonly by?: "reconcile" | "deliver" | "resync";
  /** Each list of dimensions makes a metric of its own. */
  readonly dimensions: readonly (readonly string[])[];
  readonly reason?: string;
};

const namesOfJobs = "each job would be a metric of its own on the bill; `GET /metrics` of the function `api` has it";

const noPrices =
  "the function `reconcile` counts and reads no prices: multiply core-seconds and GiB-seconds by a price in metric math (one price for all nodes)";

/** Metrics that no function sends, each with the reason. */
const absent: Readonly<Record<string, string>> = {
  volcano_job_completed_phase_count: namesOfJobs,
  volcano_job_failed_phase_count: namesOfJobs,
  rekindle_executor_cost_total: noPrices,
  rekindle_lost_cost_total: noPrices,
  rekindle_api_requests_total: "each request would be a line of its own; the audit log of the API server has them",
};

/** Counters whose samples name no namespace. */
const ofCluster: readonly string[] = [
  "rekindle_updates_total",
  "rekindle_executor_losses_total",
  "rekindle_decisions_stopped_total",
  "rekindle_recovery_errors_total",
  "rekindle_gang_evictions_total",
];

/** True for a gauge of objects as they stand, which a resync counts. */
const isOfObjects = ({ kind, lasting }: Figure): boolean => kind === "gauge" && lasting !== true;

const functionFigure = (figure: Figure, labels: readonly string[]): FunctionFigure => {
  const { name } = figure;
  const reason = absent[name];
  if (reason !== undefined) return { name, dimensions: [], reason };
  if (isOfObjects(figure)) return { name, by: "resync", dimensions: [["cluster", ...labels]] };
  const by = name === "rekindle_updates_total" ? "deliver" : "reconcile";
  return { name, by, dimensions: [["cluster"], ...(ofCluster.includes(name) ? [] : [["cluster", "namespace"]])] };
};

export const functionFigures: readonly FunctionFigure[] = [
  ...sparkFigures.map((figure) => functionFigure(figure, [])),
  ...volcanoFigures.map((figure) => functionFigure(figure, figure.labels)),
  ...ownFigures.map((figure) => functionFigure(figure, ownLabels[figure.name])),
];

/** The gauges that the function `resync` sends, with their labels. */
export const resyncGauges = functionFigures.flatMap(({ name, by, dimensions: [first = []] }) =>
  by === "resync" ? [{ name, labels: first.slice(1) }] : [],
);

type Parts = Parameters<typeof censusOf>[0] & {
  /** The alias of the cluster, under which CloudWatch keeps the gauges. */
  readonly cluster: string;
  readonly print: (line: string) => void;
  readonly report: Report;
};

/** Begins no request once `late` is true, and remembers that it has refused one. */
const timely = (transport: Transport, late: () => boolean) => {
  let cut = false;
  const refused = (): boolean => {
    cut ||= late();
    return cut;
  };
  const limited: Transport = {
    send: async (request) => {
      if (refused()) throw new Error("the time of a resync is over");
      return await transport.send(request);
    },
    stream: transport.stream,
  };
  return { limited, refused };
};

/**
 * Opens the telling of gauges. `late` is called before each request; a count that was cut short is not told, because it
 * would be too small.
 */
export const openGaugeLines =
  ({ cluster, print, report, now, ...parts }: Parts) =>
  async (late: () => boolean): Promise<void> => {
    const { limited, refused } = timely(parts.transport, late);
    const samples = refused() ? [] : await censusOf({ ...parts, transport: limited, now });
    if (refused()) {
      report("warn", "resync: out of time, this run sends no gauges");
      return;
    }
    for (const line of gaugeLines(resyncGauges, samples, { cluster, now: now() })) print(line);
  };

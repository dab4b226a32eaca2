/**
 * The end of a resync: the gauges of the cluster's objects, as lines that CloudWatch turns into metrics; and the table
 * of all metrics that functions tell CloudWatch, by function, under their dimensions. A host tells all metrics under
 * `/metrics`.
 */

import { gaugeLines } from "../../adapters/telemetry/emf.ts";
import type { Transport } from "../../core/http.ts";
import { type Figure, ownFigures, ownLabels } from "../../core/metric.ts";
import type { Report } from "../../engine/ports.ts";
import { sparkFigures } from "../../spark/application/metrics.ts";
import { volcanoFigures } from "../../volcano/metrics.ts";
import { censusOf } from "./object-gauges.ts";

export type FunctionFigure = {
  readonly name: string;
  /** The function that prints the lines; absent: no function does, see `reason`. */
  readonly by?: "reconcile" | "deliver" | "resync";
  /** Each list of dimensions makes a metric of its own. */
  readonly dimensions: readonly (readonly string[])[];
  readonly reason?: string;
};

const namesOfJobs = "each job would be a metric of its own on the bill; `GET /metrics` of the function `api` has it";

/** Metrics that no function tells, each with the reason. */
const absent: Readonly<Record<string, string>> = {
  volcano_job_completed_phase_count: namesOfJobs,
  volcano_job_failed_phase_count: namesOfJobs,
  rekindle_api_requests_total: "each request would be a line of its own; the audit log of the API server has them",
};

/** Counters whose samples name no namespace. */
const ofCluster: readonly string[] = [
  "rekindle_updates_total",
  "rekindle_executor_losses_total",
  "rekindle_decisions_stopped_total",
  "rekindle_recovery_errors_total",
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

/** The gauges that the function `resync` tells, with their labels. */
export const resyncGauges = functionFigures.flatMap(({ name, by, dimensions: [first = []] }) =>
  by === "resync" ? [{ name, labels: first.slice(1) }] : [],
);

type Parts = Parameters<typeof censusOf>[0] & {
  /** The alias of the cluster, under which CloudWatch keeps the gauges. */
  readonly cluster: string;
  readonly print: (line: string) => void;
  readonly report: Report;
  /** Epoch ms. */
  readonly now: () => number;
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
    const samples = refused() ? [] : await censusOf({ ...parts, transport: limited });
    if (refused()) {
      report("warn", "resync: out of time, this run tells no gauges");
      return;
    }
    for (const line of gaugeLines(resyncGauges, samples, { cluster, now: now() })) print(line);
  };

/**
 * The metrics that functions tell CloudWatch: by which function each is told, and under which dimensions. A host tells
 * all metrics under `/metrics`.
 */
import { type Figure, ownFigures, ownLabels } from "../../core/metric.ts";
import { sparkFigures } from "../../spark/application/metrics.ts";
import { volcanoFigures } from "../../volcano/metrics.ts";

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

const told = (figure: Figure, labels: readonly string[]): FunctionFigure => {
  const { name } = figure;
  const reason = absent[name];
  if (reason !== undefined) return { name, dimensions: [], reason };
  if (isOfObjects(figure)) return { name, by: "resync", dimensions: [["cluster", ...labels]] };
  const by = name === "rekindle_updates_total" ? "deliver" : "reconcile";
  return { name, by, dimensions: [["cluster"], ...(ofCluster.includes(name) ? [] : [["cluster", "namespace"]])] };
};

export const functionFigures: readonly FunctionFigure[] = [
  ...sparkFigures.map((figure) => told(figure, [])),
  ...volcanoFigures.map((figure) => told(figure, figure.labels)),
  ...ownFigures.map((figure) => told(figure, ownLabels[figure.name])),
];

/** The gauges that the function `resync` tells, with their labels. */
export const resyncGauges = functionFigures.flatMap(({ name, by, dimensions: [first = []] }) =>
  by === "resync" ? [{ name, labels: first.slice(1) }] : [],
);

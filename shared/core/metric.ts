/** Metric samples and the definitions of Rekindle's own metrics. */
import type { Resource, Stored } from "./object.ts";

export type Labels = Readonly<Record<string, string>>;

export type MetricSample = {
  /** `count`: add the value to a counter. `observe`: add one value to a distribution. */
  readonly do: "count" | "observe";
  readonly name: string;
  readonly value: number;
  /** Labels for the metrics of a deployment: the object's own, and its namespace. */
  readonly of: Labels;
};

/** A kind whose objects are counted at each scrape, and the share of one object in each gauge. */
export type CountedKind = {
  readonly resource: Resource;
  readonly samplesOf: (object: Stored, now: number) => readonly MetricSample[];
  /** The objects that are counted; absent: all. */
  readonly selector?: string;
  /** The kind with whose family these objects are counted; absent: their own. */
  readonly of?: Resource;
  /** True for cluster-scoped kinds: their objects are counted whatever the scope. */
  readonly everywhere?: true;
};

/** Receives metric samples. It never throws. */
export type Meter = (measures: readonly MetricSample[]) => void;

/** The definition of a metric; buckets in the metric's own unit. */
export type Figure = {
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge" | "summary" | "histogram";
  readonly buckets?: readonly number[];
  /** A counter of existing objects, counted at each scrape, as gauges are. */
  readonly ofObjects?: true;
  /**
   * A gauge of something that happened to an object. A sample carries `uid` and `version`; the first sample of the
   * latest version stays as long as a census has an entry of value 0 with the same `uid`.
   */
  readonly lasting?: true;
};

/** Rekindle's own metrics, beside those of the upstream projects: of the engine and of the queue. */
export const ownFigures = [
  { name: "rekindle_steps_total", help: "Steps, by outcome", kind: "counter" },
  {
    name: "rekindle_step_duration_seconds",
    help: "Time of a step",
    kind: "histogram",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  },
  {
    name: "rekindle_queue_age_seconds",
    help: "Time that a key waited for its step",
    kind: "histogram",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 900],
  },
  { name: "rekindle_api_requests_total", help: "Requests to the API server", kind: "counter" },
  { name: "rekindle_updates_total", help: "Status updates sent, by outcome", kind: "counter" },
  { name: "rekindle_updates_waiting", help: "Applications that have an unacknowledged status update", kind: "gauge" },
  { name: "rekindle_executor_losses_total", help: "Executors that were lost, by reason", kind: "counter" },
  {
    name: "rekindle_growth_granted_executors_total",
    help: "Executors that Kueue granted to applications beyond their base",
    kind: "counter",
  },
  {
    name: "rekindle_growth_ended_executors_total",
    help: "Executors whose grant beyond the base has ended: given back, evicted or deleted",
    kind: "counter",
  },
  { name: "rekindle_growth_waiting_executors", help: "Executors for which growths wait", kind: "gauge" },
  { name: "rekindle_growth_waiting_seconds", help: "Time that these have waited, summed over growths", kind: "gauge" },
  {
    name: "rekindle_executor_core_seconds_total",
    help: "Requested cores of ended executors times the seconds that they ran",
    kind: "counter",
  },
  {
    name: "rekindle_lost_core_seconds_total",
    help: "Requested cores of lost executors times the seconds that they ran: an upper bound of the lost work",
    kind: "counter",
  },
  {
    name: "rekindle_executor_gib_seconds_total",
    help: "Requested GiB of memory of ended executors times the seconds that they ran",
    kind: "counter",
  },
  {
    name: "rekindle_lost_gib_seconds_total",
    help: "Requested GiB of memory of lost executors times the seconds that they ran: an upper bound of the lost work",
    kind: "counter",
  },
  {
    name: "rekindle_executor_cost_total",
    help: "Money for ended executors, where the setting `prices` is set",
    kind: "counter",
  },
  {
    name: "rekindle_lost_cost_total",
    help: "Money for lost executors: an upper bound of what was lost, where the setting `prices` is set",
    kind: "counter",
  },
  {
    name: "rekindle_decisions_stopped_total",
    help: "Decisions that took more than their budget: their objects are in quarantine",
    kind: "counter",
  },
  { name: "rekindle_recovery_errors_total", help: "Checkpoints that could not be used", kind: "counter" },
  {
    name: "rekindle_standby",
    help: "Other controllers at work, beside which Rekindle writes nothing",
    kind: "gauge",
  },
  {
    name: "rekindle_unheard_changes",
    help: "Changes that the last resync found first, and no message had told",
    kind: "gauge",
  },
] as const satisfies readonly Figure[];

/** Labels of Rekindle's own metrics, whatever labels a deployment adds to those of applications. */
export const ownLabels: Readonly<Record<(typeof ownFigures)[number]["name"], readonly string[]>> = {
  rekindle_steps_total: ["ending"],
  rekindle_step_duration_seconds: [],
  rekindle_queue_age_seconds: [],
  rekindle_api_requests_total: ["method", "code"],
  rekindle_updates_total: ["outcome"],
  rekindle_updates_waiting: [],
  rekindle_executor_losses_total: ["reason"],
  rekindle_growth_granted_executors_total: ["namespace"],
  rekindle_growth_ended_executors_total: ["namespace"],
  rekindle_growth_waiting_executors: ["namespace"],
  rekindle_growth_waiting_seconds: ["namespace"],
  rekindle_executor_core_seconds_total: ["namespace"],
  rekindle_lost_core_seconds_total: ["namespace"],
  rekindle_executor_gib_seconds_total: ["namespace"],
  rekindle_lost_gib_seconds_total: ["namespace"],
  rekindle_executor_cost_total: ["namespace", "currency"],
  rekindle_lost_cost_total: ["namespace", "currency"],
  rekindle_decisions_stopped_total: [],
  rekindle_recovery_errors_total: [],
  rekindle_standby: [],
  rekindle_unheard_changes: [],
};

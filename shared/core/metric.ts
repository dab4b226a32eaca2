/** A figure that something happened with: what it is called, whose it is, and how much. */

export type Labels = Readonly<Record<string, string>>;

export type MetricSample = {
  /** Counted: so many more. Observed: one more value of a distribution. */
  readonly do: "count" | "observe";
  readonly name: string;
  readonly value: number;
  /** Labels by which a deployment may tell figures apart: the object's own, and its namespace. */
  readonly of: Labels;
};

/** Where figures go. Telling them never fails what they are about. */
export type Meter = (measures: readonly MetricSample[]) => void;

/** How a figure is kept; buckets in its own unit. */
export type Figure = {
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge" | "summary" | "histogram";
  readonly buckets?: readonly number[];
  /** A counter of what stands: counted from the objects at each scrape, as gauges are. */
  readonly standing?: true;
  /**
   * A gauge of what happened to an object: told with its `uid` and `version`, the first of the latest version lasts as long
   * as a census has a place, of value 0 and with the same `uid`, for it.
   */
  readonly lasting?: true;
};

/** Our own figures, beside upstream's: of the engine and of the queue. */
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
    name: "rekindle_decisions_stopped_total",
    help: "Decisions that took more than their budget: their objects are in quarantine",
    kind: "counter",
  },
  { name: "rekindle_recovery_errors_total", help: "Checkpoints that could not be used", kind: "counter" },
] as const satisfies readonly Figure[];

/** Labels of our own figures, whatever a deployment tells its applications apart by. */
export const ownLabels: Readonly<Record<(typeof ownFigures)[number]["name"], readonly string[]>> = {
  rekindle_steps_total: ["ending"],
  rekindle_step_duration_seconds: [],
  rekindle_queue_age_seconds: [],
  rekindle_api_requests_total: ["method", "code"],
  rekindle_updates_total: ["outcome"],
  rekindle_updates_waiting: [],
  rekindle_executor_losses_total: ["reason"],
  rekindle_decisions_stopped_total: [],
  rekindle_recovery_errors_total: [],
};

/**
 * Metrics of Apache's SparkApplications, under the names of those of `sparkoperator.k8s.io`: upstream's own follow from
 * latencies that it does not record. Counters follow from the states that a status shows for the first time, and are
 * reported by the step whose write won. The gauge is computed from the objects when it is asked for.
 */
import type { CountedKind, MetricSample } from "../../core/metric.ts";
import type { Stored } from "../../core/object.ts";
import { labelsOf, latency, type MetricChanges } from "../application/metrics.ts";
import { apacheApplications } from "./resource.ts";
import { beganAt, currentOf, type Entry, recordIn } from "./status/record.ts";
import { groupOf, isFailure } from "./status/summary.ts";

const app = "spark_application";

const entriesOf = (status: unknown): readonly Entry[] => {
  const record = recordIn(status);
  return record === undefined ? [] : [...(record.previous?.history ?? []), ...record.history];
};

/** The end of an attempt, and its time since the driver was requested; an attempt without a driver was refused. */
const ended = (entry: Entry, before: readonly Entry[]): MetricChanges => {
  if (entry.summary === "SchedulingFailure") return [["count", `${app}_failed_submission_count`, 1]];
  const word = isFailure(entry.summary) ? "failure" : "success";
  const requested = before.findLast(({ summary }) => summary === "DriverRequested");
  return [
    ["count", `${app}_${word}_count`, 1],
    ...(requested === undefined
      ? []
      : [
          [
            "observe",
            `${app}_${word}_execution_time_seconds`,
            Math.max(0, beganAt(entry) - beganAt(requested)) / 1_000,
          ] as const,
        ]),
  ];
};

const entered = (object: Stored, entry: Entry, before: readonly Entry[]): MetricChanges => {
  const isFirst = before.every(({ summary }) => summary !== entry.summary);
  switch (entry.summary) {
    case "Submitted":
      return [["count", `${app}_count`, 1]];
    case "DriverRequested":
      return [
        ["count", `${app}_submit_count`, 1],
        ...(isFirst ? latency("submit_latency_seconds", { object, now: beganAt(entry) }) : []),
      ];
    case "DriverStarted":
      return isFirst ? latency("start_latency_seconds", { object, now: beganAt(entry) }) : [];
    default:
      return groupOf(entry.summary) === "stopping" ? ended(entry, before) : [];
  }
};

/** The samples of one status write that won: of each state that it shows for the first time. */
export const measuresOfApache = (object: Stored, status: unknown): readonly MetricSample[] => {
  const newest = entriesOf(object.status).at(-1)?.number ?? -1;
  const all = entriesOf(status);
  const of = labelsOf(object);
  return all.flatMap((entry, at) =>
    entry.number <= newest
      ? []
      : entered(object, entry, all.slice(0, at)).map(([act, name, value]) => ({ do: act, name, value, of })),
  );
};

/** The share of one application in the gauge. */
const gaugesOfApache = (object: Stored): readonly MetricSample[] => {
  const record = recordIn(object.status);
  const runs = record !== undefined && groupOf(currentOf(record).summary) === "running";
  return [{ do: "count", name: `${app}_running_count`, value: runs ? 1 : 0, of: labelsOf(object) }];
};

export const apacheGauges: readonly CountedKind[] = [{ resource: apacheApplications, samplesOf: gaugesOfApache }];

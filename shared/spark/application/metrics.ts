/**
 * Upstream's metrics of SparkApplications. Counters follow from a status and the one written over it, and are reported
 * by the step whose write won, so that no restart counts twice. Gauges are computed from the objects when they are
 * asked for.
 */

import * as z from "zod";
import type { Key } from "../../core/key.ts";
import type { CountedKind, Figure, Labels, MetricSample } from "../../core/metric.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { ownWorkloads, workloads } from "../../kube/kueue.ts";
import { selectorText } from "../../kube/paths.ts";
import { totalOf } from "../executors/grants.ts";
import { gaugesOfGrowth } from "../executors/growth-gauges.ts";
import { lossReasons, losses as lossTable } from "../executors/losses.ts";
import { sparkApplications } from "../schema/resource.ts";
import type { Memory } from "./state/memory.ts";

const app = "spark_application";

export const sparkFigures: readonly Figure[] = [
  { name: `${app}_count`, help: "SparkApplications that were reconciled for the first time", kind: "counter" },
  { name: `${app}_submit_count`, help: "Submissions of SparkApplications", kind: "counter" },
  { name: `${app}_failed_submission_count`, help: "Submissions that were refused", kind: "counter" },
  { name: `${app}_running_count`, help: "SparkApplications that are running", kind: "gauge" },
  { name: `${app}_success_count`, help: "SparkApplications that completed", kind: "counter" },
  { name: `${app}_failure_count`, help: "SparkApplications that failed", kind: "counter" },
  { name: `${app}_success_execution_time_seconds`, help: "From submission to completion", kind: "summary" },
  { name: `${app}_failure_execution_time_seconds`, help: "From submission to failure", kind: "summary" },
  { name: `${app}_submit_latency_seconds`, help: "From creation to first submission", kind: "summary" },
  {
    name: `${app}_submit_latency_seconds_histogram`,
    help: "From creation to first submission",
    kind: "histogram",
  },
  { name: `${app}_start_latency_seconds`, help: "From creation to the first driver's start", kind: "summary" },
  {
    name: `${app}_start_latency_seconds_histogram`,
    help: "From creation to the first driver's start",
    kind: "histogram",
  },
  { name: "spark_executor_running_count", help: "Executors that are running", kind: "gauge" },
  { name: "spark_executor_success_count", help: "Executors that completed", kind: "counter" },
  { name: "spark_executor_failure_count", help: "Executors that failed", kind: "counter" },
  { name: "spark_cluster_running_count", help: "SparkClusters that are running", kind: "gauge" },
];

const shape = z.looseObject({
  applicationState: z.looseObject({ state: z.string() }).optional().catch(undefined),
  submissionID: z.string().optional().catch(undefined),
  submissionAttempts: z.number().optional().catch(undefined),
  executionAttempts: z.number().optional().catch(undefined),
  lastSubmissionAttemptTime: z.string().nullish().catch(undefined),
  terminationTime: z.string().nullish().catch(undefined),
  executorState: z.record(z.string(), z.string()).optional().catch(undefined),
});

type Status = z.infer<typeof shape>;

const read = (status: unknown): Status => {
  const parsed = shape.safeParse(status ?? {});
  return parsed.success ? parsed.data : {};
};

const stateOf = ({ applicationState }: Status): string => applicationState?.state ?? "";

/** The labels by which a deployment may group applications. */
export const labelsOf = ({ metadata: { labels = {}, namespace = "" } }: Stored): Labels => ({ ...labels, namespace });

type Change = { readonly object: Stored; readonly before: Status; readonly after: Status; readonly now: number };
export type MetricChanges = readonly (readonly ["count" | "observe", name: string, value: number])[];

/** The summary and the histogram that upstream keeps of a latency, from the object's creation on. */
export const latency = (name: string, { object, now }: Pick<Change, "object" | "now">): MetricChanges => {
  const created = instantOf(object.metadata.creationTimestamp);
  if (created === undefined) return [];
  const seconds = Math.max(0, now - created) / 1_000;
  return [
    ["observe", `${app}_${name}`, seconds],
    ["observe", `${app}_${name}_histogram`, seconds],
  ];
};

const submitted = (change: Change): MetricChanges => {
  const { before, after } = change;
  if (after.submissionID === undefined || after.submissionID === before.submissionID) return [];
  return [
    ["count", `${app}_submit_count`, 1],
    ...(after.submissionAttempts === 1 ? latency("submit_latency_seconds", change) : []),
  ];
};

const refusals = ({ submissionAttempts = 0, executionAttempts = 0 }: Status): number =>
  submissionAttempts - executionAttempts;

const refused = ({ before, after }: Change): MetricChanges => {
  const more = refusals(after) - refusals(before);
  return more > 0 ? [["count", `${app}_failed_submission_count`, more]] : [];
};

const started = (change: Change): MetricChanges =>
  change.after.executionAttempts === 1 && change.before.submissionAttempts !== undefined
    ? latency("start_latency_seconds", change)
    : [];

const ended = (word: "success" | "failure", { after }: Change): MetricChanges => {
  const from = instantOf(after.lastSubmissionAttemptTime);
  const to = instantOf(after.terminationTime);
  const time: MetricChanges =
    from === undefined || to === undefined
      ? []
      : [["observe", `${app}_${word}_execution_time_seconds`, Math.max(0, to - from) / 1_000]];
  return [["count", `${app}_${word}_count`, 1], ...time];
};

/** state → the samples of entering it. */
const entering: Readonly<Record<string, (change: Change) => MetricChanges>> = {
  RUNNING: started,
  COMPLETED: (change) => ended("success", change),
  FAILED: (change) => ended("failure", change),
};

const entered = (change: Change): MetricChanges =>
  stateOf(change.before) === stateOf(change.after) ? [] : (entering[stateOf(change.after)]?.(change) ?? []);

const executorWord: Readonly<Record<string, string>> = { COMPLETED: "success", FAILED: "failure" };

const executors = ({ before, after }: Change): MetricChanges => {
  const known = before.submissionID === after.submissionID ? (before.executorState ?? {}) : {};
  return Object.entries(after.executorState ?? {}).flatMap(([name, state]): MetricChanges => {
    const word = executorWord[state];
    return word === undefined || known[name] === state ? [] : [["count", `spark_executor_${word}_count`, 1]];
  });
};

/** The samples of one status write that won. */
export const measuresOf = (object: Stored, status: unknown, now: number): readonly MetricSample[] => {
  const change = { object, before: read(object.status), after: read(status), now };
  const first: MetricChanges = change.before.submissionAttempts === undefined ? [["count", `${app}_count`, 1]] : [];
  const all = [...first, ...submitted(change), ...refused(change), ...entered(change), ...executors(change)];
  const of = labelsOf(object);
  return all.map(([act, name, value]) => ({ do: act, name, value, of }));
};

/** The share of one object in each gauge. */
export const gaugesOf = (object: Stored): readonly MetricSample[] => {
  const status = read(object.status);
  const running = Object.values(status.executorState ?? {}).filter((state) => state === "RUNNING").length;
  const of = labelsOf(object);
  return [
    { do: "count", name: `${app}_running_count`, value: stateOf(status) === "RUNNING" ? 1 : 0, of },
    { do: "count", name: "spark_executor_running_count", value: running, of },
  ];
};

export const sparkGauges = (): readonly CountedKind[] => [
  { resource: sparkApplications, samplesOf: gaugesOf },
  { resource: workloads, samplesOf: gaugesOfGrowth, selector: selectorText(ownWorkloads), of: sparkApplications },
];

type Ran = Partial<Pick<NonNullable<Memory["executors"]>, "ran" | "lifetimes">>;

/** Seconds of executors that have ended, of which some were lost. */
type Ended = { readonly node: string; readonly all: number; readonly lost: number };

/** The executors that have ended since the save before: by node, and on node "" those that the record has only as a sum. */
const endedSince = (before: Ran, now: Ran): readonly Ended[] => {
  const known = new Set(before.lifetimes?.map(([id]) => id));
  const kept = (now.lifetimes ?? []).flatMap(([id, , up, end, node, reason]): readonly Ended[] => {
    const all = known.has(id) || up < 0 ? 0 : end - up;
    return all === 0 ? [] : [{ node, all, lost: lossTable[reason].hasEvent ? all : 0 }];
  });
  const sum = (of: "all" | "lost"): number => kept.reduce((total, one) => total + one[of], 0);
  const [all, lost] = [0, 1].map((at) => (now.ran?.[at] ?? 0) - (before.ran?.[at] ?? 0));
  return [...kept, { node: "", all: (all ?? 0) - sum("all"), lost: (lost ?? 0) - sum("lost") }];
};

/** The samples of executors that have ended since the save before. Their node is no label: it has a price. */
const usageOf = (driver: Memory["driver"], namespace: string, before: Ran, now: Ran): readonly MetricSample[] => {
  const [, , milli = 0, mebi = 0] = driver?.needs ?? [];
  const amounts = [
    ["core", milli / 1_000],
    ["gib", mebi / 1_024],
  ] as const;
  const counted = (name: string, value: number, node: string): readonly MetricSample[] =>
    value > 0 ? [{ do: "count", name, value, of: { namespace, node } }] : [];
  return endedSince(before, now).flatMap(({ node, all, lost }) =>
    amounts.flatMap(([what, amount]) => [
      ...counted(`rekindle_executor_${what}_seconds_total`, all * amount, node),
      ...counted(`rekindle_lost_${what}_seconds_total`, lost * amount, node),
    ]),
  );
};

/** The samples of executors for which growths have begun, or ended, to grant quota since the save before. */
const growthsOf = (before: Memory | undefined, after: Memory, namespace: string): readonly MetricSample[] => {
  const [then, now] = [before, after].map((memory) => totalOf(memory?.allotment?.grown ?? {}));
  const more = (now ?? 0) - (then ?? 0);
  const name = more > 0 ? "rekindle_growth_granted_executors_total" : "rekindle_growth_ended_executors_total";
  return more === 0 ? [] : [{ do: "count", name, value: Math.abs(more), of: { namespace } }];
};

/** The samples of a save: each loss is counted when it is recorded, which happens once. */
export const measuresOfSave = (
  before: Memory | undefined,
  after: Memory,
  { namespace }: Pick<Key, "namespace">,
): readonly MetricSample[] => {
  const { executors: now } = after;
  const then = before?.executors?.attempt === now?.attempt ? before?.executors : undefined;
  const losses = lossReasons.flatMap((reason): readonly MetricSample[] => {
    const more = (now?.lost?.[reason] ?? 0) - (then?.lost?.[reason] ?? 0);
    return more > 0 ? [{ do: "count", name: "rekindle_executor_losses_total", value: more, of: { reason } }] : [];
  });
  return [
    ...losses,
    ...usageOf(after.driver, namespace, then ?? {}, now ?? {}),
    ...growthsOf(before, after, namespace),
  ];
};

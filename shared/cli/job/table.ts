/** Jobs in the columns of vcctl, and the view of one job with its record and events. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import type { EventEntry } from "../inspection/event.ts";
import type { RecordView } from "../inspection/record.ts";
import { columns, spanText, whenText } from "../io/text.ts";
import { phaseOf, type Status, specOf, statusOf, type Task } from "../kinds/job-shape.ts";

const count = (value: number | undefined): string => `${value ?? 0}`;

const counts = ["pending", "running", "succeeded", "failed", "unknown", "retryCount"] as const;

const heads = ["Name", "Creation", "Phase", "JobType", "Replicas", "Min"];
const further = ["Pending", "Running", "Succeeded", "Failed", "Unknown", "RetryCount"];

const podsOf = ({ replicas = 0 }: Task): number => replicas;

const row = (job: Stored): readonly string[] => {
  const status = statusOf(job);
  return [
    job.metadata.name,
    (job.metadata.creationTimestamp ?? "").slice(0, 10),
    phaseOf(job),
    job.metadata.labels?.["volcano.sh/job-type"] ?? "Batch",
    `${specOf(job).tasks.reduce((sum, task) => sum + podsOf(task), 0)}`,
    count(status.minAvailable),
    ...counts.map((field) => count(status[field])),
  ];
};

/** As `vcctl job list`. */
export const tableOf = (jobs: readonly Stored[], allNamespaces: boolean): string => {
  if (jobs.length === 0) return "No resources found";
  const first = (text: string): readonly string[] => (allNamespaces ? [text] : []);
  return columns([
    [...first("Namespace"), ...heads, ...further],
    ...jobs.map((job) => [...first(job.metadata.namespace ?? ""), ...row(job)]),
  ]);
};

const words = (given: Readonly<Record<string, string>> | undefined): string =>
  given === undefined || Object.keys(given).length === 0 ? "<none>" : JSON.stringify(given);

const container = z.looseObject({ name: z.string().optional(), image: z.string().optional() });

const imagesIn = (spec: unknown): readonly string[] => {
  const parsed = z.looseObject({ containers: z.array(container).optional() }).safeParse(spec ?? {});
  return (parsed.data?.containers ?? []).map(({ name = "", image = "" }) => `${name}=${image}`);
};

const taskLines = (job: Stored): readonly string[] => {
  const counted = statusOf(job).taskStatusCount;
  const lines = specOf(job).tasks.map((task) => {
    const { name = "" } = task;
    const phases = Object.entries(counted[name]?.phase ?? {}).map(([phase, pods]) => `${pods} ${phase}`);
    return [
      `    ${name}`,
      `${podsOf(task)}`,
      `${task.minAvailable ?? podsOf(task)}`,
      phases.join(", "),
      imagesIn(task.template?.spec).join(", "),
    ];
  });
  return columns([["    Name", "Replicas", "Min", "Pods", "Containers"], ...lines]).split("\n");
};

const shownCounts: readonly (readonly [head: string, field: keyof Status])[] = [
  ["Succeeded", "succeeded"],
  ["Pending", "pending"],
  ["Running", "running"],
  ["Failed", "failed"],
  ["Terminating", "terminating"],
  ["Unknown", "unknown"],
  ["RetryCount", "retryCount"],
  ["Min Available", "minAvailable"],
  ["Version", "version"],
];

const statusLines = (job: Stored, now: number): readonly string[] => {
  const status = statusOf(job);
  const { state, conditions, controlledResources } = status;
  const passed = conditions.map(({ status: phase, lastTransitionTime }) => [
    `    ${phase}`,
    whenText(instantOf(lastTransitionTime) ?? 0, now),
  ]);
  const things = Object.keys(controlledResources);
  return [
    ...shownCounts.flatMap(([head, field]) => (status[field] === undefined ? [] : [`  ${head}: ${status[field]}`])),
    `  Phase: ${state.phase ?? ""}`,
    ...(state.message === undefined ? [] : [`  Message: ${state.reason ?? ""} ${state.message}`]),
    ...(status.runningDuration === undefined ? [] : [`  Running Duration: ${status.runningDuration}`]),
    ...(things.length === 0 ? [] : [`  Controlled Resources: ${things.join(", ")}`]),
    ...(passed.length === 0 ? [] : ["  Conditions:", ...columns(passed).split("\n")]),
  ];
};

/** Lines about the job's record; none without a record. */
const recordLines = (record: RecordView | undefined, now: number): readonly string[] => {
  if (record === undefined) return [];
  const { waitsFor, wakeAt, trouble, runs = [] } = record;
  return [
    "Rekindle:",
    `  Waits For: ${waitsFor ?? (record.rests === true ? "nothing" : "an event")}`,
    ...(wakeAt === undefined ? [] : [`  Next Step: ${whenText(wakeAt, now)}`]),
    ...(trouble === undefined ? [] : [`  Problem: ${trouble.reason}: ${trouble.message}`]),
    ...runs.map(({ attempt, outcome, endedAt }) => `  Run ${attempt}: ${outcome}, ${whenText(endedAt, now)}`),
  ];
};

const eventLines = (events: readonly EventEntry[], now: number): readonly string[] => {
  if (events.length === 0) return ["Events: <none>"];
  const lines = events.map(({ type, reason, at, message }) => [`  ${type}`, reason, spanText(now - at), message]);
  return ["Events:", ...columns([["  Type", "Reason", "Age", "Message"], ...lines]).split("\n")];
};

export type Near = {
  readonly record: RecordView | undefined;
  readonly events: readonly EventEntry[];
  readonly now: number;
};

/** As `vcctl job view`, and what Rekindle waits for. */
export const viewOf = (job: Stored, { record, events, now }: Near): string => {
  const { metadata } = job;
  const spec = specOf(job);
  const plugins = Object.entries(spec.plugins).map(([name, args]) => [name, ...args].join(" "));
  return [
    `Name: ${metadata.name}`,
    `Namespace: ${metadata.namespace ?? ""}`,
    `Labels: ${words(metadata.labels)}`,
    `Annotations: ${words(metadata.annotations)}`,
    `Created: ${whenText(instantOf(metadata.creationTimestamp) ?? 0, now)}`,
    `UID: ${metadata.uid}`,
    "Spec:",
    `  Min Available: ${spec.minAvailable ?? ""}`,
    `  Max Retry: ${spec.maxRetry ?? ""}`,
    `  Queue: ${spec.queue ?? ""}`,
    `  Plugins: ${plugins.join(", ") || "<none>"}`,
    `  Scheduler Name: ${spec.schedulerName ?? ""}`,
    "  Tasks:",
    ...taskLines(job),
    "Status:",
    ...statusLines(job, now),
    ...recordLines(record, now),
    ...eventLines(events, now),
  ].join("\n");
};

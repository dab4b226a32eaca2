/**
 * Jobs, pods of jobs, queues, JobFlows and JobTemplates in the columns of vcctl, and the view of one job with its
 * record and events.
 */

import * as z from "zod";
import { isRecord } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import type { Session } from "../../inspection/io/session.ts";
import { columns, spanText, whenText } from "../../inspection/io/text.ts";
import type { EventEntry } from "../../inspection/log.ts";
import type { RecordView } from "../../inspection/record.ts";
import { queueNameKey } from "../../kube/gang-members.ts";
import { collectionPath, withQuery } from "../../kube/paths.ts";
import { pods } from "../../kube/resources.ts";
import { bodyOf } from "../../kube/responses.ts";
import { phaseOf, type Status, specOf, statusOf, type Task } from "../../volcano/job/view.ts";
import { jobFlows } from "../../volcano/schema/resource.ts";

const count = (value: number | undefined): string => `${value ?? 0}`;

const counts = ["pending", "running", "succeeded", "failed", "unknown", "retryCount"] as const;

const jobHeads = ["Name", "Creation", "Phase", "JobType", "Replicas", "Min"];
const further = ["Pending", "Running", "Succeeded", "Failed", "Unknown", "RetryCount"];

const podsOf = ({ replicas = 0 }: Task): number => replicas;

const jobRow = (job: Stored): readonly string[] => {
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
export const jobTable = (jobs: readonly Stored[], allNamespaces: boolean): string => {
  if (jobs.length === 0) return "No resources found";
  const first = (text: string): readonly string[] => (allNamespaces ? [text] : []);
  return columns([
    [...first("Namespace"), ...jobHeads, ...further],
    ...jobs.map((job) => [...first(job.metadata.namespace ?? ""), ...jobRow(job)]),
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

export type JobReads = {
  readonly record: RecordView | undefined;
  readonly events: readonly EventEntry[];
  readonly now: number;
};

/** As `vcctl job view`, and what Rekindle waits for. */
export const viewOf = (job: Stored, { record, events, now }: JobReads): string => {
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

const texts = z.record(z.string(), z.string()).optional();

const table = z.looseObject({
  metadata: z.looseObject({ continue: z.string().optional() }).default({}),
  columnDefinitions: z.array(z.looseObject({ name: z.string() })),
  rows: z
    .array(
      z.looseObject({
        cells: z.array(z.unknown()),
        object: z.looseObject({ metadata: z.looseObject({ labels: texts, annotations: texts }) }),
      }),
    )
    .nullish(),
});

type Table = z.infer<typeof table>;

export type PodRow = {
  /** The cells under `heads`. */
  readonly cells: readonly string[];
  /** Its queue, by the label of a job's pod or the annotation of any other. */
  readonly queue: string | undefined;
};

const podHeads = ["Name", "Ready", "Status", "Restart", "Age"] as const;

/** The API server's names of these columns; it prints others, too. */
const printed = ["name", "ready", "status", "restarts", "age"] as const;

const rowsIn = ({ columnDefinitions, rows }: Table): readonly PodRow[] => {
  const places = printed.map((head) => columnDefinitions.findIndex(({ name }) => name.toLowerCase() === head));
  return (rows ?? []).map(({ cells, object: { metadata } }) => ({
    cells: places.map((at) => String(cells[at] ?? "")),
    queue: metadata.labels?.["volcano.sh/queue-name"] ?? metadata.annotations?.[queueNameKey],
  }));
};

const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } as const;

type Chosen = { readonly job: string | undefined; readonly queue: string | undefined };

/** Selects one job's pods; for a queue all pods (it may have pods without a job); else the pods of all jobs. */
const selectorOf = ({ job, queue }: Chosen): string | undefined => {
  if (job !== undefined) return `volcano.sh/job-name=${job}`;
  return queue === undefined ? "volcano.sh/job-name" : undefined;
};

export const podRows = async (session: Session, namespace: string, chosen: Chosen): Promise<readonly PodRow[]> => {
  const found: PodRow[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector: selectorOf(chosen), limit: "500", continue: next };
    const path = withQuery(collectionPath(pods, namespace), query);
    const answer = await session.transport.send({ method: "GET", path, headers: asTable, timeoutMs: 5_000 });
    const page = table.parse(bodyOf("list pods", answer));
    found.push(...rowsIn(page));
    next = page.metadata.continue === "" ? undefined : page.metadata.continue;
  } while (next !== undefined);
  return chosen.job !== undefined || chosen.queue === undefined
    ? found
    : found.filter(({ queue }) => queue === chosen.queue);
};

export const podTable = (rows: readonly PodRow[]): string =>
  rows.length === 0 ? "No resources found" : columns([podHeads, ...rows.map(({ cells }) => cells)]);

const shape = z.looseObject({
  spec: z.looseObject({ weight: z.number().optional(), parent: z.string().optional() }).nullish(),
  status: z.looseObject({ state: z.string().optional() }).nullish(),
});

const phases = ["Inqueue", "Pending", "Running", "Unknown", "Completed"] as const;

const queueHeads = ["Name", "Weight", "State", "Parent", ...phases];

const fieldOf = (object: Stored, part: string, field: string): unknown => {
  const inner = object[part];
  return isRecord(inner) ? inner[field] : undefined;
};

/** A PodGroup without a phase is pending. */
const groupPhaseOf = (group: Stored): unknown => fieldOf(group, "status", "phase") ?? "Pending";

const queueRow = (queue: Stored, groups: readonly Stored[] | undefined): readonly string[] => {
  const { spec, status } = shape.safeParse(queue).data ?? {};
  const own = groups?.filter((group) => (fieldOf(group, "spec", "queue") ?? "default") === queue.metadata.name);
  return [
    queue.metadata.name,
    `${spec?.weight ?? 0}`,
    status?.state ?? "",
    spec?.parent ?? "",
    ...phases.map((phase) => `${own?.filter((group) => groupPhaseOf(group) === phase).length ?? "-"}`),
  ];
};

/** As `vcctl queue list` and `get`. `groups` undefined: they cannot be counted. */
export const queueTable = (queues: readonly Stored[], groups: readonly Stored[] | undefined): string =>
  queues.length === 0 ? "No resources found" : columns([queueHeads, ...queues.map((queue) => queueRow(queue, groups))]);

/** The output form, and the time, epoch ms. */
export type OutputForm = { readonly output: string; readonly now: number };

const ageOf = ({ metadata: { creationTimestamp } }: Stored, now: number): string => {
  const made = instantOf(creationTimestamp);
  return made === undefined ? "<unknown>" : spanText(now - made);
};

/** As `vcctl jobflow list` and `vcctl jobtemplate list`: templates have no phase. */
export const flowTable = (objects: readonly Stored[], now: number): string => {
  const [first] = objects;
  if (first === undefined) return "No resources found";
  const isFlow = first.kind === jobFlows.kind;
  return columns([
    ["Name", "Namespace", ...(isFlow ? ["Phase", "Age"] : [])],
    ...objects.map((object) => {
      const { name, namespace = "" } = object.metadata;
      return [name, namespace, ...(isFlow ? [statusOf(object).state.phase ?? "", ageOf(object, now)] : [])];
    }),
  ]);
};

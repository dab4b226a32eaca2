/**
 * The memory of a JobFlow: its phase, the jobs that were complete, and the phases that each job was in; its phases as
 * a table; and its status, projected from its memory and its jobs.
 */

import * as z from "zod";
import { withoutNulls } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { createdAt } from "../../kube/history.ts";
import type { Json } from "../../kube/responses.ts";
import { instant } from "../../kube/schema.ts";
import { phaseOf, shownBy } from "../child-jobs.ts";
import { durationMs } from "../schema/spec.ts";
import { type FlowPhase, flowPhases, flowStatusSchema } from "../schema/workflows.ts";

const memory = z.object({
  phase: z.enum(flowPhases),
  /** Names of jobs that were seen complete; they are not created again, whatever happens to them. */
  completed: z.array(z.string()),
  /** By the name of a job: the phases that it was seen in, and since when, epoch ms; the latest last. */
  histories: z.record(z.string(), z.array(z.object({ state: z.string(), at: instant }))),
  /** By the name of a job: the latest failed one that is created again, and the retries that it has spent. */
  retries: z.record(z.string(), z.object({ uid: z.string(), count: z.int().min(1) })).optional(),
  /** The last reported problem that a user must correct. */
  warned: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;
type History = Memory["histories"][string];

export const parseMemory = readerOf("JobFlow", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

type Status = z.infer<typeof flowStatusSchema>;

const statusOf = (object: Stored): Status => flowStatusSchema.safeParse(withoutNulls(object.status ?? {})).data ?? {};

/** Returns the phase in the status; undefined while the status has none. */
export const shownPhase = (object: Stored): FlowPhase | undefined =>
  flowPhases.find((phase) => phase === statusOf(object).state?.phase);

const historyOf = (given: NonNullable<Status["jobStatusList"]>[number]): History =>
  (given.runningHistories ?? []).flatMap(({ state = "", startTimestamp }) => {
    const at = instantOf(startTimestamp);
    return at === undefined ? [] : [{ state, at }];
  });

/** Makes the memory of a flow without a record from its status, so that upstream's flows go on as they were. */
export const seeded = (object: Stored): Memory => {
  const { completedJobs = [], jobStatusList = [] } = statusOf(object);
  return {
    phase: shownPhase(object) ?? "Pending",
    completed: completedJobs,
    histories: Object.fromEntries(jobStatusList.map((one) => [one.name ?? "", historyOf(one)])),
  };
};

/** The most phases that are kept of one job: a job that restarts again and again must not fill the record. */
const longest = 40;

/** Adds the phase of a job to its history if it differs from the latest. */
export const withPhase = (history: History = [], state: string, now: number): History =>
  state === "" || history.at(-1)?.state === state ? history : [...history, { state, at: now }].slice(-longest);

/** The situation of all jobs of a flow: the first that applies. */
type Situation = "failed" | "complete" | "begun" | "idle";

/** As upstream's states; a flow is seen Running before it has succeeded. */
export const table: Readonly<Record<FlowPhase, Readonly<Record<Situation, FlowPhase>>>> = {
  Pending: { failed: "Failed", complete: "Running", begun: "Running", idle: "Pending" },
  Running: { failed: "Failed", complete: "Succeed", begun: "Running", idle: "Running" },
  Succeed: { failed: "Succeed", complete: "Succeed", begun: "Succeed", idle: "Succeed" },
  Failed: { failed: "Failed", complete: "Failed", begun: "Failed", idle: "Failed" },
};

/** True in phases in which no job is created any more. */
export const isOver = (phase: FlowPhase): boolean => phase === "Succeed" || phase === "Failed";

type Counts = {
  readonly failed: number;
  readonly running: number;
  readonly complete: number;
  readonly all: number;
};

export const situationOf = ({ failed, running, complete, all }: Counts): Situation => {
  if (failed > 0) return "failed";
  if (complete === all && all > 0) return "complete";
  return running + complete > 0 ? "begun" : "idle";
};

/** The lists of jobs by phase; as upstream, some transitional phases have none. */
const lists: Readonly<Record<string, string | undefined>> = {
  Pending: "pendingJobs",
  Running: "runningJobs",
  Failed: "failedJobs",
  Completed: "completedJobs",
  Terminated: "terminatedJobs",
  Completing: undefined,
  Terminating: undefined,
};

const listOf = (phase: string): string | undefined => (phase in lists ? lists[phase] : "unKnowJobs");

const named = (jobs: readonly Stored[], gone: readonly string[]): Json => {
  const placed = [
    ...jobs.map((job) => ({ name: job.metadata.name, list: listOf(phaseOf(job)) })),
    ...gone.map((name) => ({ name, list: "completedJobs" })),
  ];
  const groups = Map.groupBy(placed, ({ list }) => list);
  return Object.fromEntries(
    [...groups].flatMap(([list, members]) => (list === undefined ? [] : [[list, members.map(({ name }) => name)]])),
  );
};

const historiesOf = (history: History): readonly Json[] =>
  history.map(({ state, at }, index) => {
    const next = history[index + 1];
    return {
      state,
      startTimestamp: timeText(at),
      ...(next === undefined ? {} : { endTimestamp: timeText(next.at) }),
    };
  });

const jobStatus = (job: Stored, history: History): Json => {
  const { retryCount = 0, runningDuration } = shownBy(job);
  const ran = durationMs(runningDuration ?? "");
  return {
    name: job.metadata.name,
    state: phaseOf(job),
    startTimestamp: timeText(createdAt(job)),
    ...(ran === undefined ? {} : { endTimestamp: timeText(createdAt(job) + ran) }),
    ...(retryCount === 0 ? {} : { restartCount: retryCount }),
    runningHistories: historiesOf(history),
  };
};

const condition = (job: Stored): Json => {
  const { runningDuration, taskStatusCount } = shownBy(job);
  return {
    phase: phaseOf(job),
    createTime: timeText(createdAt(job)),
    ...(runningDuration === undefined ? {} : { runningDuration }),
    ...(taskStatusCount === undefined ? {} : { taskStatusCount }),
  };
};

/** The entry of a job that was complete and is gone before a status showed its end. */
const ended = (one: JobStatusEntry, history: History = []): JobStatusEntry => ({
  endTimestamp: timeText(history.at(-1)?.at ?? 0),
  ...one,
  state: "Completed",
});

/** Keeps the entries of jobs that are gone. */
const statuses = (shown: Status, memory: Memory, jobs: readonly Stored[]): readonly unknown[] => {
  const there = new Map(jobs.map((job) => [job.metadata.name, job]));
  const known = (shown.jobStatusList ?? [])
    .filter(({ name = "" }) => !there.has(name))
    .map((one) => (memory.completed.includes(one.name ?? "") ? ended(one, memory.histories[one.name ?? ""]) : one));
  const order = Object.keys(memory.histories);
  const living = [...there.values()].toSorted(
    (a, b) => order.indexOf(a.metadata.name) - order.indexOf(b.metadata.name),
  );
  return [...known, ...living.map((job) => jobStatus(job, memory.histories[job.metadata.name] ?? []))].toSorted(
    (a, b) => startOf(a) - startOf(b),
  );
};

type JobStatusEntry = NonNullable<Status["jobStatusList"]>[number];

const startOf = ({ startTimestamp }: { readonly startTimestamp?: unknown }): number =>
  instantOf(typeof startTimestamp === "string" ? startTimestamp : undefined) ?? 0;

/** Returns the whole status. */
export const projected = (object: Stored, memory: Memory, jobs: readonly Stored[]): Json => {
  const there = new Set(jobs.map(({ metadata }) => metadata.name));
  const gone = memory.completed.filter((name) => !there.has(name));
  const list = statuses(statusOf(object), memory, jobs);
  const conditions = Object.fromEntries(jobs.map((job) => [job.metadata.name, condition(job)]));
  return {
    ...named(jobs, gone),
    ...(list.length === 0 ? {} : { jobStatusList: list }),
    ...(jobs.length === 0 ? {} : { conditions }),
    state: { phase: memory.phase },
  };
};

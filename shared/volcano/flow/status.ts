/** The status of a JobFlow, projected from its memory and its jobs. */
import type { Stored } from "../../core/object.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { createdAt } from "../../kube/history.ts";
import type { Json } from "../../kube/responses.ts";
import { phaseOf, shownBy } from "../child-jobs.ts";
import { durationMs } from "../schema/duration.ts";
import { type History, type Memory, type Status, statusOf } from "./memory.ts";

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

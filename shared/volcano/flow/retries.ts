/**
 * Retries of a flow's jobs, by annotation: a failed job is deleted and created again. The record counts each failed job by its
 * UID in the save before the deletion, so that a repeated step spends no retry of its own.
 */
import { type Count, type Line, lineOf, reader } from "../../core/annotation.ts";
import type { Stored } from "../../core/object.ts";
import { phaseOf } from "../child-jobs.ts";
import { jobFlows } from "../schema/resource.ts";
import type { Memory } from "./memory.ts";

const row = {
  form: "count",
  annotation: "rekindle.dev/job-retries",
  least: 1,
  most: 100,
  meaning:
    "a job of the flow that is Failed is deleted and created again, each job this many times; then, or Terminated, it fails the flow",
} as const satisfies Count;

/** Returns the annotations of a JobFlow as lines for people. */
export const flowAnnotationLines = (): readonly (Line & { readonly kind: string })[] => [
  { kind: jobFlows.kind, ...lineOf(row) },
];

/** The retries of each job of a flow, and what cannot be read of the annotation. */
export const retriesOf = ({ metadata: { annotations = {} } }: Stored) => {
  const { count, problems } = reader(annotations);
  return { most: count(row) ?? 0, problem: problems[0] };
};

/** True of a failed job that is to be created again: the record has counted it. */
export const isRetried = ({ retries = {} }: Memory, { metadata: { name, uid } }: Stored): boolean =>
  retries[name]?.uid === uid;

/** Counts failed jobs that have a retry left. */
export const withRetries = (memory: Memory, jobs: readonly Stored[], most: number): Memory => {
  const counted = jobs
    .filter((job) => phaseOf(job) === "Failed" && !isRetried(memory, job))
    .map(({ metadata: { name, uid } }) => [name, { uid, count: (memory.retries?.[name]?.count ?? 0) + 1 }] as const)
    .filter(([, { count }]) => count <= most);
  return counted.length === 0 ? memory : { ...memory, retries: { ...memory.retries, ...Object.fromEntries(counted) } };
};

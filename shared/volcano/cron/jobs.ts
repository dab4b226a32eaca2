/** The existing jobs of a CronJob: active, completed and failed ones, and changes that its status does not show yet. */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Looking } from "../../core/query.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { createdAt, isFinished, phaseOf, shownBy } from "../child-jobs.ts";
import { jobs } from "../schema/resource.ts";
import { type Memory, statusOf } from "./memory.ts";

export type Made = {
  readonly all: readonly Stored[];
  /** Unfinished jobs, including those under deletion. */
  readonly active: readonly Stored[];
  /** Newest first, without jobs under deletion. */
  readonly successful: readonly Stored[];
  readonly failed: readonly Stored[];
};

/** Lists all jobs of the namespace: no label leads to their CronJob, the owner references do. */
export const jobsOf = (key: Key): Looking => ({ do: "list", resource: jobs, namespace: key.namespace, labels: {} });

const newestFirst = (a: Stored, b: Stored): number =>
  createdAt(b) - createdAt(a) || (a.metadata.name < b.metadata.name ? 1 : -1);

export const sortOut = (found: readonly Stored[], uid: string): Made => {
  const all = found.filter((job) => ownedBy(job, uid)).sort(newestFirst);
  const ended = (phase: string): readonly Stored[] => all.filter((job) => phaseOf(job) === phase && !isEnding(job));
  return {
    all,
    active: all.filter((job) => !isFinished(job)),
    successful: ended("Completed"),
    failed: ended("Failed"),
  };
};

/** Remembers the newest end of a completed job, of existing jobs and of deleted ones. */
export const withSuccess = (memory: Memory, { successful }: Made): Memory => {
  const ends = successful.flatMap((job) => instantOf(shownBy(job).state?.lastTransitionTime) ?? []);
  const succeeded = Math.max(memory.succeeded ?? 0, ...ends);
  return succeeded === 0 ? memory : { ...memory, succeeded };
};

/** Returns the jobs that the status calls active and that are finished or gone. */
export const departed = (object: Stored, { all }: Made) => {
  const { active = [] } = statusOf(object);
  const named = active.map(({ uid = "", name = "" }) => ({
    uid,
    name,
    job: all.find((one) => one.metadata.uid === uid),
  }));
  return {
    finished: named.filter(({ job }) => job !== undefined && isFinished(job)),
    gone: named.filter(({ job }) => job === undefined),
  };
};

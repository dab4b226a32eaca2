/** The memory of a CronJob: the time up to which all times are taken, and the job that was decided on. The jobs of a CronJob: the
 * one that a time creates, with upstream's name, annotation and owner; existing ones; and changes that its status does not show
 * yet. The status and Events that follow. */

import * as z from "zod";
import { zoneOf } from "../../core/cron.ts";
import { withoutNulls } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import type { Effect, Looking } from "../../core/plan.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { inheritedListener } from "../../core/updates.ts";
import { createdAt } from "../../kube/history.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { instant } from "../../kube/schema.ts";
import { isFinished, phaseOf, shownBy } from "../child-jobs.ts";
import { cronJobs, jobs, keys } from "../schema/resource.ts";

import { cronStatusSchema } from "../schema/workflows.ts";
import type { Desired } from "./read.ts";

const memory = z.object({
  /** Digest of schedule and time zone that `since` counts for. */
  timing: z.string(),
  /** Times up to this one are taken, or from before the schedule; epoch ms. */
  since: instant,
  /** The time that was taken last, epoch ms. */
  taken: instant.optional(),
  /** A job that was decided on and saved but not seen yet; steps create it until one sees it. */
  starting: z.object({ name: z.string(), tick: instant }).optional(),
  /** The newest end of a job that was completed, epoch ms: the job may be gone. */
  succeeded: instant.optional(),
  /** Why the API server refused the job of the last time. */
  refusal: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("CronJob", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

type Status = z.infer<typeof cronStatusSchema>;

const statusOf = (object: Stored): Status => cronStatusSchema.safeParse(withoutNulls(object.status ?? {})).data ?? {};

/** Makes the memory of a CronJob without a record from its status, so that no time is taken again. */
export const seeded = (object: Stored, timing: string, now: number): Memory => {
  const { lastScheduleTime, lastSuccessfulTime } = statusOf(object);
  const [taken, succeeded] = [instantOf(lastScheduleTime), instantOf(lastSuccessfulTime)];
  return {
    timing,
    since: taken ?? instantOf(object.metadata.creationTimestamp) ?? now,
    ...(taken === undefined ? {} : { taken }),
    ...(succeeded === undefined ? {} : { succeeded }),
  };
};

export type CreatedJobs = {
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

export const sortOut = (found: readonly Stored[], uid: string): CreatedJobs => {
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
export const withSuccess = (memory: Memory, { successful }: CreatedJobs): Memory => {
  const ends = successful.flatMap((job) => instantOf(shownBy(job).state?.lastTransitionTime) ?? []);
  const succeeded = Math.max(memory.succeeded ?? 0, ...ends);
  return succeeded === 0 ? memory : { ...memory, succeeded };
};

/** Returns the jobs that the status calls active and that are finished or gone. */
const departed = (object: Stored, { all }: CreatedJobs) => {
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

const referenceTo = ({ metadata: { name, namespace, uid } }: Stored) => ({
  apiVersion: apiVersionOf(jobs),
  kind: jobs.kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  uid,
});

/** Returns the whole status. */
export const projected = (memory: Memory, { active }: CreatedJobs): Readonly<Record<string, unknown>> => {
  const listed = active.filter((job) => !isEnding(job)).toReversed();
  const taken = memory.starting?.tick ?? memory.taken;
  return {
    ...(listed.length === 0 ? {} : { active: listed.map(referenceTo) }),
    ...(taken === undefined ? {} : { lastScheduleTime: timeText(taken) }),
    ...(memory.succeeded === undefined ? {} : { lastSuccessfulTime: timeText(memory.succeeded) }),
  };
};

type Word = { readonly reason: string; readonly message: string; readonly type?: "Normal" | "Warning" };

/** `occasion` tells Events of one reason apart, so that repeating one creates nothing. */
export const cronEvent = (about: Stored, occasion: string, { type = "Warning", reason, message }: Word): Effect => ({
  ...{ do: "record", about, resource: cronJobs, occasion },
  ...{ type, reason, message },
});

/** Events about finished and deleted jobs, as long as the status calls them active. */
export const eventsOfEndedJobs = (object: Stored, made: CreatedJobs): readonly Effect[] => {
  const { finished, gone } = departed(object, made);
  return [
    ...finished.map(({ uid, name }) =>
      cronEvent(object, uid, {
        type: "Normal",
        reason: "SawCompletedJob",
        message: `Saw completed job: ${name} in active, remove`,
      }),
    ),
    ...gone.map(({ uid, name }) =>
      cronEvent(object, uid, {
        reason: "StaleReference",
        message: `Active job ${JSON.stringify(name)} no longer exists (UID: ${uid})`,
      }),
    ),
  ];
};

const minuteMs = 60_000;

/** Returns the name of a time's job. The name derives from the time, so that one time creates one job. */
export const jobName = (name: string, tick: number): string => `${name}-${Math.floor(tick / minuteMs)}`;

/** Returns the time that a job was named after, epoch ms; undefined for a name of another form. */
export const tickOf = (cron: string, { metadata: { name } }: Obj): number | undefined => {
  const minutes = name.startsWith(`${cron}-`) ? name.slice(cron.length + 1) : "";
  return /^\d{1,10}$/.test(minutes) ? Number(minutes) * minuteMs : undefined;
};

const two = (number: number): string => `${number}`.padStart(2, "0");

/** Writes an instant in RFC 3339 on the clock of a zone: with its offset from UTC, or Z without one. */
const zonedText = (at: number, timeZone: string): string => {
  const wall = zoneOf(timeZone)?.(at);
  if (wall === undefined) return new Date(at).toISOString();
  const shown = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const minutes = Math.round((shown - Math.floor(at / minuteMs) * minuteMs) / minuteMs);
  const text = new Date(shown + (at % minuteMs)).toISOString().slice(0, 19);
  if (minutes === 0) return `${text}Z`;
  const far = Math.abs(minutes);
  return `${text}${minutes < 0 ? "-" : "+"}${two(Math.floor(far / 60))}:${two(far % 60)}`;
};

const jobOf = ({ metadata }: Stored, { template, timeZone }: Desired, tick: number): Obj => ({
  apiVersion: apiVersionOf(jobs),
  kind: jobs.kind,
  metadata: {
    name: jobName(metadata.name, tick),
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    labels: template.labels,
    annotations: {
      ...inheritedListener(metadata.annotations),
      ...template.annotations,
      [keys.scheduledAt]: zonedText(tick, timeZone),
    },
    ownerReferences: [
      {
        apiVersion: apiVersionOf(cronJobs),
        kind: cronJobs.kind,
        name: metadata.name,
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: template.spec,
});

/** Creates the job of a time; if it exists already, it is this very one. */
export const creation = (object: Stored, desired: Desired, tick: number): Effect => ({
  do: "create",
  object: jobOf(object, desired, tick),
  resource: jobs,
  owner: object.metadata.uid,
});

/** Parses a schedule's spec as stored, or returns one message with the remedy; and makes the SparkApplication of one time, with
 * upstream's name, labels and owner. */

import * as z from "zod";
import { nextAfter, readSchedule, type Schedule } from "../../core/cron.ts";
import { isRecord } from "../../core/json.ts";
import { apiVersionOf, isLabelValue, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { inheritedListener } from "../../core/updates.ts";
import { type ConcurrencyPolicy, readConcurrency } from "../../kube/history.ts";
import { ownQueueKey } from "../../kube/kueue.ts";
import type { Json } from "../../kube/responses.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { scheduledSpecSchema } from "../schema/application.ts";
import { scheduleLimits } from "../schema/limits.ts";
import { ownerAnnotation } from "../schema/pod-query.ts";
import { scheduledSparkApplications, scheduleLabel, sparkApplications } from "../schema/resource.ts";

/** The longest name of a SparkApplication, which is a label and a prefix of services' names. */
const longestRunName = 63;

/** Zeros after the seconds, from nanoseconds, upstream's default, to none. */
const precisions = ["000000000", "000000", "000", ""] as const;

const secondsDigits = 10;

/** The longest name of a schedule. */
const longestName = longestRunName - secondsDigits - 1;

/** The name of the run at a time of the schedule, so that one time makes one run; as precise as the length allows. */
export const runName = (name: string, tick: number): string => {
  const seconds = `${name}-${Math.floor(tick / 1_000)}`;
  const zeros = precisions.find((digits) => seconds.length + digits.length <= longestRunName);
  return `${seconds}${zeros ?? ""}`;
};

const annotated = (annotations: Readonly<Record<string, string>>) =>
  Object.keys(annotations).length === 0 ? {} : { annotations };

/** Annotations of a schedule that its runs get; upstream passes on labels alone. */
const passedOn = [ownQueueKey, ownerAnnotation] as const;

/** The annotations of a schedule's runs. */
export const runAnnotations = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...inheritedListener(annotations),
  ...Object.fromEntries(Object.entries(annotations).filter(([key]) => passedOn.some((one) => one === key))),
});

const runOf = ({ metadata }: Stored, template: Json, name: string): Obj => ({
  apiVersion: apiVersionOf(sparkApplications),
  kind: sparkApplications.kind,
  metadata: {
    name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    labels: { ...metadata.labels, [scheduleLabel]: metadata.name },
    ...annotated(runAnnotations(metadata.annotations)),
    ownerReferences: [
      {
        apiVersion: apiVersionOf(scheduledSparkApplications),
        kind: scheduledSparkApplications.kind,
        name: metadata.name,
        uid: metadata.uid,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: template,
});

/** Creates the run; an existing object of the name is this run. */
export const creation = (object: Stored, template: Json, name: string): Effect => ({
  do: "create",
  object: runOf(object, template, name),
  resource: sparkApplications,
  owner: object.metadata.uid,
});

/** A schedule, stored or about to be. */
type Written = {
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
  readonly [field: string]: unknown;
};

/** The parsed spec of a schedule. The template is passed on unchanged. */
export type Desired = {
  readonly schedule: Schedule;
  readonly template: Json;
  readonly suspended: boolean;
  readonly policy: ConcurrencyPolicy;
  readonly keep: { readonly successful: number; readonly failed: number };
};

type Read = { readonly ok: true; readonly desired: Desired } | { readonly ok: false; readonly reason: string };

/** The template is not checked here: the run that it makes reports its errors. */
const shape = z.looseObject({ ...scheduledSpecSchema.shape, template: z.looseObject({}) });

/** The number of runs to keep; upstream's default is 1. */
const kept = (limit: number | undefined): number => Math.max(0, limit ?? 1);

/** Reads `spec.suspend` without the schema: a suspended schedule with an invalid spec stays suspended. */
const suspends = ({ spec }: Written): boolean => isRecord(spec) && spec["suspend"] === true;

const nameProblem = (name: string): string | undefined => {
  if (name.length > longestName)
    return `metadata.name is ${name.length} characters long: with the time of a run added it must hold 63, so shorten it to ${longestName}`;
  return isLabelValue(name) ? undefined : `metadata.name ${JSON.stringify(name)} cannot stand in a label`;
};

const wrong = (reason: string): Read => ({ ok: false, reason });

/** Parses and checks a spec. `now` only serves to check whether the schedule has a next time. */
export const readScheduleSpec = (object: Written, now: number): Read => {
  const beyond = scheduleLimits(object.spec);
  if (beyond !== "") return wrong(beyond);
  const parsed = shape.safeParse(object.spec, reportingInput);
  if (!parsed.success) return wrong(explain(parsed.error));
  const { schedule: text, timeZone, template, concurrencyPolicy = "", ...spec } = parsed.data;
  const misnamed = nameProblem(object.metadata.name);
  if (misnamed !== undefined) return wrong(misnamed);
  const concurrency = readConcurrency(concurrencyPolicy);
  if (!concurrency.ok) return wrong(concurrency.error);
  const read = readSchedule(text, timeZone);
  if (!read.ok) return wrong(read.error.startsWith("Invalid timezone") ? read.error : `spec.schedule: ${read.error}`);
  if (nextAfter(read.schedule, now) === undefined)
    return wrong(`spec.schedule: ${JSON.stringify(text)} names no time that ever comes`);
  const keep = { successful: kept(spec.successfulRunHistoryLimit), failed: kept(spec.failedRunHistoryLimit) };
  const [suspended, { policy }] = [suspends(object), concurrency];
  return { ok: true, desired: { schedule: read.schedule, template, suspended, policy, keep } };
};

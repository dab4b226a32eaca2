/** The context of a step of Apache's SparkApplication: its spec as it was read, and the objects of its present attempt. Pure. */
import type { Decision } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, View } from "../../core/plan.ts";
import type { WaitingOn } from "../../core/waiting-on.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import type { WorkloadState } from "../../kube/kueue-workload.ts";
import type { Json } from "../../kube/responses.ts";
import type { Settings } from "../application/run/context.ts";
import { isOwn } from "../executors/owner.ts";
import { withConfDefaults } from "../schema/rules.ts";
import { type Memory, recordOf } from "./memory.ts";
import { resourceFor } from "./resource.ts";
import { isOwnAttempt, type RunInput } from "./run.ts";
import { readApache } from "./spec/read.ts";
import type { ReadSpec } from "./spec/reader.ts";
import type { ApacheSpec } from "./spec/schema.ts";
import { type ApplicationRecord, currentOf } from "./status/record.ts";
import { groupOf } from "./status/summary.ts";
import { type ApacheInput, type ApacheSubmission, applicationIdOf, submitApache } from "./submission.ts";

type Refused = { readonly refused: string };

/** An application as a step has read it, and the objects of its present attempt. */
export type Context = RunInput & {
  readonly settings: ApacheSettings;
  readonly read: ReadSpec<ApacheSpec>;
  readonly quota?: Quota;
  readonly places?: PlacesWait;
};

/** Why no attempt begins, or the one under way does not go on, without places for its group: see `gang.ts`. */
export type PlacesWait = {
  readonly text: string;
  readonly waitsFor: WaitingOn;
  /** Effects on the group. */
  readonly stage: readonly Effect[];
  /** Why the attempt under way has lost its places. */
  readonly lost?: string;
};

/** The quota of an application that Kueue admits, as a step has read it: see `quota.ts`. */
export type Quota = {
  /** The LocalQueue; undefined: its label is gone, and its Workload stays. */
  readonly queue: string | undefined;
  readonly workload: Stored | undefined;
  readonly standing: WorkloadState;
  /** The fields by which Kueue ranks the Workload that is to be created. */
  readonly rank?: Json | undefined;
  /** Why there is no Workload, or nothing is created under it: an object that cannot be read, or a refusal. */
  readonly lacks?: string | undefined;
};

/** Decides with the act, which begins an attempt only once its group has places. */
export type WholeStart = (context: Context, act: (context: Context) => Decision<Memory>) => Decision<Memory>;

/** `apacheGang`: starts driver and initial executors as one group; absent where groups do not start by plans. */
export type ApacheSettings = Settings & { readonly apacheGang?: WholeStart };

/** An application whose spec cannot be read has the operator's defaults: they restart nothing, and keep nothing. */
export const unread: ApacheSpec = { runtimeVersions: { sparkVersion: "" } };

const defaultMain = "spark-kubernetes-driver";

export const submissionOf = (
  { options: { apacheOperatorName: operatorName, sparkDefaults } }: Settings,
  read: ReadSpec<ApacheSpec>,
  attempted: Omit<ApacheInput, "spec" | "operatorName">,
): ApacheSubmission | Refused => {
  if (!read.ok) return { refused: read.message };
  const spec = withConfDefaults(read.spec, sparkDefaults);
  const submission = submitApache({ ...attempted, spec, operatorName });
  if ("refused" in submission) return submission;
  const strange = submission.before.find(({ kind }) => resourceFor(kind) === undefined);
  return strange === undefined ? submission : { refused: `it needs a ${strange.kind}, which Rekindle cannot create` };
};

/** True of the record of an attempt whose driver no step has seen. */
const isInitial = (record: ApplicationRecord | undefined): boolean =>
  record === undefined || groupOf(currentOf(record).summary) === "initializing";

/** The LocalQueue of an attempt: the one in which it began, else the one that the label names. */
export const queueOf = (memory: Memory | undefined, attempt: number, object: Stored): string | undefined =>
  memory?.run?.attempt === attempt ? memory.run.queue : localQueueOf(object);

export const contextOf = (settings: ApacheSettings, key: Key, view: View<Memory>, object: Stored): Context => {
  const { namespace, name } = key;
  const app = { name, namespace, uid: view.uid };
  const record = recordOf(view.memory, object.status);
  const attempt = record?.attempt.id ?? 0;
  const read = readApache(object);
  const kept = view.memory?.run;
  const isPlanned = kept?.attempt === attempt || !isInitial(record);
  // The annotation chooses once an attempt: its driver's confs do not change any more.
  const own = isPlanned ? isOwnAttempt(view.memory, attempt) : isOwn(object.metadata.annotations ?? {});
  const queued = queueOf(view.memory, attempt, object) !== undefined;
  const submission = submissionOf(settings, read, { app, attempt, own, queued });
  const made =
    "refused" in submission
      ? { applicationId: applicationIdOf(app, attempt), main: defaultMain }
      : {
          applicationId: submission.applicationId,
          main: submission.mainContainer,
          driverName: submission.driver.metadata.name,
        };
  const run = kept?.attempt === attempt ? kept : { attempt, ...made };
  return { settings, key, view, object, read, run, submission };
};

/** The kind Job as the command line and the page show it. */
import * as z from "zod";
import { isRecord } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { localQueueOf, waitingForKueue } from "../../kube/kueue.ts";
import { type Advice, adviceOf, endOf, type KindInspection, untilStarted } from "../../kube/object-state.ts";
import { keys } from "../schema/resource.ts";
import { jobStates } from "./states.ts";
import { phaseOf, specOf, statusOf } from "./view.ts";

/** True while Kueue has not admitted the job. */
const awaitsKueue = (job: Obj): boolean => statusOf(job).state.reason === waitingForKueue;

/** True of a job that fails when it is resumed: that spends its last retry. */
const isSpent = (job: Obj): boolean => {
  const free = job.metadata.annotations?.["rekindle.dev/resumes"] === "free";
  return !free && (statusOf(job).retryCount ?? 0) + 1 >= (specOf(job).maxRetry ?? 3);
};

const outlookOf = (job: Obj, phase: string): Advice => {
  const queue = awaitsKueue(job) ? localQueueOf(job) : undefined;
  if (queue !== undefined) return untilStarted(queue, job);
  const usual = adviceOf(jobStates, phase, "phase");
  if (phase !== "Aborted" || !isSpent(job)) return usual;
  const todo = `${usual.todo}; no retry is left for that: annotate it with rekindle.dev/resumes=free first`;
  return { ...usual, todo };
};

const jobMemory = z.looseObject({ phase: z.string(), version: z.number(), retryCount: z.number() });
const jobStatus = z.looseObject({ version: z.number().default(0), retryCount: z.number().default(0) });

/** Compares the phase, and the two counters by which upstream tells old pods from new and limits its retries. */
const isReported: NonNullable<KindInspection["isReported"]> = (memory, object) => {
  const known = jobMemory.safeParse(memory).data;
  if (known === undefined) return true;
  const shown = jobStatus.safeParse(object.status ?? {}).data;
  return (
    known.phase === (phaseOf(object) || "NEW") &&
    known.version === shown?.version &&
    known.retryCount === shown.retryCount
  );
};

export const jobInspection: KindInspection = {
  podLabels: (name) => ({ [keys.jobName]: name }),
  stateOf: (object) => {
    const { state, retryCount, conditions } = statusOf(object);
    const { phase = "", message } = state;
    return {
      state: phase === "" ? "NEW" : phase,
      attempts: (retryCount ?? 0) + 1,
      message: message === "" ? undefined : message,
      since:
        instantOf(conditions.find(({ status }) => status === phase)?.lastTransitionTime) ??
        instantOf(object.metadata.creationTimestamp),
      ended: endOf(jobStates, phase),
      what: outlookOf(object, phase),
    };
  },
  mainPod: (_, pods) => pods.map(({ metadata }) => metadata.name).toSorted()[0],
  wide: (object) => {
    const { pending = 0, running = 0, succeeded = 0, failed = 0 } = statusOf(object);
    return { PENDING: pending, RUNNING: running, SUCCEEDED: succeeded, FAILED: failed };
  },
  // A status leaves out counts that are 0; without one nothing is known.
  podCount: (object) => [
    isRecord(object.status) ? (statusOf(object).running ?? 0) : -1,
    specOf(object).tasks.reduce((sum, { replicas = 1 }) => sum + replicas, 0),
  ],
  kueue: { absence: "no Workload of it exists yet" },
  awaitsGroup: (object) => ["", "Pending"].includes(phaseOf(object)) && !awaitsKueue(object),
  isReported,
  suspends: false,
};

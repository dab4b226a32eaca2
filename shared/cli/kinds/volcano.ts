/**
 * Volcano's kinds on the command line: their resources, the fields of a job that it shows, jobs by their phases,
 * CronJobs and JobFlows.
 */
import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { localQueueOf, waitingForKueue } from "../../kube/kueue.ts";
import { type Advice, type Kind, type ObjectState, quiet, unseen, untilStarted } from "./kind.ts";

export const jobs: Resource = { group: "batch.volcano.sh", version: "v1alpha1", plural: "jobs", kind: "Job" };
export const commands: Resource = { group: "bus.volcano.sh", version: "v1alpha1", plural: "commands", kind: "Command" };

const flow = { group: "flow.volcano.sh", version: "v1alpha1" } as const;
export const jobFlows: Resource = { ...flow, plural: "jobflows", kind: "JobFlow" };
export const jobTemplates: Resource = { ...flow, plural: "jobtemplates", kind: "JobTemplate" };

const scheduling = { group: "scheduling.volcano.sh", version: "v1beta1" } as const;
export const queues: Resource = { ...scheduling, plural: "queues", kind: "Queue" };
export const podGroups: Resource = { ...scheduling, plural: "podgroups", kind: "PodGroup" };

/** Labels of a job's pods. */
export const keys = { taskSpec: "volcano.sh/task-spec", taskIndex: "volcano.sh/task-index" } as const;

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);

const task = z.object({
  name: text,
  replicas: number,
  minAvailable: number,
  template: z.object({ spec: z.unknown() }).optional().catch(undefined),
});

const spec = z.object({
  schedulerName: text,
  minAvailable: number,
  maxRetry: number,
  queue: text,
  tasks: z.array(task).catch([]),
  plugins: z.record(z.string(), z.array(z.string()).catch([])).catch({}),
});

const status = z.object({
  state: z.object({ phase: text, reason: text, message: text }).catch({ phase: undefined }),
  ...{ minAvailable: number, pending: number, running: number, succeeded: number, failed: number },
  ...{ terminating: number, unknown: number, version: number, retryCount: number },
  runningDuration: text,
  taskStatusCount: z.record(z.string(), z.object({ phase: z.record(z.string(), z.number()).catch({}) })).catch({}),
  controlledResources: z.record(z.string(), z.string()).catch({}),
  conditions: z.array(z.object({ status: z.string(), lastTransitionTime: z.string().optional() })).catch([]),
});

export type Spec = z.infer<typeof spec>;
export type Task = z.infer<typeof task>;
export type Status = z.infer<typeof status>;

/** Parses the spec. A field that does not parse is left out. */
export const specOf = (job: Obj): Spec => spec.parse(fieldsOf(job.spec));

export const statusOf = (job: Obj): Status => status.parse(fieldsOf(job.status));

export const phaseOf = (job: Obj): string => statusOf(job).state.phase ?? "";

/** phase → what it waits for, and what to do. */
const outlooks: Readonly<Record<string, Advice>> = {
  "": unseen,
  Pending: { waitsFor: "its group to be admitted, and its pods to start", todo: quiet },
  Running: { waitsFor: "its pods to finish", todo: quiet },
  Restarting: { waitsFor: "its pods to end, before it starts again", todo: quiet },
  Aborting: { waitsFor: "its pods to end", todo: quiet },
  Aborted: { waitsFor: "a user to resume it", todo: "rekindle job resume it when it is to go on" },
  Completing: { waitsFor: "its pods to end", todo: quiet },
  Terminating: { waitsFor: "its pods to end", todo: quiet },
  Completed: { waitsFor: "nothing: it has completed", todo: "nothing; delete it and create it again to run it again" },
  Terminated: { waitsFor: "nothing: it was terminated", todo: "delete it and create it again to run it again" },
  Failed: { waitsFor: "nothing: it has failed", todo: "fix the cause, delete it and create it again" },
};

const ends: Readonly<Record<string, ObjectState["ended"]>> = {
  Completed: "well",
  Terminated: "badly",
  Failed: "badly",
  Succeed: "well",
};

const since = (object: Obj, time: string | null | undefined): number | undefined =>
  instantOf(time) ?? instantOf(object.metadata.creationTimestamp);

const unknown = (state: string): Advice => ({ waitsFor: `the end of phase ${state}`, todo: quiet });

/** True while Kueue has not admitted the job. */
const awaitsKueue = (job: Obj): boolean => statusOf(job).state.reason === waitingForKueue;

const outlookOf = (job: Obj, phase: string): Advice => {
  const queue = awaitsKueue(job) ? localQueueOf(job) : undefined;
  return queue === undefined ? (outlooks[phase] ?? unknown(phase)) : untilStarted(queue, job);
};

export const volcanoJob: Kind = {
  resource: jobs,
  shortNames: ["vcjob", "vj"],
  podLabels: (name) => ({ "volcano.sh/job-name": name }),
  stateOf: (object) => {
    const { state, retryCount, conditions } = statusOf(object);
    const { phase = "", message } = state;
    return {
      state: phase === "" ? "NEW" : phase,
      attempts: (retryCount ?? 0) + 1,
      message: message === "" ? undefined : message,
      since: since(object, conditions.find(({ status }) => status === phase)?.lastTransitionTime),
      ended: ends[phase],
      what: outlookOf(object, phase),
    };
  },
  mainPod: (_, pods) => pods.map(({ metadata }) => metadata.name).toSorted()[0],
  wide: (object) => {
    const { pending = 0, running = 0, succeeded = 0, failed = 0 } = statusOf(object);
    return { PENDING: pending, RUNNING: running, SUCCEEDED: succeeded, FAILED: failed };
  },
  awaitsGroup: (object) => ["", "Pending"].includes(phaseOf(object)) && !awaitsKueue(object),
  suspends: false,
};

const cronShape = z.object({
  spec: z.object({ schedule: z.string().catch(""), suspend: z.boolean().optional().catch(undefined) }),
  status: z
    .object({
      active: z.array(z.object({ name: z.string() })).catch([]),
      lastScheduleTime: z.string().nullish(),
      lastSuccessfulTime: z.string().nullish(),
    })
    .catch({ active: [] }),
});

type Cron = z.infer<typeof cronShape>;

const cronOf = (object: Obj): Cron =>
  cronShape.safeParse(object).data ?? { spec: { schedule: "" }, status: { active: [] } };

const cronOutlook = ({ spec, status }: Cron): Advice => {
  if (spec.suspend === true)
    return { waitsFor: "spec.suspend to become false", todo: "rekindle resume it when it is to run again" };
  const [running] = status.active;
  return { waitsFor: running === undefined ? "its next time" : `${running.name} and its next time`, todo: quiet };
};

export const volcanoCronJob: Kind = {
  resource: { group: "batch.volcano.sh", version: "v1alpha1", plural: "cronjobs", kind: "CronJob" },
  shortNames: ["cronvcjob", "cronvj"],
  // Pods are known by their jobs, whose names are made of times.
  podLabels: (name) => ({ "volcano.sh/cronjob": name }),
  stateOf: (object) => {
    const cron = cronOf(object);
    const going = cron.status.active.length > 0 ? "Active" : "Scheduled";
    return {
      state: cron.spec.suspend === true ? "Suspended" : going,
      attempts: undefined,
      message: undefined,
      since: since(object, cron.status.lastScheduleTime),
      ended: undefined,
      what: cronOutlook(cron),
    };
  },
  mainPod: () => undefined,
  wide: (object) => {
    const { spec, status } = cronOf(object);
    return {
      SCHEDULE: spec.schedule,
      SUSPEND: `${spec.suspend ?? ""}`,
      ACTIVE: status.active.length,
      "LAST SCHEDULE": status.lastScheduleTime ?? "",
      "LAST SUCCESS": status.lastSuccessfulTime ?? "",
    };
  },
  suspends: true,
};

const names = z.array(z.string()).catch([]);

const flowShape = z.object({
  state: z.object({ phase: z.string().catch("") }).catch({ phase: "" }),
  ...{ pendingJobs: names, runningJobs: names, completedJobs: names, failedJobs: names },
});

const flowOf = (object: Obj): z.infer<typeof flowShape> => flowShape.parse(fieldsOf(object.status));

const flowOutlooks: Readonly<Record<string, Advice>> = {
  "": unseen,
  Pending: { waitsFor: "its first jobs to run", todo: quiet },
  Running: { waitsFor: "its jobs to finish", todo: quiet },
  Succeed: {
    waitsFor: "nothing: all of its jobs have completed",
    todo: "nothing; delete it and create it again to run it again",
  },
  Failed: {
    waitsFor: "nothing: it has failed",
    todo: "see why with rekindle status of the job; fix it, delete the flow and create it again",
  },
};

export const volcanoJobFlow: Kind = {
  resource: jobFlows,
  shortNames: ["jf"],
  // Pods are known by their jobs.
  podLabels: (name) => ({ "volcano.sh/createdByJobFlow": name }),
  stateOf: (object) => {
    const { state, failedJobs } = flowOf(object);
    const { phase } = state;
    const failed = phase === "Failed" && failedJobs.length > 0 ? failedJobs.join(", ") : undefined;
    return {
      state: phase === "" ? "NEW" : phase,
      attempts: undefined,
      message: failed && `${failedJobs.length === 1 ? "job" : "jobs"} ${failed} failed`,
      since: since(object, undefined),
      ended: ends[phase],
      what: flowOutlooks[phase] ?? unknown(phase),
    };
  },
  mainPod: () => undefined,
  wide: (object) => {
    const { pendingJobs, runningJobs, completedJobs, failedJobs } = flowOf(object);
    return {
      PENDING: pendingJobs.join(","),
      RUNNING: runningJobs.join(","),
      COMPLETED: completedJobs.join(","),
      FAILED: failedJobs.join(","),
    };
  },
  suspends: false,
};

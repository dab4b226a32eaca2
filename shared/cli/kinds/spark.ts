/**
 * The Spark family on the command line: SparkApplication with its states in words, each with the advice for the user;
 * ScheduledSparkApplication: when it ran, when it runs next; SparkConnect: a server that is ready, or not.
 */
import * as z from "zod";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import { type Advice, type Kind, type ObjectState, quiet, unseen, untilStarted } from "./kind.ts";

const status = z.object({
  applicationState: z.object({ state: z.string().optional(), errorMessage: z.string().optional() }).optional(),
  executionAttempts: z.number().optional(),
  submissionAttempts: z.number().optional(),
  lastSubmissionAttemptTime: z.string().nullish(),
  terminationTime: z.string().nullish(),
  driverInfo: z.object({ podName: z.string().optional() }).optional(),
});

type Status = z.infer<typeof status>;

const statusOf = (object: Obj): Status => {
  const parsed = status.safeParse(object.status ?? {});
  return parsed.success ? parsed.data : {};
};

/** state → what it waits for, and what to do. */
const outlooks: Readonly<Record<string, Advice>> = {
  "": unseen,
  SUBMITTED: { waitsFor: "the driver to start", todo: quiet },
  RUNNING: { waitsFor: "the driver to finish", todo: quiet },
  SUCCEEDING: { waitsFor: "its success to be recorded", todo: quiet },
  COMPLETED: { waitsFor: "nothing: it has completed", todo: "nothing; apply it with a changed spec to run it again" },
  SUBMISSION_FAILED: { waitsFor: "its next submission", todo: "correct what the message names; the next try uses it" },
  FAILING: { waitsFor: "its next attempt, or the decision that there is none", todo: quiet },
  FAILED: { waitsFor: "nothing: it has failed", todo: "fix the cause and apply it with a changed spec" },
  PENDING_RERUN: { waitsFor: "the remaining objects of the last run to end", todo: quiet },
  INVALIDATING: { waitsFor: "the run of the old spec to end", todo: quiet },
  SUSPENDING: { waitsFor: "its pods to end", todo: quiet },
  SUSPENDED: { waitsFor: "spec.suspend to become false", todo: "set spec.suspend to false when it is to run" },
  RESUMING: { waitsFor: "its driver to be submitted", todo: quiet },
  UNKNOWN: {
    waitsFor: "the state of its driver to become known",
    todo: "check the node of the driver pod: kubectl get nodes",
  },
};

const ends: Readonly<Record<string, ObjectState["ended"]>> = { COMPLETED: "well", FAILED: "badly" };

/** The outlook of a suspended application that Kueue starts. */
const admissionOf = (state: string, object: Obj): Advice | undefined => {
  const queue = localQueueOf(object);
  return state !== "SUSPENDED" || queue === undefined ? undefined : untilStarted(queue, object);
};

const standingOf = (object: Obj): ObjectState => {
  const { applicationState, executionAttempts, lastSubmissionAttemptTime, terminationTime } = statusOf(object);
  const state = applicationState?.state ?? "";
  const message = applicationState?.errorMessage;
  return {
    state: state === "" ? "NEW" : state,
    attempts: executionAttempts,
    message: message === "" ? undefined : message,
    since:
      instantOf(terminationTime) ??
      instantOf(lastSubmissionAttemptTime) ??
      instantOf(object.metadata.creationTimestamp),
    ended: ends[state],
    what: admissionOf(state, object) ?? outlooks[state] ?? { waitsFor: `the end of state ${state}`, todo: quiet },
  };
};

const suspended = z.object({ suspend: z.boolean().optional() });

/** As upstream's printer columns. */
const wide: Kind["wide"] = (object) => {
  const { lastSubmissionAttemptTime, terminationTime, driverInfo } = statusOf(object);
  const spec = suspended.safeParse(object.spec);
  return {
    SUSPEND: spec.success ? String(spec.data.suspend ?? "") : "",
    DRIVER: driverInfo?.podName ?? "",
    START: lastSubmissionAttemptTime ?? "",
    FINISH: terminationTime ?? "",
  };
};

const isDriver = (pod: Obj): boolean => pod.metadata.labels?.["spark-role"] === "driver";

const executorSpec = z.object({
  executor: z.object({ instances: z.number().optional() }).optional(),
  dynamicAllocation: z.object({ enabled: z.boolean().optional() }).optional(),
  sparkConf: z.record(z.string(), z.string()).default({}),
});

/** The number of executors that a spec asks for; undefined where the driver's demand decides. */
const wantedExecutors = (spec: unknown): number | undefined => {
  const { data } = executorSpec.safeParse(spec);
  if (data === undefined) return undefined;
  const { executor, dynamicAllocation, sparkConf } = data;
  const byConfs = sparkConf["spark.dynamicAllocation.enabled"]?.trim().toLowerCase() === "true";
  if (dynamicAllocation?.enabled === true || byConfs) return undefined;
  const byConf = Number(sparkConf["spark.executor.instances"]);
  return executor?.instances ?? (Number.isInteger(byConf) ? byConf : 1);
};

/** Counts the executors of a driver or server that runs, by their pods. */
const executorCount: NonNullable<Kind["executors"]> = (object, pods) => {
  const own = pods.filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");
  const running = own.filter((pod) => podStatus(pod).phase === "Running" && !isEnding(pod)).length;
  return { running, wanted: wantedExecutors(object.spec) };
};

export const sparkApplication: Kind = {
  resource: {
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    plural: "sparkapplications",
    kind: "SparkApplication",
  },
  shortNames: ["sparkapp"],
  podLabels: (name) => ({ "sparkoperator.k8s.io/app-name": name }),
  stateOf: standingOf,
  mainPod: (object, pods) => {
    const recorded = statusOf(object).driverInfo?.podName;
    const names = pods.filter(isDriver).map((pod) => pod.metadata.name);
    return names.find((name) => name === recorded) ?? names.at(-1);
  },
  wide,
  executors: (object, pods) =>
    statusOf(object).applicationState?.state === "RUNNING" && pods.some(isDriver)
      ? executorCount(object, pods)
      : undefined,
  suspends: true,
  awaitsGroup: (object) => ["", "PENDING_RERUN", "RESUMING"].includes(statusOf(object).applicationState?.state ?? ""),
};

const scheduleShape = z.object({
  spec: z.object({ schedule: z.string(), timeZone: z.string().optional(), suspend: z.boolean().optional() }),
  status: z
    .object({
      scheduleState: z.string().optional(),
      reason: z.string().optional(),
      lastRun: z.string().nullish(),
      nextRun: z.string().nullish(),
      lastRunName: z.string().optional(),
    })
    .default({}),
});

const label = "sparkoperator.k8s.io/scheduled-app-name";

const outlookOf = (state: string, next: string | undefined, isSuspended: boolean): Advice => {
  if (isSuspended)
    return { waitsFor: "spec.suspend to become false", todo: "rekindle resume it when it is to run again" };
  if (state === "") return unseen;
  if (state === "FailedValidation")
    return { waitsFor: "its spec to be corrected", todo: "correct what the message names" };
  return { waitsFor: next === undefined ? "its next run" : `its next run at ${next}`, todo: quiet };
};

export const scheduledSparkApplication: Kind = {
  resource: {
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    plural: "scheduledsparkapplications",
    kind: "ScheduledSparkApplication",
  },
  shortNames: ["scheduledsparkapp"],
  podLabels: (name) => ({ [label]: name }),
  stateOf: (object) => {
    const parsed = scheduleShape.safeParse(object);
    const status = parsed.success ? parsed.data.status : {};
    const state = status.scheduleState ?? "";
    const isSuspended = parsed.success && parsed.data.spec.suspend === true;
    return {
      state: state === "" ? "NEW" : state,
      attempts: undefined,
      message: status.reason === "" ? undefined : status.reason,
      since: instantOf(status.lastRun) ?? instantOf(object.metadata.creationTimestamp),
      ended: undefined,
      what: outlookOf(state, status.nextRun ?? undefined, isSuspended),
    };
  },
  mainPod: (_, pods) =>
    pods
      .filter(isDriver)
      .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""))
      .at(-1)?.metadata.name,
  wide: (object) => {
    const parsed = scheduleShape.safeParse(object);
    if (!parsed.success) return {};
    const { spec, status } = parsed.data;
    return {
      SCHEDULE: spec.schedule,
      SUSPEND: String(spec.suspend ?? ""),
      "LAST RUN": status.lastRun ?? "",
      "LAST RUN NAME": status.lastRunName ?? "",
      "NEXT RUN": status.nextRun ?? "",
    };
  },
  suspends: true,
};

const connectShape = z.object({
  state: z.string().optional(),
  startTime: z.string().nullish(),
  lastUpdateTime: z.string().nullish(),
  server: z.object({ podName: z.string().optional(), serviceName: z.string().optional() }).optional(),
  conditions: z.array(z.object({ status: z.string(), message: z.string().optional() })).optional(),
});

const connectOutlooks: Readonly<Record<string, Advice>> = {
  "": unseen,
  Provisioning: { waitsFor: "its server to start", todo: quiet },
  Ready: { waitsFor: "clients", todo: "nothing: connect to the service on port 15002" },
  NotReady: { waitsFor: "its server to answer", todo: "correct what the message names" },
  Failed: { waitsFor: "its spec to be corrected", todo: "correct what the message names" },
};

const connectStatusOf = (object: { readonly [field: string]: unknown }): z.infer<typeof connectShape> => {
  const parsed = connectShape.safeParse(object["status"] ?? {});
  return parsed.success ? parsed.data : {};
};

/** The outlook of a state. The log of a server tells more than a message that says no more than the state. */
const connectOutlookOf = ({ metadata }: Obj, state: string, message = ""): Advice => {
  const known = connectOutlooks[state] ?? { waitsFor: `the end of state ${state}`, todo: quiet };
  if (state !== "NotReady" || !message.startsWith("Server pod is not ready")) return known;
  const { namespace = "default", name } = metadata;
  return { ...known, todo: `see what the server's log says: rekindle log sparkconnect/${namespace}/${name}` };
};

export const sparkConnect: Kind = {
  resource: { group: "sparkoperator.k8s.io", version: "v1alpha1", plural: "sparkconnects", kind: "SparkConnect" },
  shortNames: ["sparkconn"],
  podLabels: (name) => ({ "sparkoperator.k8s.io/connect-name": name }),
  stateOf: (object) => {
    const { state = "", startTime, lastUpdateTime, conditions = [] } = connectStatusOf(object);
    // Upstream's text ends with a colon where the pod's status has no message.
    const message = conditions.find(({ status }) => status !== "True")?.message?.replace(/:\s*$/, "");
    return {
      state: state === "" ? "NEW" : state,
      attempts: undefined,
      message,
      since: instantOf(lastUpdateTime) ?? instantOf(startTime) ?? instantOf(object.metadata.creationTimestamp),
      ended: undefined,
      what: connectOutlookOf(object, state, message),
    };
  },
  mainPod: (object, pods) => {
    const names = pods.map(({ metadata }) => metadata.name);
    return names.find((name) => name === (connectStatusOf(object).server?.podName ?? `${object.metadata.name}-server`));
  },
  wide: (object) => {
    const { server } = connectStatusOf(object);
    return { SERVER: server?.podName ?? "", SERVICE: server?.serviceName ?? "" };
  },
  executors: (object, pods) => (connectStatusOf(object).state === "Ready" ? executorCount(object, pods) : undefined),
  suspends: false,
};

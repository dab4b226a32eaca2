/**
 * The next action of kubeflow's operator on an application: its reconcile functions as rules over status and pods,
 * written from its documented behaviour, with no code in common with Rekindle's.
 */
import * as z from "zod";
import type { Stored } from "../../../../shared/core/object.ts";

const time = z
  .string()
  .nullish()
  .transform((text) => (text === null || text === undefined ? undefined : Date.parse(text)));

/** A status as upstream's typed client reads it: absent fields are zero. The CRD requires `driverInfo`. */
const statusShape = z.looseObject({
  applicationState: z.looseObject({ state: z.string(), errorMessage: z.string().optional() }),
  driverInfo: z.looseObject({ podName: z.string().default("") }),
  submissionID: z.string().default(""),
  submissionAttempts: z.int().default(0),
  executionAttempts: z.int().default(0),
  lastSubmissionAttemptTime: time,
  terminationTime: time,
  executorState: z.record(z.string(), z.enum(["PENDING", "RUNNING", "COMPLETED", "FAILED", "UNKNOWN"])).optional(),
});

const specShape = z.looseObject({
  suspend: z.boolean().default(false),
  timeToLiveSeconds: z.number().optional(),
  driver: z.looseObject({ podName: z.string().optional() }),
  restartPolicy: z
    .looseObject({
      type: z.enum(["Never", "OnFailure", "Always"]).default("Never"),
      onFailureRetries: z.int().optional(),
      onFailureRetryInterval: z.int().optional(),
      onSubmissionFailureRetries: z.int().optional(),
      onSubmissionFailureRetryInterval: z.int().optional(),
    })
    .default({ type: "Never" }),
});

const podShape = z.looseObject({
  phase: z.string(),
  containerStatuses: z
    .array(
      z.looseObject({
        name: z.string(),
        state: z.looseObject({ terminated: z.looseObject({ exitCode: z.number() }).optional() }).optional(),
      }),
    )
    .default([]),
});

type Found = {
  readonly name: string;
  readonly spec: z.infer<typeof specShape>;
  readonly status: z.infer<typeof statusShape>;
  readonly pods: readonly Stored[];
  readonly now: number;
};

/** Finds the driver pod by the name in the status, else by the name that a submission gives it. */
const driverOf = ({ status, spec, pods, name }: Found): Stored | undefined => {
  const podName = status.driverInfo.podName || spec.driver.podName || `${name}-driver`;
  return pods.find(({ metadata }) => metadata.name === podName);
};

const driverState = (pod: Stored): string => {
  const { phase, containerStatuses } = podShape.parse(pod["status"]);
  const exit = containerStatuses.find(({ name }) => name === "spark-kubernetes-driver")?.state?.terminated?.exitCode;
  if (phase === "Pending") return "SUBMITTED";
  if (phase === "Running") return exit === undefined ? "RUNNING" : exit === 0 ? "SUCCEEDING" : "FAILING";
  if (phase === "Succeeded" || (phase === "Failed" && exit === 0)) return "SUCCEEDING";
  return phase === "Failed" ? "FAILING" : "UNKNOWN";
};

const graceMs = 10_000;

const followed = (found: Found): string => {
  const { status, now } = found;
  if (status.driverInfo.podName === "") return "error: empty driver pod name";
  const pod = driverOf(found);
  if (pod !== undefined) return `follow: ${driverState(pod)}`;
  const young =
    status.applicationState.state === "SUBMITTED" && now - (status.lastSubmissionAttemptTime ?? 0) <= graceMs;
  return young ? "error: driver pod not found, inside the grace period" : "follow: FAILING";
};

/** A submission under a name that exists fails, and a submission beside a driver must never happen. */
const submitted = (found: Found): string => (driverOf(found) === undefined ? "submit" : "submit onto a driver");

/** Returns when the next attempt is due, epoch ms: intervals grow with the attempts, from the start of the last one. */
const due = ({ status }: Found, interval: number | undefined): number | undefined => {
  const { lastSubmissionAttemptTime: from, submissionAttempts } = status;
  if (interval === undefined || from === undefined || submissionAttempts <= 0) return undefined;
  return from + interval * 1_000 * submissionAttempts;
};

type Retry = { readonly retries: number | undefined; readonly interval: number | undefined; readonly done: number };

const retried = (found: Found, { retries, interval, done }: Retry, go: (found: Found) => string): string => {
  const { type } = found.spec.restartPolicy;
  const again = type === "Always" || (type === "OnFailure" && retries !== undefined && done <= retries);
  if (!again) return "move: FAILED";
  const at = due(found, interval);
  if (at === undefined) return "error: invalid retry interval, last attempt time or attempts";
  return at <= found.now ? go(found) : `wait until ${new Date(at).toISOString()}`;
};

const afterFailure = (found: Found): string => {
  const { onFailureRetries: retries, onFailureRetryInterval: interval } = found.spec.restartPolicy;
  const retry = { retries, interval, done: found.status.executionAttempts };
  return retried(found, retry, () => "end the driver, then move: PENDING_RERUN");
};

const afterRefusal = (found: Found): string => {
  const { onSubmissionFailureRetries: retries, onSubmissionFailureRetryInterval: interval } = found.spec.restartPolicy;
  const retry = { retries, interval, done: found.status.submissionAttempts };
  return retried(found, retry, (now) => (driverOf(now) === undefined ? submitted(now) : "end the driver, then again"));
};

const rested = ({ spec, status, now }: Found): string => {
  const { timeToLiveSeconds: ttl } = spec;
  if (ttl === undefined || status.terminationTime === undefined) return "rest";
  const at = status.terminationTime + ttl * 1_000;
  return at < now ? "delete the application" : `delete the application at ${new Date(at).toISOString()}`;
};

const rules: Readonly<Record<string, (found: Found) => string>> = {
  "": submitted,
  SUBMITTED: followed,
  RUNNING: followed,
  UNKNOWN: followed,
  SUBMISSION_FAILED: afterRefusal,
  FAILING: afterFailure,
  SUCCEEDING: ({ spec }) =>
    spec.restartPolicy.type === "Always" ? "end the driver, then move: PENDING_RERUN" : "move: COMPLETED",
  // Upstream sets no timer: the end of the pod brings the key back.
  PENDING_RERUN: (found) => {
    const driver = driverOf(found);
    if (driver === undefined) return submitted(found);
    return driver.metadata.deletionTimestamp === undefined
      ? "stuck: nobody ends the driver"
      : "wait for the driver's end";
  },
  INVALIDATING: () => "end the driver, then move: PENDING_RERUN, counters at zero",
  SUSPENDING: () => "end the driver, then move: SUSPENDED",
  SUSPENDED: (found) => (driverOf(found) === undefined && !found.spec.suspend ? "move: RESUMING" : "rest"),
  RESUMING: submitted,
  COMPLETED: rested,
  FAILED: rested,
};

const unsuspendable: ReadonlySet<string> = new Set(["COMPLETED", "FAILED", "SUSPENDING", "SUSPENDED"]);

/** Returns upstream's next action as a text. Throws if its typed client could not read the object. */
export const upstreamDoes = (object: Stored, pods: readonly Stored[], now: number): string => {
  const none = { applicationState: { state: "" }, driverInfo: {} };
  const spec = specShape.parse(object["spec"]);
  const status = statusShape.parse(object["status"] ?? none);
  const { state } = status.applicationState;
  if (spec.suspend && !unsuspendable.has(state)) return "move: SUSPENDING";
  const rule = rules[state];
  return rule === undefined
    ? `nothing: it knows no state ${state}`
    : rule({ ...{ spec, status, pods, now }, name: object.metadata.name });
};

/** Lists the executors of the run as upstream finds them, by three labels. */
export const upstreamExecutors = (object: Stored, pods: readonly Stored[]): readonly string[] => {
  const { submissionID } = statusShape.parse(object["status"]);
  const labels = {
    "sparkoperator.k8s.io/app-name": object.metadata.name,
    "spark-role": "executor",
    ...(submissionID === "" ? {} : { "sparkoperator.k8s.io/submission-id": submissionID }),
  };
  const wanted = Object.entries(labels);
  return pods
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value))
    .map(({ metadata }) => metadata.name);
};

/** Tells whether upstream's watch delivers the events of a pod and its filter keeps them as its own submission's. */
export const upstreamHears = (object: Stored, { metadata: { labels = {} } }: Stored): boolean =>
  labels["sparkoperator.k8s.io/launched-by-spark-operator"] === "true" &&
  labels["sparkoperator.k8s.io/app-name"] === object.metadata.name &&
  labels["sparkoperator.k8s.io/submission-id"] === statusShape.parse(object["status"]).submissionID;

/** A failed run: its counts and the time of the next run; and runs that take too long to come up. */
import { spanText } from "../../../core/annotation.ts";
import type { Stored } from "../../../core/object.ts";
import { instantOf } from "../../../core/time.ts";
import { podStatus, waitingReason } from "../../../kube/pods.ts";
import { isDynamic } from "../../schema/rules.ts";
import { delayOf, type Pods, spendsRetry } from "../state/evidence.ts";
import type { Cause, Driver, Memory } from "../state/memory.ts";
import { shownExecutors } from "../state/status.ts";
import { type ApplicationContext, policyOf } from "./context.ts";
import { nextRun } from "./retry.ts";

export type End = {
  readonly endedAt: number;
  readonly error: string;
  readonly cause: Cause;
  /** The run is restarted whatever its policy says, and spends no retry. */
  readonly forgiven?: boolean;
};

/** The memory of a failed run, with the time of the next run if there is one. */
export const failed = (context: ApplicationContext, driver: Driver, end: End): Memory => {
  const { endedAt, error, cause } = end;
  const { memory, policies } = context;
  const good = endedAt - driver.submittedAt >= policies.goodRunMs;
  const failures = good ? 1 : (memory.failures ?? 0) + 1;
  const free = end.forgiven === true || (policies.restartOn === "infrastructure" && !spendsRetry[cause]);
  const forgiven = (memory.forgiven ?? 0) + (free ? 1 : 0);
  const counters = { submissions: memory.submissions, executions: memory.executions, submittedAt: driver.submittedAt };
  const retryAt = nextRun(policyOf(context), policies, { ...counters, endedAt, failures, forgiven, free });
  return {
    ...memory,
    driver,
    failures,
    ...(forgiven === 0 ? {} : { forgiven }),
    state: { phase: "FAILING", endedAt, error, cause, ...(retryAt === undefined ? {} : { retryAt }) },
  };
};

/** A run that is too late, or its deadline, epoch ms. */
export type Lateness =
  | { readonly is: "late"; readonly end: End }
  | { readonly is: "waiting"; readonly until: number }
  | undefined;

const reasonOf = (pod: Stored | undefined): string => {
  const why = pod === undefined ? undefined : waitingReason(podStatus(pod));
  return why === undefined ? "" : `: ${why}`;
};

/** `rekindle.dev/driver-start-timeout`: counts from the creation of the pod, which may be long after its plan. */
export const driverLateness = (
  { policies, view }: ApplicationContext,
  driver: Driver,
  pod: Stored | undefined,
): Lateness => {
  const { driverStartMs } = policies;
  if (driverStartMs === undefined) return undefined;
  const until = (instantOf(pod?.metadata.creationTimestamp) ?? driver.submittedAt) + driverStartMs;
  if (view.now < until) return { is: "waiting", until };
  const error = `driver did not start within ${spanText(driverStartMs)}${reasonOf(pod)}`;
  return { is: "late", end: { endedAt: view.now, error, cause: delayOf(pod, "driverStart") } };
};

const isUp = (pod: Stored): boolean => podStatus(pod).phase !== "Pending";

/** True when the run has or asks for executors; under dynamic allocation none may be asked for. */
const expectsExecutors = ({ read }: ApplicationContext, found: Pods): boolean =>
  found.executors.length > 0 || (read.ok && !isDynamic(read.spec));

/** `rekindle.dev/executor-start-timeout`: counted from the driver's start, until the first executor runs. */
export const executorLateness = (context: ApplicationContext, driver: Driver, found: Pods, pod: Stored): Lateness => {
  const { policies, view, object } = context;
  const { executorStartMs } = policies;
  if (executorStartMs === undefined || !expectsExecutors(context, found)) return undefined;
  const known = Object.values(shownExecutors(object, driver)).some((state) => state !== "PENDING");
  if (known || found.executors.some(isUp)) return undefined;
  const until = (instantOf(podStatus(pod).startTime) ?? driver.submittedAt) + executorStartMs;
  if (view.now < until) return { is: "waiting", until };
  const [first] = found.executors;
  const error = `no executor started within ${spanText(executorStartMs)}${reasonOf(first)}`;
  return { is: "late", end: { endedAt: view.now, error, cause: delayOf(first, "executorStart") } };
};

/**
 * What an application may ask for by annotation, beyond upstream: every timeout and policy once, with its default and its
 * range. Parsing, messages and the command line follow from these tables.
 */
import { type Choice, type Count, type Span, spanUnits } from "../../core/annotation.ts";
import { mostInBatch } from "../executors/allocation-rate.ts";
import { owners } from "../executors/owner.ts";

const { second, minute, hour } = spanUnits;

export const spans = {
  driverStartMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-start-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning: "a driver that is not running so long after its pod was made is ended, and its run has failed",
  },
  executorStartMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-start-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning: "a run of which no executor is running so long after its driver's start has failed",
  },
  backoffMaxMs: {
    form: "duration",
    annotation: "rekindle.dev/retry-backoff-max",
    default: 5 * minute,
    least: second,
    most: 24 * hour,
    meaning: "the longest wait before a retry, when it grows exponentially",
  },
  goodRunMs: {
    form: "duration",
    annotation: "rekindle.dev/retry-reset-after",
    default: 10 * minute,
    least: second,
    most: 168 * hour,
    meaning: "a run that lasted so long is a good one: the next wait is the first again",
  },
  returnMs: {
    form: "duration",
    annotation: "rekindle.dev/reregistration-timeout",
    otherwise: "the host's",
    least: second,
    most: 10 * minute,
    meaning: "after a recovery, what is missing may take so long to come back before it counts as lost",
  },
  executorIntervalMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-interval",
    least: second,
    most: hour,
    meaning:
      "own: the time in which no more than a batch of executors is made; unset, spark.kubernetes.allocation.batch.delay, else 1s",
  },
  registrationMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-registration-timeout",
    default: 5 * minute,
    least: 30 * second,
    most: 24 * hour,
    meaning:
      "an executor that runs and that the driver does not know after so long is made anew; own: one that waits for longer no longer holds up others",
  },
  pendingMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-pending-timeout",
    default: 5 * minute,
    least: 5 * second,
    most: 24 * hour,
    meaning:
      "an executor that does not come up (no node, image, volume, config) is deleted after so long, and made anew; doubling while it goes on",
  },
  pendingMaxMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-pending-timeout-max",
    default: hour,
    least: 5 * second,
    most: 168 * hour,
    meaning: "the longest that an executor is waited for to come up, when that has doubled",
  },
  nodeGraceMs: {
    form: "duration",
    annotation: "rekindle.dev/node-grace",
    default: 10 * second,
    least: second,
    most: hour,
    meaning: "an executor on a node that does not answer (NotReady) is given up after so long, and made anew elsewhere",
  },
  driverNodeMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-node-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning:
      "a driver on a node that has not answered (NotReady) for so long is given up, and its run has failed; off: it may still be writing, so it is waited for until the node answers or is gone",
  },
  goneMs: {
    form: "duration",
    annotation: "rekindle.dev/executors-gone-timeout",
    default: minute,
    least: 5 * second,
    most: 24 * hour,
    meaning: "a run that has had no executor left for so long is told of: ExecutorsGone",
  },
  silenceMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-silence-timeout",
    default: 5 * minute,
    least: 10 * second,
    most: 24 * hour,
    meaning: "a driver whose REST API answered before and does not for so long is told of: DriverSilent",
  },
  stallMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-stall-timeout",
    default: 30 * minute,
    least: 20 * second,
    most: 168 * hour,
    meaning: "a driver that has tasks running and sees none end for so long is told of: DriverStalled",
  },
  retentionMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-retention",
    default: 24 * hour,
    least: second,
    most: 720 * hour,
    meaning: "the pods of executors that failed by the application's own doing are kept for so long, ten at most",
  },
} as const satisfies Readonly<Record<string, Span>>;

export const counts = {
  executorBatch: {
    form: "count",
    annotation: "rekindle.dev/executor-batch",
    least: 1,
    most: mostInBatch,
    meaning: "own: executors made in one interval; unset, spark.kubernetes.allocation.batch.size, else 500",
  },
  executorMaxPending: {
    form: "count",
    annotation: "rekindle.dev/executor-max-pending",
    least: 1,
    most: 100_000,
    meaning:
      "own: young executors that may wait for a place; unset, spark.kubernetes.allocation.maxPendingPods, else no limit",
  },
} as const satisfies Readonly<Record<string, Count>>;

export const choices = {
  executors: {
    form: "choice",
    annotation: "rekindle.dev/executors",
    words: owners,
    meaning: "own: Rekindle is the allocator of executors, from the next run on; assist: the driver's own is",
  },
  executorScaleDown: {
    form: "choice",
    annotation: "rekindle.dev/executor-scale-down",
    words: ["idle", "force"],
    meaning: "own: when fewer executors are wanted, only idle ones go, or busy ones too",
  },
  onExecutorsGone: {
    form: "choice",
    annotation: "rekindle.dev/on-executors-gone",
    words: ["tell", "fail", "restart"],
    meaning:
      "what ExecutorsGone leads to besides: the run fails, and its restart policy decides; or it is run again whatever that says",
  },
  onDriverHang: {
    form: "choice",
    annotation: "rekindle.dev/on-driver-hang",
    words: ["tell", "fail", "restart"],
    meaning: "what DriverSilent and DriverStalled lead to besides, as above",
  },
  unreachableExecutors: {
    form: "choice",
    annotation: "rekindle.dev/unreachable-executors",
    words: ["free", "wait"],
    meaning:
      "executors on a node that does not answer are given up, but for those with claims; or all wait until the node is certainly gone",
  },
  backoff: {
    form: "choice",
    annotation: "rekindle.dev/retry-backoff",
    words: ["linear", "exponential"],
    meaning:
      "how the wait before a retry grows: as upstream's, from the start of the failed run; or doubling from its end",
  },
  restartOn: {
    form: "choice",
    annotation: "rekindle.dev/restart-on",
    words: ["policy", "infrastructure"],
    meaning:
      "infrastructure: preemption, eviction, a lost node or driver, an image that cannot be pulled spend no retry",
  },
} as const satisfies Readonly<Record<string, Choice>>;

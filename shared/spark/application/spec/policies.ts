/**
 * The annotations of an application beyond upstream's fields: every timeout and policy once, with its default and its
 * range; parsing, messages and the command line follow from these tables. The policies of an application are read with
 * them.
 */
import {
  type Choice,
  type Count,
  type Grammar,
  type Line,
  lineOf,
  problemOf,
  type Row,
  reader,
  type Span,
  spanUnits,
} from "../../../core/annotation.ts";
import type { StoredMetadata } from "../../../core/object.ts";
import { hasUserPart, isListener, listenerAnnotation, listenerForms, userPartSaying } from "../../../core/updates.ts";
import { mostInBatch } from "../../executors/allocation.ts";
import { type OverheadGrowth, overheadGrowthIn } from "../../executors/overhead.ts";
import { owners } from "../../executors/owner.ts";
import { pendingAnnotation } from "../../executors/repair.ts";

const { second, minute, hour } = spanUnits;

export const spans = {
  driverStartMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-start-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning: "a driver that is not running this long after its pod was created is deleted, and its run fails",
  },
  executorStartMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-start-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning: "a run without a running executor this long after its driver started fails",
  },
  backoffMaxMs: {
    form: "duration",
    annotation: "rekindle.dev/retry-backoff-max",
    default: 5 * minute,
    least: second,
    most: 24 * hour,
    meaning: "the longest wait before a retry when the wait grows exponentially",
  },
  goodRunMs: {
    form: "duration",
    annotation: "rekindle.dev/retry-reset-after",
    default: 10 * minute,
    least: second,
    most: 168 * hour,
    meaning: "after a run that lasted this long, the next wait is the first one again",
  },
  returnMs: {
    form: "duration",
    annotation: "rekindle.dev/reregistration-timeout",
    otherwise: "the host's",
    least: second,
    most: 10 * minute,
    meaning: "after a recovery, how long missing pods may take to come back before they count as lost",
  },
  executorIntervalMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-interval",
    least: second,
    most: hour,
    meaning:
      "own: the interval in which at most one batch of executors is created; unset, spark.kubernetes.allocation.batch.delay, else 1s",
  },
  registrationMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-registration-timeout",
    default: 5 * minute,
    least: 30 * second,
    most: 24 * hour,
    meaning:
      "a running executor that the driver does not know after this long is replaced; own: an executor that waits longer no longer delays others",
  },
  pendingMs: {
    form: "duration",
    annotation: pendingAnnotation,
    default: 5 * minute,
    least: 5 * second,
    most: 24 * hour,
    meaning:
      "an executor that does not start (no node, image, volume, config) is deleted after this long and replaced; the time doubles while this goes on",
  },
  pendingMaxMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-pending-timeout-max",
    default: hour,
    least: 5 * second,
    most: 168 * hour,
    meaning: "the longest time to wait for an executor to start, after doubling",
  },
  nodeGraceMs: {
    form: "duration",
    annotation: "rekindle.dev/node-grace",
    default: 10 * second,
    least: second,
    most: hour,
    meaning:
      "an executor on a node that does not answer (NotReady) is given up after this long and replaced on another node",
  },
  driverNodeMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-node-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning:
      "a driver on a node that has not answered (NotReady) for this long is given up, and its run fails; off: the driver may still be writing, so Rekindle waits until the node answers or is gone",
  },
  goneMs: {
    form: "duration",
    annotation: "rekindle.dev/executors-gone-timeout",
    default: minute,
    least: 5 * second,
    most: 24 * hour,
    meaning: "a run that has had no executor for this long causes the event ExecutorsGone",
  },
  silenceMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-silence-timeout",
    default: 5 * minute,
    least: 10 * second,
    most: 24 * hour,
    meaning: "a driver whose REST API answered before and has not answered for this long causes the event DriverSilent",
  },
  stallMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-stall-timeout",
    default: 30 * minute,
    least: 20 * second,
    most: 168 * hour,
    meaning: "a driver that has running tasks, of which none ended for this long, causes the event DriverStalled",
  },
  leaveMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-leave-grace",
    default: 2 * minute,
    least: second,
    most: 24 * hour,
    meaning:
      "the time that a decommissioned executor has for its running tasks, and to move its shuffle data and cached blocks to others",
  },
  retentionMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-retention",
    default: 24 * hour,
    least: second,
    most: 720 * hour,
    meaning: "how long the pods of executors that failed because of the application are kept, ten at most",
  },
} as const satisfies Readonly<Record<string, Span>>;

const counts = {
  executorBatch: {
    form: "count",
    annotation: "rekindle.dev/executor-batch",
    least: 1,
    most: mostInBatch,
    meaning: "own: executors created in one interval; unset, spark.kubernetes.allocation.batch.size, else 500",
  },
  executorMaxPending: {
    form: "count",
    annotation: "rekindle.dev/executor-max-pending",
    least: 1,
    most: 100_000,
    meaning:
      "own: executors that may be pending at once; unset, spark.kubernetes.allocation.maxPendingPods, else no limit",
  },
} as const satisfies Readonly<Record<string, Count>>;

const choices = {
  executors: {
    form: "choice",
    annotation: "rekindle.dev/executors",
    words: owners,
    meaning: "own: Rekindle allocates the executors, from the next run on; assist: the driver does",
  },
  executorScaleDown: {
    form: "choice",
    annotation: "rekindle.dev/executor-scale-down",
    words: ["idle", "force"],
    meaning: "own: when fewer executors are wanted, only idle ones are removed (idle), or busy ones as well (force)",
  },
  onExecutorsGone: {
    form: "choice",
    annotation: "rekindle.dev/on-executors-gone",
    words: ["tell", "fail", "restart"],
    meaning:
      "what ExecutorsGone leads to: only the event (tell); the run fails, and its restart policy decides (fail); or the run is restarted whatever the policy says (restart)",
  },
  onDriverHang: {
    form: "choice",
    annotation: "rekindle.dev/on-driver-hang",
    words: ["tell", "fail", "restart"],
    meaning: "what DriverSilent and DriverStalled lead to, with the same words as on-executors-gone",
  },
  unreachableExecutors: {
    form: "choice",
    annotation: "rekindle.dev/unreachable-executors",
    words: ["free", "wait"],
    meaning:
      "free: executors on a node that does not answer are given up, except those with claims; wait: all of them wait until the node is certainly gone",
  },
  backoff: {
    form: "choice",
    annotation: "rekindle.dev/retry-backoff",
    words: ["linear", "exponential"],
    meaning:
      "how the wait before a retry grows: linear, as upstream's, counts from the start of the failed run; exponential doubles, and counts from its end",
  },
  gang: {
    form: "choice",
    annotation: "rekindle.dev/gang",
    words: ["false", "true"],
    meaning:
      "with gang: builtin, true: the driver is created when there are places for it and its initial executors; as batchScheduler: volcano, without the setting batch-scheduler",
  },
  gangRequired: {
    form: "choice",
    annotation: "rekindle.dev/gang-required",
    words: ["false", "true"],
    meaning:
      "true: a run of a gang whose initial executors do not all get nodes within 2 minutes of the driver's start is given back; it waits for places again and spends no retry",
  },
  restartOn: {
    form: "choice",
    annotation: "rekindle.dev/restart-on",
    words: ["policy", "infrastructure"],
    meaning:
      "infrastructure: a retry after preemption, eviction, a lost node or driver, or an image that cannot be pulled is not counted",
  },
} as const satisfies Readonly<Record<string, Choice>>;

const grammars = {
  overheadGrowth: {
    form: "grammar",
    annotation: "rekindle.dev/executor-oom-overhead",
    range: "FACTOR up to SIZE, a factor above 1 and up to 10 and a size up to 1Ti, such as 1.5 up to 4Gi",
    read: overheadGrowthIn,
    meaning:
      "own: after an executor was OOMKilled, later executors of the run get FACTOR times its memory overhead, at most SIZE; again each time",
  },
} as const satisfies Readonly<Record<string, Grammar<unknown>>>;

/** The listener annotation, which the engine reads for every kind; it is checked and listed here. */
const listener = {
  annotation: listenerAnnotation,
  meaning: "the listener that receives every change of state, repeatedly until it acknowledges",
} as const satisfies Row;

const listenerProblems = (given: string | undefined): readonly string[] => {
  if (given === undefined || isListener(given.trim())) return [];
  if (hasUserPart(given.trim()))
    return [`metadata.annotations[${listenerAnnotation}]: ${userPartSaying}; silence holds`];
  return [problemOf(listener, given, listenerForms, "silence")];
};

type Word<Name extends keyof typeof choices> = (typeof choices)[Name]["words"][number];

export type Policies = {
  readonly driverStartMs: number | undefined;
  readonly executorStartMs: number | undefined;
  readonly backoffMaxMs: number;
  readonly goodRunMs: number;
  readonly returnMs: number | undefined;
  readonly executorIntervalMs: number | undefined;
  readonly registrationMs: number;
  readonly pendingMs: number;
  readonly pendingMaxMs: number;
  readonly nodeGraceMs: number;
  readonly driverNodeMs: number | undefined;
  readonly goneMs: number;
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly leaveMs: number;
  readonly retentionMs: number;
  readonly executorBatch: number | undefined;
  readonly executorMaxPending: number | undefined;
  readonly overheadGrowth: OverheadGrowth | undefined;
  readonly executors: Word<"executors">;
  readonly executorScaleDown: Word<"executorScaleDown">;
  readonly onExecutorsGone: Word<"onExecutorsGone">;
  readonly onDriverHang: Word<"onDriverHang">;
  readonly unreachableExecutors: Word<"unreachableExecutors">;
  readonly backoff: Word<"backoff">;
  readonly gang: Word<"gang">;
  readonly gangRequired: Word<"gangRequired">;
  readonly restartOn: Word<"restartOn">;
};

/** Parses the annotations. A value out of range is reported as a problem, and its default holds. */
export const policiesOf = ({
  metadata: { annotations = {} },
}: {
  readonly metadata: Pick<StoredMetadata, "annotations">;
}): { readonly policies: Policies; readonly problems: readonly string[] } => {
  const { span, fixed, count, choice, grammar, problems } = reader(annotations);
  const policies: Policies = {
    driverStartMs: span(spans.driverStartMs),
    executorStartMs: span(spans.executorStartMs),
    backoffMaxMs: fixed(spans.backoffMaxMs),
    goodRunMs: fixed(spans.goodRunMs),
    returnMs: span(spans.returnMs),
    executorIntervalMs: span(spans.executorIntervalMs),
    registrationMs: fixed(spans.registrationMs),
    pendingMs: fixed(spans.pendingMs),
    pendingMaxMs: fixed(spans.pendingMaxMs),
    nodeGraceMs: fixed(spans.nodeGraceMs),
    driverNodeMs: span(spans.driverNodeMs),
    goneMs: fixed(spans.goneMs),
    silenceMs: fixed(spans.silenceMs),
    stallMs: fixed(spans.stallMs),
    leaveMs: fixed(spans.leaveMs),
    retentionMs: fixed(spans.retentionMs),
    executorBatch: count(counts.executorBatch),
    executorMaxPending: count(counts.executorMaxPending),
    overheadGrowth: grammar(grammars.overheadGrowth),
    executors: choice<Word<"executors">>(choices.executors),
    executorScaleDown: choice<Word<"executorScaleDown">>(choices.executorScaleDown),
    onExecutorsGone: choice<Word<"onExecutorsGone">>(choices.onExecutorsGone),
    onDriverHang: choice<Word<"onDriverHang">>(choices.onDriverHang),
    unreachableExecutors: choice<Word<"unreachableExecutors">>(choices.unreachableExecutors),
    backoff: choice<Word<"backoff">>(choices.backoff),
    gang: choice<Word<"gang">>(choices.gang),
    gangRequired: choice<Word<"gangRequired">>(choices.gangRequired),
    restartOn: choice<Word<"restartOn">>(choices.restartOn),
  };
  return { policies, problems: [...problems, ...listenerProblems(annotations[listener.annotation])] };
};

/** The table of annotations for people. */
export const policyLines = (): readonly Line[] => [
  ...[spans, counts, choices, grammars].flatMap((rows) => Object.values(rows)).map(lineOf),
  { ...listener, default: "its namespace's, else the operator's", range: listenerForms },
];

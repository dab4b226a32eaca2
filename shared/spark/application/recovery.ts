/**
 * Recovery of a SparkApplication: the objects that belong to it, the usable part of a damaged memory, and its past
 * runs. An attempt is never handed out twice: the highest attempt of all sources counts. The first memory is blank, or
 * taken over from another controller's status and pods.
 */

import * as z from "zod";
import { omit } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { attemptLabel, type Stored } from "../../core/object.ts";
import type { OwnedObjects, PastRun, Rebuilt, Recovery, Remains } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { labelOf, ownedBy } from "../../kube/pods.ts";
import { lostIdsGap } from "../executors/allotment.ts";
import type { Ledger } from "../executors/ledger.ts";
import { fitting, pastBytes } from "../executors/lifetimes.ts";
import { losses, lossReasons } from "../executors/losses.ts";
import { podsOf } from "../schema/pod-query.ts";
import { parseSpec } from "../schema/rules.ts";
import { leftoversOf } from "./run/context.ts";
import { type RestartPolicy, retryAfterFailure, retryAfterRefusal } from "./run/retry.ts";
import { policiesOf } from "./spec/policies.ts";
import { adoptedUid, notDeleted, submissionLabel } from "./state/evidence.ts";
import { type Driver, type Memory, normaliser, type Phase, type State, salvageMemory } from "./state/memory.ts";
import { shownSubmission } from "./state/status.ts";

export const blank = (generation: number, spec: string): Memory => ({
  generation,
  spec,
  normaliser,
  attempt: 0,
  submissions: 0,
  executions: 0,
  state: { phase: "" },
});

const status = z.looseObject({
  applicationState: z.looseObject({ state: z.string(), errorMessage: z.string().nullish() }),
  driverInfo: z.looseObject({ podName: z.string().optional() }).nullish(),
  submissionID: z.string().nullish(),
  sparkApplicationId: z.string().nullish(),
  submissionAttempts: z.number().int().nullish(),
  executionAttempts: z.number().int().nullish(),
  lastSubmissionAttemptTime: z.string().nullish(),
  terminationTime: z.string().nullish(),
});

type Status = z.infer<typeof status>;

type End = {
  readonly endedAt: number;
  readonly error: string;
  readonly retries: { readonly afterFailure: number | undefined; readonly afterRefusal: number | undefined };
};

const endless: End = { endedAt: 0, error: "", retries: { afterFailure: undefined, afterRefusal: undefined } };

type Counts = Pick<Memory, "submissions" | "executions">;

const retrying = (at: number | undefined): { retryAt?: number } => (at === undefined ? {} : { retryAt: at });

const adoptedState = (phase: string, { endedAt, error, retries }: End): State => {
  switch (phase) {
    case "SUCCEEDING":
    case "COMPLETED":
      return { phase, endedAt };
    case "FAILED":
      return { phase, endedAt, error };
    case "FAILING":
      return { phase, endedAt, error, ...retrying(retries.afterFailure) };
    case "SUBMISSION_FAILED":
      return { phase, endedAt, error, ...retrying(retries.afterRefusal) };
    case "RUNNING":
    case "UNKNOWN":
    case "INVALIDATING":
    case "PENDING_RERUN":
    case "SUSPENDING":
    case "SUSPENDED":
    case "RESUMING":
    case "SUBMITTED":
      return { phase };
    default:
      return { phase: "" };
  }
};

/** Phases in which the status names a driver. */
const withDriver: ReadonlySet<Phase> = new Set([
  "SUBMITTED",
  "RUNNING",
  "UNKNOWN",
  "SUCCEEDING",
  "FAILING",
  "INVALIDATING",
  "SUSPENDING",
  "COMPLETED",
  "FAILED",
]);

/** Phases that mean nothing without a driver: leftovers are cleared before the next submission. */
const runs: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

/** Phases in which upstream submits before it writes the status: it may have died in between (its issue 2788). */
const submitting: ReadonlySet<Phase> = new Set(["SUBMISSION_FAILED", "PENDING_RERUN", "RESUMING"]);

const endOf = (seen: Status, counts: Counts, policy: RestartPolicy): End => {
  const submittedAt = instantOf(seen.lastSubmissionAttemptTime) ?? 0;
  const counters = { ...counts, submittedAt };
  return {
    endedAt: instantOf(seen.terminationTime) ?? submittedAt,
    error: seen.applicationState.errorMessage ?? "",
    retries: {
      afterFailure: retryAfterFailure(policy, counters),
      afterRefusal: retryAfterRefusal(policy, counters),
    },
  };
};

const adoptedDriver = (object: Stored, seen: Status, submissionId: string): Driver => ({
  attempt: seen.submissionAttempts ?? 1,
  submissionId,
  ...(seen.sparkApplicationId ? { applicationId: seen.sparkApplicationId } : {}),
  podName: seen.driverInfo?.podName || `${object.metadata.name}-driver`,
  submittedAt: instantOf(seen.lastSubmissionAttemptTime) ?? 0,
  uid: adoptedUid,
});

/** The status of a run that was begun, or undefined when the status shows none. */
const statusOf = (object: Stored): Status | undefined => {
  const parsed = status.safeParse(object.status);
  return parsed.success && parsed.data.applicationState.state !== "" ? parsed.data : undefined;
};

/** True when a driver may run that the status does not name: the first memory is then made from the pods as well. */
export const mayHideDriver = (object: Stored): boolean => {
  const seen = statusOf(object);
  if (seen === undefined) return false;
  const { phase } = adoptedState(seen.applicationState.state, endless);
  return submitting.has(phase) || (runs.has(phase) && !seen.submissionID);
};

/** Returns the application's newest driver pod that is not being deleted and is not the driver of the status. */
const hiddenDriver = (object: Stored, submissionId: string, pods: readonly Stored[]): Stored | undefined =>
  notDeleted(pods)
    .filter((pod) => ownedBy(pod, object.metadata.uid) && labelOf(pod, "spark-role") === "driver")
    .filter((pod) => ![undefined, "", submissionId].includes(labelOf(pod, submissionLabel)))
    .sort((a, b) => (instantOf(b.metadata.creationTimestamp) ?? 0) - (instantOf(a.metadata.creationTimestamp) ?? 0))[0];

/** Builds the run of a driver that was submitted and never written down. Rekindle's own pods carry their attempt. */
const runOf = (pod: Stored, counts: Counts): Pick<Memory, "attempt" | "submissions" | "executions" | "driver"> => {
  const attempt = Math.max(counts.submissions, Number(labelOf(pod, attemptLabel) ?? 0), 1);
  const applicationId = labelOf(pod, "spark-app-selector");
  const { name: podName, uid, creationTimestamp } = pod.metadata;
  const driver = {
    ...{ attempt, podName, uid, submittedAt: instantOf(creationTimestamp) ?? 0 },
    submissionId: labelOf(pod, submissionLabel) ?? "",
    ...(applicationId === undefined ? {} : { applicationId }),
  };
  return { attempt, submissions: counts.submissions, executions: counts.executions, driver };
};

/** The counts that upstream would have written, had it not died before its status write. */
const counted = ({ submissions, executions }: Counts, phase: Phase): Counts =>
  submitting.has(phase)
    ? { submissions: submissions + 1, executions: executions + 1 }
    : { submissions: Math.max(1, submissions), executions: Math.max(1, executions) };

/**
 * Makes the first memory. A run that upstream's controller left is adopted, with no delete and no restart. Attempts
 * continue upstream's count, so that no driver's identity is handed out twice. `pods` are the pods with the
 * application's name; they are needed when `mayHideDriver` is true.
 */
export const adopted = (object: Stored, spec: string, policy: RestartPolicy, pods: readonly Stored[] = []): Memory => {
  const first = blank(object.metadata.generation ?? 0, spec);
  const seen = statusOf(object);
  if (seen === undefined) return first;
  const counts = { submissions: seen.submissionAttempts ?? 0, executions: seen.executionAttempts ?? 0 };
  const id = seen.submissionID ?? "";
  const shown = adoptedState(seen.applicationState.state, endOf(seen, counts, policy));
  const hidden = mayHideDriver(object) ? hiddenDriver(object, id, pods) : undefined;
  if (hidden !== undefined)
    return { ...first, ...runOf(hidden, counted(counts, shown.phase)), state: { phase: "SUBMITTED" } };
  const state: State = id === "" && runs.has(shown.phase) ? { phase: "PENDING_RERUN" } : shown;
  const driver = id !== "" && withDriver.has(state.phase) ? { driver: adoptedDriver(object, seen, id) } : {};
  return { ...first, attempt: counts.submissions, ...counts, ...driver, state };
};

const ownedObjects = (key: Key, uid: string, memory: Memory | undefined): OwnedObjects => ({
  queries: [podsOf(key), ...leftoversOf({ key, view: { uid }, memory: { rare: memory?.rare } })],
  owners: [uid, ...(memory?.driver?.uid === undefined ? [] : [memory.driver.uid])],
});

type Kept = ReturnType<typeof salvageMemory>["kept"];

/** Phases of a run under way. Such a run is void in another cluster. */
const underWay: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

const isBodyOf = (body: Stored, { submissionId, uid }: Driver): boolean =>
  labelOf(body, submissionLabel) === submissionId && [undefined, adoptedUid, body.metadata.uid].includes(uid);

/**
 * True when the record's run cannot be used. Fields of a damaged record may parse and still be wrong: of a run under
 * way, the living driver is better evidence. A state before the first attempt is wrong if attempts were handed out.
 */
const isRunLost = ({ state, driver, attempt = 0 }: Kept, body: Stored | undefined): boolean => {
  if (state === undefined || (state.phase === "" && attempt > 0)) return true;
  return underWay.has(state.phase) && (driver === undefined || (body !== undefined && !isBodyOf(body, driver)));
};

/** The living driver, else the remembered one, else the one that the status names. */
const recoveredDriver = (kept: Kept, base: Memory, body: Stored | undefined): Driver | undefined => {
  const { driver } = kept;
  if (body === undefined || (driver !== undefined && isBodyOf(body, driver))) return driver ?? base.driver;
  return runOf(body, base).driver;
};

/** The state by the status, unless the status is about another run. */
const recoveredState = (object: Stored, base: Memory, driver: Driver | undefined, attempt: number): State => {
  const { state } = base;
  if (driver !== undefined && driver.submissionId !== shownSubmission(object)) return { phase: "SUBMITTED" };
  if (state.phase !== "" || attempt === 0) return state;
  return { phase: driver === undefined ? "PENDING_RERUN" : "SUBMITTED" };
};

const attemptsIn = ({ found }: Remains): readonly number[] =>
  found.flat().map((object) => Number(labelOf(object, attemptLabel) ?? 0));

/** Marks an unknown spec as one of another normaliser: the current spec is then taken in, and restarts no run. */
const taken = (
  { generation, spec, normaliser }: Kept,
  base: Memory,
): Pick<Memory, "generation" | "spec" | "normaliser"> =>
  generation === undefined || spec === undefined || normaliser === undefined
    ? { generation: base.generation, spec: "", normaliser: 0 }
    : { generation, spec, normaliser };

const idsAfter = (problems: readonly string[], pods: readonly Stored[]): Pick<Memory, "allotment"> => {
  if (!problems.some((one) => one.startsWith("allotment"))) return {};
  const seen = pods.map((pod) => Number(labelOf(pod, "spark-exec-id") ?? 0)).filter(Number.isSafeInteger);
  return {
    allotment: { attempt: 0, prefix: "", next: Math.max(lostIdsGap, ...seen) + lostIdsGap, alive: "", underway: [] },
  };
};

/** Rebuilds the memory from the readable fields; lost counts are taken from the status. */
const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, found, now, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const [pods = []] = found;
  const read = parseSpec(object);
  const base = adopted(object, "", read.ok ? (read.spec.restartPolicy ?? {}) : {}, pods);
  const body = hiddenDriver(object, "", pods);
  const lost = isRunLost(kept, body);
  const driver =
    lost || problems.some((one) => one.startsWith("driver")) ? recoveredDriver(kept, base, body) : kept.driver;
  const known = [kept.attempt ?? 0, driver?.attempt ?? 0, base.attempt, ...attemptsIn(remains)];
  const attempt = Math.max(...known.filter(Number.isSafeInteger));
  const state = (lost ? undefined : kept.state) ?? recoveredState(object, base, driver, attempt);
  const memory: Memory = {
    ...base,
    ...kept,
    ...taken(kept, base),
    ...idsAfter(problems, pods),
    attempt,
    submissions: kept.submissions ?? base.submissions,
    executions: kept.executions ?? base.executions,
    ...(attempt > 0 && kept.plannedAt === undefined ? { plannedAt: now } : {}),
    state,
  };
  const { driver: _, ...bare } = memory;
  return { memory: driver === undefined ? bare : { ...bare, driver }, kept: Object.keys(kept), problems };
};

/**
 * The memory in another cluster: a run under way is replaced and spends no retry. Generation -1: specs are compared.
 */
const voided = (memory: Memory): Memory => {
  const { driver, ...rest } = { ...memory, generation: -1 };
  if (underWay.has(memory.state.phase))
    return { ...rest, forgiven: (memory.forgiven ?? 0) + 1, state: { phase: "PENDING_RERUN" } };
  if (driver === undefined) return rest;
  const { uid: _, ...named } = driver;
  return { ...rest, driver: named };
};

const over: ReadonlySet<Phase> = new Set(["COMPLETED", "FAILED", "SUSPENDED"]);

const ended = (memory: Memory, now: number, message: string): Memory =>
  over.has(memory.state.phase) ? memory : { ...memory, state: { phase: "FAILED", endedAt: now, error: message } };

/** last phase of a run → its outcome. */
const outcomes: Readonly<Partial<Record<string, PastRun["outcome"]>>> = {
  SUCCEEDING: "completed",
  COMPLETED: "completed",
  FAILING: "failed",
  FAILED: "failed",
  SUBMISSION_FAILED: "refused",
  INVALIDATING: "replaced",
  SUSPENDING: "suspended",
  SUSPENDED: "suspended",
};

const lastPhase = (before: Memory, after: Memory, attempt: number): string => {
  const passed = after.history?.filter((one) => one.attempt === attempt && outcomes[one.phase] !== undefined).at(-1);
  return outcomes[before.state.phase] === undefined ? (passed?.phase ?? "") : before.state.phase;
};

/** The losses that were to be replaced; undefined instead of 0: it is chance whether a step saw one. */
const lossesIn = ({ lost = {} }: Ledger): number | undefined => {
  const counts = lossReasons.map((reason) => (losses[reason].replaced === "yes" ? (lost[reason] ?? 0) : 0));
  const sum = counts.reduce((all, count) => all + count, 0);
  return sum === 0 ? undefined : sum;
};

const past = (before: Memory, after: Memory, now: number): PastRun | undefined => {
  const { driver, state } = before;
  if (driver === undefined || after.driver?.attempt === driver.attempt) return undefined;
  return {
    attempt: driver.attempt,
    submissionId: driver.submissionId,
    driver: driver.uid,
    startedAt: driver.submittedAt,
    endedAt: "endedAt" in state ? state.endedAt : now,
    outcome: outcomes[lastPhase(before, after, driver.attempt)] ?? "ended",
    error: "error" in state ? state.error.slice(0, longestError) : undefined,
    losses: before.executors?.attempt === driver.attempt ? lossesIn(before.executors) : undefined,
    account: accountOf(before, driver),
  };
};

/**
 * The requests, the driver's node and start, and the executors of a run, for people: the latest executors in full, and the
 * sum of all.
 */
const accountOf = (
  { executors, allotment }: Memory,
  { attempt, needs, node, upAt }: Driver,
): Readonly<Record<string, unknown>> | undefined => {
  const { lifetimes = [], ran } = executors?.attempt === attempt ? executors : {};
  const account = {
    ...(needs === undefined ? {} : { needs }),
    ...(node === undefined ? {} : { node }),
    ...(upAt === undefined ? {} : { upAt }),
    ...(ran === undefined ? {} : { ran, lifetimes: fitting(lifetimes, pastBytes) }),
    ...(allotment?.attempt === attempt && allotment.quota !== undefined ? { quota: allotment.quota } : {}),
  };
  return Object.keys(account).length === 0 ? undefined : account;
};

const withoutLifetimes = ({ executors, ...memory }: Memory): Memory => {
  if (executors === undefined) return memory;
  const { lifetimes: _, ...rest } = executors;
  return { ...memory, executors: rest };
};

const longestError = 500;

const trimmed = (whole: Memory): Memory => {
  const memory = withoutLifetimes(omit(whole, "history", "untold"));
  return "error" in memory.state
    ? { ...memory, state: { ...memory.state, error: memory.state.error.slice(0, longestError) } }
    : memory;
};

export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: () => true,
  rebuild,
  voided,
  ended,
  past,
  trimmed,
  returnMs: (object) => policiesOf(object).policies.returnMs,
};

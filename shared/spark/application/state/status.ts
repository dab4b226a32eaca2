/** The upstream status, projected from the memory and the pods, with the state of each executor. */

import * as z from "zod";
import { oncePer } from "../../../core/cache.ts";
import { isRecord } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { instantOf, timeText } from "../../../core/time.ts";
import { localQueueOf } from "../../../kube/kueue.ts";
import { podStatus } from "../../../kube/pods.ts";
import { hasId, idsOf, listOfIds } from "../../executors/ids.ts";
import type { Ledger } from "../../executors/ledger.ts";
import { executorId, type LossReason } from "../../executors/losses.ts";
import type { Pods } from "./evidence.ts";
import type { Driver, Memory, Phase } from "./memory.ts";

export type ExecutorState = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNKNOWN";

const byPhase: Readonly<Record<string, ExecutorState>> = {
  Pending: "PENDING",
  Running: "RUNNING",
  Succeeded: "COMPLETED",
  Failed: "FAILED",
};

/** States that never change again. */
type Finished = Extract<ExecutorState, "COMPLETED" | "FAILED">;

export const isFinished = (state: string): state is Finished => state === "COMPLETED" || state === "FAILED";

/** The state in an executor's pod. */
export const stateOf = (pod: Stored): ExecutorState => byPhase[podStatus(pod).phase ?? ""] ?? "UNKNOWN";

/** The id in the name of an executor's pod. */
export const idIn = (name: string): number | undefined => {
  const [, id] = /-exec-(\d{1,9})$/.exec(name) ?? [];
  return id === undefined ? undefined : Number(id);
};

/** Phases in which executors may still run: a list that lacks them may be from before they came. */
const underWay: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

/**
 * The state of an executor whose pod is gone, as upstream's getAndUpdateExecutorState: by the application's own phase.
 * Upstream ends it under SUBMITTED and UNKNOWN, too; an end is final, so none is shown here that may not have come.
 */
const ofMissing = (phase: Phase): ExecutorState => {
  if (underWay.has(phase)) return "UNKNOWN";
  return phase === "COMPLETED" || phase === "SUCCEEDING" ? "COMPLETED" : "FAILED";
};

/** Ends by the ids of the executors. */
export type Ends = ReadonlyMap<number, Finished>;

/** The remembered ends that the status may not show yet. */
export const endsIn = ({ ends = {} }: Pick<Ledger, "ends">): Ends =>
  new Map(
    (["COMPLETED", "FAILED"] as const).flatMap((state) =>
      listOfIds(idsOf(ends[state] ?? "")).map((id): [number, Finished] => [id, state]),
    ),
  );

/** Reasons after which an executor's pod showed an end of one kind; after others it may have shown none. */
const endAfter: Partial<Readonly<Record<LossReason, Finished>>> = {
  ...{ finished: "COMPLETED", dismissed: "COMPLETED" },
  ...{ failed: "FAILED", killed: "FAILED", memory: "FAILED", disk: "FAILED", disconnected: "FAILED" },
  ...{ terminated: "FAILED", preempted: "FAILED", evicted: "FAILED" },
};

/** All ends that the record knows, for a status that is older than the record. */
const allEndsIn = (ledger: Pick<Ledger, "ends" | "lifetimes">): Ends =>
  new Map([
    ...(ledger.lifetimes ?? []).flatMap(([id, , , , , reason]): readonly [number, Finished][] => {
      const end = endAfter[reason];
      return end === undefined ? [] : [[id, end]];
    }),
    ...endsIn(ledger),
  ]);

/** Tells of an executor's id whether its end was shown: the ledger has accounted for it, and the end waits for no status. */
export const endsShownIn = (ledger: Pick<Ledger, "ends" | "over">): ((id: number) => boolean) => {
  const over = idsOf(ledger.over ?? "");
  const ends = endsIn(ledger);
  return (id) => hasId(over, id) && !ends.has(id);
};

type States = Readonly<Record<string, string>>;

type Shown = {
  readonly phase: Phase;
  /** The most executors that are shown (upstream's maxTrackedExecutorPerApp, 1000), unless more of them live. */
  readonly limit: number;
  /** Ends that were seen and that the status may not show. */
  readonly ends: Ends;
  /** See `endsShownIn`. */
  readonly endShown: (id: number) => boolean;
};

/** The most living executors that are shown: an object of the API server holds 1.5 MB. */
const mostShown = 10_000;

/**
 * The states within the limit. Ended executors leave first, then those whose pods are gone, the lowest ids before others.
 * One leaves only once `before` shows its state, because events and counters follow from the states that are shown.
 */
const within = (
  limit: number,
  states: States,
  { before, present }: { before: States; present: ReadonlySet<string> },
) => {
  const spare = Object.keys(states).length - limit;
  if (spare <= 0) return states;
  const byId = Object.entries(states)
    .filter(([name, state]) => before[name] === state && (isFinished(state) || !present.has(name)))
    .sort(([a], [b]) => (idIn(a) ?? 0) - (idIn(b) ?? 0));
  const [ended, gone] = [true, false].map((is) => byId.filter(([, state]) => isFinished(state) === is));
  const leaving = new Set([...(ended ?? []), ...(gone ?? [])].slice(0, spare).map(([name]) => name));
  const staying = Object.entries(states).filter(([name]) => !leaving.has(name));
  return Object.fromEntries(staying.slice(0, Math.max(limit, mostShown)));
};

/**
 * pod name → state. `before` holds the status's last states: an executor whose pod is gone keeps its end, and so does
 * one that a list from before its end still shows alive, because no name is used twice.
 */
export const executorStates = (
  pods: readonly Stored[],
  before: States,
  { phase, limit, ends, endShown }: Shown,
): States => {
  const isNamed = (pod: Stored): boolean => {
    const id = executorId(pod);
    return id !== undefined && (pod.metadata.name in before || !isFinished(stateOf(pod)) || !endShown(id));
  };
  const now = pods.filter(isNamed).map((pod): [string, string] => {
    const { name } = pod.metadata;
    const known = before[name] ?? "";
    return [name, isFinished(known) ? known : (ends.get(idIn(name) ?? 0) ?? stateOf(pod))];
  });
  const present = new Set(pods.map(({ metadata }) => metadata.name));
  const gone = Object.entries(before)
    .filter(([name]) => !present.has(name))
    .map(([name, state]): [string, string] => [
      name,
      isFinished(state) ? state : (ends.get(idIn(name) ?? 0) ?? ofMissing(phase)),
    ]);
  const all = Object.fromEntries([...gone, ...now].sort(([a], [b]) => (a < b ? -1 : 1)));
  return within(limit, all, { before, present });
};

/** Texts by name, checked one by one without a schema's work for each: there are as many as executors. */
const texts = z.custom<Readonly<Record<string, string>>>(
  (value) => isRecord(value) && Object.values(value).every((text) => typeof text === "string"),
);

/** The fields that are read back from a status. Any controller may have written it, so each field is checked. */
const before = z.looseObject({
  submissionID: z.string().optional().catch(undefined),
  lastSubmissionAttemptTime: z.string().optional().catch(undefined),
  executorState: texts.optional().catch(undefined),
  driverInfo: z.looseObject({}).optional().catch(undefined),
  applicationState: z
    .looseObject({ state: z.string().catch("") })
    .optional()
    .catch(undefined),
});

const statusOf = oncePer((object: Stored): z.infer<typeof before> => {
  const { data = {} } = before.safeParse(object.status ?? {});
  return data;
});

/** The executor states in the status, if the status is about this run; else none. */
export const shownExecutors = (object: Stored, driver: Driver | undefined): Readonly<Record<string, string>> => {
  const { submissionID, executorState = {} } = statusOf(object);
  return submissionID === driver?.submissionId ? executorState : {};
};

/** The submission id of the status. */
export const shownSubmission = (object: Stored): string | undefined => statusOf(object).submissionID;

/** The state of the status. */
export const shownState = (object: Stored): string => statusOf(object).applicationState?.state ?? "";

/**
 * The state that the status shows. Kueue ends its admission of an application at the first SUBMISSION_FAILED, so with its
 * queue label a refused submission that is tried again is shown as the wait for the next run.
 */
const stateFor = (object: Stored, state: Memory["state"]): Phase =>
  state.phase === "SUBMISSION_FAILED" && state.retryAt !== undefined && localQueueOf(object) !== undefined
    ? "PENDING_RERUN"
    : state.phase;

/**
 * True when the status shows the record's state. A record may come to the same state twice, with a driver each: the
 * status of the first does not show the second.
 */
export const showsRecord = (object: Stored, { state, driver }: Pick<Memory, "state" | "driver">): boolean =>
  shownState(object) === stateFor(object, state) && (driver === undefined || showsSubmission(object, driver));

const errorOf = (memory: Memory): string | undefined => ("error" in memory.state ? memory.state.error : undefined);

/** Submission time of the newest attempt, epoch ms: upstream derives the time of the next one from it. */
const submittedAt = ({ driver, state, submissions }: Memory, shown: string | undefined): number | undefined => {
  if (driver !== undefined) return driver.submittedAt;
  if (state.phase === "SUBMISSION_FAILED") return state.endedAt;
  return submissions === 0 ? undefined : instantOf(shown);
};

type Known = {
  /** Undefined while nothing has been submitted. */
  readonly pods: Pods | undefined;
  /** New fields for `driverInfo`; the fields that the status already shows of this run stay. */
  readonly info?: Readonly<Record<string, unknown>> | undefined;
  /** The most executors that the status names, unless more of them live. */
  readonly limit: number;
};

/** The status's `driverInfo`, if it is about this driver; else empty. */
export const shownInfo = (object: Stored, driver: Driver | undefined): Readonly<Record<string, unknown>> => {
  const { submissionID, driverInfo } = statusOf(object);
  return submissionID === driver?.submissionId ? (driverInfo ?? {}) : {};
};

/** States that a status shows only after a step that saw a begun driver came to its end. */
const begun: ReadonlySet<string> = new Set(["RUNNING", "SUCCEEDING", "FAILING", "COMPLETED", "FAILED"]);

/** True when the status shows that this driver has begun. */
export const showsBegun = (object: Stored, driver: Driver): boolean =>
  statusOf(object).submissionID === driver.submissionId && begun.has(shownState(object));

/** True when the status shows that this driver was submitted: a step writes the status after all its effects. */
export const showsSubmission = (object: Stored, driver: Driver): boolean =>
  statusOf(object).submissionID === driver.submissionId;

type Projected = Readonly<Record<string, unknown>> & { readonly executorState?: Readonly<Record<string, string>> };

/** The whole desired `status`. */
export const projected = (object: Stored, memory: Memory, { pods, info, limit }: Known): Projected => {
  const { driver, state } = memory;
  const error = errorOf(memory);
  const shown = statusOf(object);
  const submitted = submittedAt(memory, shown.lastSubmissionAttemptTime);
  const ledger = memory.executors?.attempt === driver?.attempt ? memory.executors : undefined;
  const executors =
    driver === undefined
      ? {}
      : executorStates(pods?.executors ?? [], shownExecutors(object, driver), {
          phase: state.phase,
          limit,
          ends: allEndsIn(ledger ?? {}),
          endShown: endsShownIn(ledger ?? {}),
        });
  return {
    applicationState: { state: stateFor(object, state), ...(error === undefined ? {} : { errorMessage: error }) },
    driverInfo: driver === undefined ? {} : { ...shownInfo(object, driver), ...info, podName: driver.podName },
    ...(driver?.applicationId === undefined ? {} : { sparkApplicationId: driver.applicationId }),
    ...(driver === undefined ? {} : { submissionID: driver.submissionId }),
    ...(submitted === undefined ? {} : { lastSubmissionAttemptTime: timeText(submitted) }),
    submissionAttempts: memory.submissions,
    executionAttempts: memory.executions,
    ...(Object.keys(executors).length === 0 ? {} : { executorState: executors }),
    ...(hasEnded(memory) ? { terminationTime: timeText(memory.state.endedAt) } : {}),
  };
};

type Ended = Memory & { readonly state: { readonly endedAt: number } };

const hasEnded = (memory: Memory): memory is Ended =>
  "endedAt" in memory.state && memory.state.phase !== "SUBMISSION_FAILED";

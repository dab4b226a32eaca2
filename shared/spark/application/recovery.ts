/**
 * Recovery of a SparkApplication: the objects that belong to it, the usable part of a damaged memory, and its past
 * runs. An attempt is never handed out twice: the highest attempt of all sources counts.
 */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { OwnedObjects, PastRun, Rebuilt, Recovery, Remains } from "../../core/plan.ts";
import { labelOf } from "../../kube/pods.ts";
import { beyond } from "../executors/allotment.ts";
import type { Ledger } from "../executors/ledger.ts";
import { losses, lossReasons } from "../executors/losses.ts";
import { podsOf } from "../schema/resource.ts";
import { parseSpec } from "../schema/rules.ts";
import { adopted, hiddenDriver, runOf } from "./adoption.ts";
import { leftoversOf } from "./run/context.ts";
import { policiesOf } from "./spec/policies.ts";
import { adoptedUid, submissionLabel } from "./state/evidence.ts";
import { type Driver, type Memory, type Phase, type State, salvageMemory } from "./state/memory.ts";
import { shownSubmission } from "./state/status.ts";

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
const driverFrom = (kept: Kept, base: Memory, body: Stored | undefined): Driver | undefined => {
  const { driver } = kept;
  if (body === undefined || (driver !== undefined && isBodyOf(body, driver))) return driver ?? base.driver;
  return runOf(body, base).driver;
};

/** The state by the status, unless the status is about another run. */
const stateFrom = (object: Stored, base: Memory, driver: Driver | undefined, attempt: number): State => {
  const { state } = base;
  if (driver !== undefined && driver.submissionId !== shownSubmission(object)) return { phase: "SUBMITTED" };
  if (state.phase !== "" || attempt === 0) return state;
  return { phase: driver === undefined ? "PENDING_RERUN" : "SUBMITTED" };
};

const attemptsIn = ({ found }: Remains): readonly number[] =>
  found.flat().map((object) => Number(labelOf(object, "rekindle.dev/attempt") ?? 0));

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
  return { allotment: { attempt: 0, prefix: "", next: Math.max(beyond, ...seen) + beyond, alive: "", underway: [] } };
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
  const driver = lost || problems.some((one) => one.startsWith("driver")) ? driverFrom(kept, base, body) : kept.driver;
  const known = [kept.attempt ?? 0, driver?.attempt ?? 0, base.attempt, ...attemptsIn(remains)];
  const attempt = Math.max(...known.filter(Number.isSafeInteger));
  const state = (lost ? undefined : kept.state) ?? stateFrom(object, base, driver, attempt);
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
  };
};

const longestError = 500;

const trimmed = ({ history: _, untold: __, ...memory }: Memory): Memory =>
  "error" in memory.state
    ? { ...memory, state: { ...memory.state, error: memory.state.error.slice(0, longestError) } }
    : memory;

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

/**
 * How a SparkApplication comes back: what belongs to it, what of a damaged memory is kept, and what a run was. An attempt
 * is never handed out twice: of all that tells of attempts, the highest counts.
 */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { OwnedObjects, PastRun, Rebuilt, Recovery, Remains } from "../../core/recovery.ts";
import { labelOf } from "../../kube/pods.ts";
import { beyond } from "../executors/allotment.ts";
import type { Ledger } from "../executors/ledger.ts";
import { losses, lossReasons } from "../executors/losses.ts";
import { parseSpec } from "../schema/parse.ts";
import { adopted, hiddenDriver, runOf } from "./adoption.ts";
import { leftoversOf, podsOf } from "./context.ts";
import { adoptedUid, submissionLabel } from "./driver/evidence.ts";
import { type Driver, type Memory, type Phase, type State, salvageMemory } from "./memory.ts";
import { policiesOf } from "./policies.ts";
import { shownSubmission } from "./status.ts";

const ownedObjects = (key: Key, uid: string, memory: Memory | undefined): OwnedObjects => ({
  queries: [podsOf(key), ...leftoversOf({ key, view: { uid }, memory: { rare: memory?.rare } })],
  owners: [uid, ...(memory?.driver?.uid === undefined ? [] : [memory.driver.uid])],
});

type Kept = ReturnType<typeof salvageMemory>["kept"];

/** A run is under way, which is worth nothing in another cluster. */
const underWay: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

const isBodyOf = (body: Stored, { submissionId, uid }: Driver): boolean =>
  labelOf(body, submissionLabel) === submissionId && [undefined, adoptedUid, body.metadata.uid].includes(uid);

/**
 * What parses of a damaged record may be wrong all the same: of a run that is under way the driver that lives says more.
 * A state of before the first attempt, though attempts were handed out, is none.
 */
const isRunLost = ({ state, driver, attempt = 0 }: Kept, body: Stored | undefined): boolean => {
  if (state === undefined || (state.phase === "" && attempt > 0)) return true;
  return underWay.has(state.phase) && (driver === undefined || (body !== undefined && !isBodyOf(body, driver)));
};

/** The driver that lives, else the one that was remembered, else the one that the status tells of. */
const driverFrom = (kept: Kept, base: Memory, body: Stored | undefined): Driver | undefined => {
  const { driver } = kept;
  if (body === undefined || (driver !== undefined && isBodyOf(body, driver))) return driver ?? base.driver;
  return runOf(body, base).driver;
};

/** A status that is about another run than this one says nothing of it. */
const stateFrom = (object: Stored, base: Memory, driver: Driver | undefined, attempt: number): State => {
  const { state } = base;
  if (driver !== undefined && driver.submissionId !== shownSubmission(object)) return { phase: "SUBMITTED" };
  if (state.phase !== "" || attempt === 0) return state;
  return { phase: driver === undefined ? "PENDING_RERUN" : "SUBMITTED" };
};

const attemptsIn = ({ found }: Remains): readonly number[] =>
  found.flat().map((object) => Number(labelOf(object, "rekindle.dev/attempt") ?? 0));

/** Of another normaliser: the spec is then taken in as it is, and restarts nobody. */
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

/** Counted as far as is known; what is lost counts no less than the status tells. */
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

/** The next attempt takes the place of a run under way, and spends no retry. Generations begin anew: specs are compared. */
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

/** phase that a run was in at last → how it ended. */
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

/** Who was done, or one too many, is no loss; none is told of as none is known of, for who looked is chance. */
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

/**
 * The invariants of executors that follow their driver's demand, judged from objects and from the driver's script.
 *
 * E10. Where the demand has stood for long, as many executors run as are needed and granted, and nothing is written. A
 * lost timer stops the looks at the demand until the resync after it. Two saves are permitted to a step that reads the
 * application many revisions behind: its status of then does not show the run's Service for the UI, so the step
 * creates it again, which the API server refuses, and a plan with effects is saved; and the save after that plan
 * records the events of states that the status of then does not show. No status write comes of it, as it is bound to
 * the outdated revision.
 * E11. A running executor is not ended for want of work while the driver has needed it within its idle timeout.
 * E12. A driver and its executors carry the number of their attempt, which is larger than that of each driver before.
 */
import type { Gauge } from "../../../shared/simulator/nodes/script.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import type { Facts, Pod } from "./facts.ts";

type Blame = (what: string) => void;

/** The demand of a scenario's driver. Times in ms after the start of its container. */
export type Demand = {
  readonly gauge: readonly (readonly [fromMs: number, gauge: Gauge])[];
  /** The driver needs fewer for this long before executors may leave. */
  readonly idleMs: number;
  /** The most executors that may live at a time, where that is less than the maximum in the spec. */
  readonly granted?: number;
  /** Kueue may evict a growth that the driver still needs: `growth-judge.ts` judges which executors end then. */
  readonly evicted?: true;
  /** The most claims that are created, where executors have claims. */
  readonly claims?: number;
  /** From `fromMs` to `untilMs`, this many executors run, and nothing is written. */
  readonly settled?: { readonly fromMs: number; readonly untilMs: number; readonly executors: number };
};

const isUp = ({ role, live, leaving, began }: Pod): boolean =>
  role === "executor" && live && leaving !== true && began !== undefined;

/** The living driver whose container has started. */
const driverIn = ({ pods, uid }: Facts): (Pod & { readonly began: number }) | undefined => {
  const driver = [...pods.values()].find(({ role, live, app }) => role === "driver" && live && app === uid);
  return driver?.began === undefined ? undefined : { ...driver, began: driver.began };
};

const executorsOf = ({ pods }: Facts, driver: string): readonly Pod[] =>
  [...pods.values()].filter((pod) => pod.driver === driver && isUp(pod));

type Hearing = { readonly actor: string; readonly table: string; readonly now: number };

/** The time, ms, within which the executors follow the demand after the resync that makes up for a lost timer. */
const followedMs = 90_000;

/** A step in which nothing else goes wrong ends within this time, ms, and the next one begins after it. */
const stepMs = 1_000;

/** The saves of such a step. */
export const savesBehind = 2;

/** A read this many revisions behind may show the application as it was before its driver ran. */
export const farBehind = 16;

/** E10, before a change is taken in: the executors are those since the change before. */
export const checkSettled = (
  facts: Facts,
  demand: Demand | undefined,
  { actor, table, now }: Hearing,
  blame: Blame,
): void => {
  const settled = demand?.settled;
  const driver = driverIn(facts);
  if (settled === undefined || driver === undefined || facts.settled) return;
  const followedAt = facts.resyncAt === undefined ? 0 : facts.resyncAt + followedMs;
  if (now < Math.max(driver.began + settled.fromMs, followedAt)) return;
  const up = executorsOf(facts, driver.driver).length;
  if (up !== settled.executors) blame(`E10: ${up} executors run where ${settled.executors} are needed and granted`);
  facts.settled = now > driver.began + settled.untilMs;
  const { behindAt = Number.NEGATIVE_INFINITY, behindSaves } = facts;
  if (actor === "engine" && table === "checkpoints.rekindle.dev" && now < behindAt + stepMs && behindSaves > 0) {
    facts.behindSaves -= 1;
    return;
  }
  if (actor === "engine" && !facts.settled) blame(`E10: ${table} is written while the demand stands`);
};

/** A decision made before a fact was known may arrive this late, ms. */
const latestMs = 16_000;

/** The number that a gauge shows at most; undefined where it shows none. */
const numberOf = (gauge: Gauge): number | undefined =>
  typeof gauge === "number" ? gauge : typeof gauge === "object" && "flaps" in gauge ? gauge.flaps : undefined;

/** The most executors that the driver needed at any time between two instants, ms after its start. */
const mostNeeded = ({ gauge }: Demand, fromMs: number, untilMs: number): number => {
  const shown = gauge.filter(([at], index) => at <= untilMs && (gauge[index + 1]?.[0] ?? untilMs + 1) > fromMs);
  return Math.max(0, ...shown.map(([, one]) => numberOf(one) ?? 0));
};

/** E11, for the deletion of an executor by the engine. */
export const checkIdleness = (
  facts: Facts,
  pod: Pod,
  demand: Demand,
  { object, now }: { readonly object: Change["object"]; readonly now: number },
  blame: Blame,
): void => {
  const driver = driverIn(facts);
  const begins = object.metadata.deletionTimestamp !== undefined;
  if (!begins || !isUp(pod) || driver === undefined || driver.driver !== pod.driver || demand.evicted) return;
  const sinceStart = now - driver.began;
  const needed = mostNeeded(demand, sinceStart - demand.idleMs + 1_000, sinceStart - latestMs);
  const left = executorsOf(facts, pod.driver).length - 1;
  const wanted = Math.min(needed, facts.most ?? needed, demand.granted ?? needed);
  if (left < wanted) blame(`E11: ${pod.name} was ended, which leaves ${left} of the ${wanted} that were just needed`);
};

const epochOf = (object: Change["object"]): number =>
  Number(/"name":"REKINDLE_EPOCH","value":"(\d+)"/.exec(JSON.stringify(object))?.[1] ?? Number.NaN);

/** E12, for a new driver or executor of the engine; `before`: attempts of the application's earlier drivers. */
export const checkEpoch = (
  object: Change["object"],
  attempt: number,
  before: readonly number[],
  blame: Blame,
): void => {
  const epoch = epochOf(object);
  if (epoch !== attempt) blame(`E12: ${object.metadata.name} of attempt ${attempt} has the epoch ${epoch}`);
  if (before.some((one) => one >= epoch)) blame(`E12: ${object.metadata.name} has the epoch of an earlier driver`);
};

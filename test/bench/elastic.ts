/**
 * `npm run bench -- elastic`: executors that follow the demand of a simulated driver through bursts, with the steps,
 * queue and forwarder of the sweep, in the simulator's time: each request takes 3 ms there, and nothing else any time.
 */

import type { Change } from "../../shared/simulator/storage/store.ts";
import { runToRest } from "../proof/sweep/event-loop.ts";
import { Execution } from "../proof/sweep/execution.ts";
import { noFault } from "../proof/sweep/fault.ts";
import { startOf } from "../proof/sweep/fields.ts";
import { openFixture } from "../proof/sweep/fixture.ts";
import { appName, base, isDriver, isExecutor, type Scenario } from "../proof/sweep/scenario.ts";
import { type Figure, quantile } from "./figures.ts";

type Level = readonly [fromMs: number, executors: number];

/** Long enough for the idle timeout of 60 s, and no multiple of the 5 s between two looks. */
const levelMs = 137_300;
const levels = 24;
const most = 16;
/** From SIGTERM to the end of an executor's process. */
const stopMs = 2_000;
const heights = [12, 0, 5, 1, most, 2, 8, 3] as const;
const bursts: readonly Level[] = Array.from({ length: levels }, (_, index) => [
  index * levelMs,
  heights[index % heights.length] ?? 0,
]);

/** Executors are created by Rekindle, or by the driver's own dynamic allocation. */
type Mode = "own" | "assist";

const scenarioOf = (gauge: readonly Level[], mode: Mode): Scenario => ({
  name: "elastic-bench",
  what: "bursts of work",
  spec: {
    ...{ ...base, executor: { cores: 1, memory: "512m" } },
    dynamicAllocation: { enabled: true, maxExecutors: most },
  },
  annotations: { "rekindle.dev/executors": mode },
  scripts: { [appName]: [{ jobMs: levels * levelMs, gauge, executors: { "*": { busyMs: 0, stopMs } } }] },
  userActions: [],
  ends: "COMPLETED",
  breadth: "sparse",
});

type Life = { readonly from: number; leftAt?: number; until?: number };

type Course = {
  /** Start of the driver's container, from which the levels count, and its end. Epoch ms, as all times here. */
  readonly began: number;
  readonly ended: number;
  readonly lives: readonly Life[];
  /** Requests of steps to the API server. */
  readonly requests: number;
};

const isOver = ({ type, object }: Change): boolean =>
  type === "DELETED" || ["Succeeded", "Failed"].includes(Object(object["status"])["phase"]);

/** Notes when the driver began and ended, and when executors came and left. */
const openNotes = () => {
  const lives = new Map<string, Life>();
  let [began, ended] = [Number.NaN, Number.NaN];
  const noteDriver = (change: Change, now: number): void => {
    if (Number.isNaN(began)) began = startOf(change.object) ?? Number.NaN;
    if (Number.isNaN(ended) && isOver(change)) ended = now;
  };
  const noteExecutor = (change: Change, now: number): void => {
    const { uid, deletionTimestamp } = change.object.metadata;
    const life = lives.get(uid) ?? { from: now };
    lives.set(uid, life);
    if (deletionTimestamp !== undefined) life.leftAt ??= now;
    if (isOver(change)) life.until ??= now;
  };
  return {
    note: (change: Change, now: number): void => {
      if (change.table !== "pods") return;
      if (isDriver(change)) noteDriver(change, now);
      if (isExecutor(change)) noteExecutor(change, now);
    },
    read: () => ({ began, ended, lives: [...lives.values()] }),
  };
};

const longest = { invocations: 10_000, ms: 86_400_000 } as const;

/** Runs the application to its end. */
const followed = async (gauge: readonly Level[], mode: Mode = "own"): Promise<Course> => {
  const fixture = openFixture(scenarioOf(gauge, mode));
  const execution = new Execution(fixture, fixture.initial, noFault);
  const notes = openNotes();
  const hear = fixture.subscriber;
  fixture.subscriber = (change) => {
    hear?.(change);
    notes.note(change, execution.now());
  };
  if (!(await runToRest(execution, longest))) throw new Error("the application never comes to rest");
  const violations = execution.oracle.violations();
  if (violations.length > 0) throw new Error(violations.join("; "));
  const requests = execution.calls.filter(({ by, via }) => by === "step" && via === "api").length;
  return { ...notes.read(), requests };
};

/** The time from the beginning of the level that a moment is in to the moment, ms. */
const sinceLevel = ({ began }: Course, at: number): number => (at - began) % levelMs;

const hours = (ms: number): number => ms / 3_600_000;

const needed = ({ began, ended }: Course): number =>
  bursts.reduce((sum, [from, count]) => sum + count * Math.max(0, Math.min(levelMs, ended - began - from)), 0);

/** The executors that are there, as core-hours. */
const used = ({ lives, ended }: Course): number =>
  hours(lives.reduce((sum, { from, until = ended }) => sum + Math.min(until, ended) - from, 0));

/** Times of executors from the beginning of a level of the demand, ms. */
type Times = { readonly came: readonly number[]; readonly left: readonly number[]; readonly gone: readonly number[] };

/** The first level is there before the driver listens, and the end of the job ends the last executors. */
const timesOf = (course: Course): Times => {
  const { lives, began, ended } = course;
  const isEarly = (at: number | undefined): at is number => at !== undefined && at < ended - 30_000;
  const since = (moments: readonly number[]) => moments.map((at) => sinceLevel(course, at));
  return {
    came: since(lives.map(({ from }) => from).filter((from) => from > began + levelMs)),
    left: since(lives.map(({ leftAt }) => leftAt).filter(isEarly)),
    gone: since(lives.map(({ until }) => until).filter(isEarly)),
  };
};

/** The idle timeout, one look at the demand, and the time in which an executor's process ends, s. */
const goneAimS = 60 + 5 + stopMs / 1_000;

const timeFigures = (own: Times, drivers: Times): readonly Figure[] => {
  const seconds = (times: readonly number[], part: number): number => quantile(times, part) / 1_000;
  return [
    { name: "elastic.demand-to-POST.p50", value: quantile(own.came, 0.5), unit: "ms", aim: 5_030 },
    { name: "elastic.demand-to-POST.p95", value: quantile(own.came, 0.95), unit: "ms", aim: 5_030 },
    { name: "elastic.demand-to-POST.p50.by-the-driver", value: quantile(drivers.came, 0.5), unit: "ms" },
    { name: "elastic.idle-to-DELETE.p50", value: seconds(own.left, 0.5), unit: "s", floor: 60 },
    { name: "elastic.idle-to-DELETE.p95", value: seconds(own.left, 0.95), unit: "s", floor: 60 },
    { name: "elastic.idle-to-gone.p50", value: seconds(own.gone, 0.5), unit: "s", floor: 60, aim: goneAimS },
    { name: "elastic.idle-to-gone.p95", value: seconds(own.gone, 0.95), unit: "s", floor: 60, aim: goneAimS },
    { name: "elastic.idle-to-gone.p50.by-the-driver", value: seconds(drivers.gone, 0.5), unit: "s", floor: 60 },
  ];
};

export const benchElastic = async (): Promise<readonly Figure[]> => {
  const own = await followed(bursts);
  const drivers = await followed(bursts, "assist");
  const steady = await followed([[0, bursts[0]?.[1] ?? 1]]);
  const times = timesOf(own);
  const steadyMinutes = (steady.ended - steady.began) / 60_000;
  const floor = hours(needed(own));
  return [
    ...timeFigures(times, timesOf(drivers)),
    {
      ...{ name: "elastic.api-requests-per-change-of-demand", unit: "requests" },
      value: (own.requests - steady.requests) / (levels - 1),
      // One for each executor that comes or leaves.
      floor: (times.came.length + times.left.length) / (levels - 1),
    },
    {
      ...{ name: "elastic.api-requests-per-minute-of-steady-demand", unit: "requests" },
      value: steady.requests / steadyMinutes,
      // One look in five seconds.
      floor: 12,
    },
    { name: "elastic.core-hours", value: used(own), unit: "core-h", floor, aim: Number(used(drivers).toFixed(2)) },
    { name: "elastic.core-hours.by-the-driver", value: used(drivers), unit: "core-h", floor: hours(needed(drivers)) },
    {
      ...{ name: `elastic.core-hours.${most}-fixed-executors`, unit: "core-h", floor },
      value: hours(most * (own.ended - own.began)),
    },
  ];
};

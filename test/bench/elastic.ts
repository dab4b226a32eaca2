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
const heights = [12, 0, 5, 1, most, 2, 8, 3] as const;
const bursts: readonly Level[] = Array.from({ length: levels }, (_, index) => [
  index * levelMs,
  heights[index % heights.length] ?? 0,
]);

const scenarioOf = (gauge: readonly Level[]): Scenario => ({
  name: "elastic-bench",
  what: "bursts of work",
  spec: {
    ...{ ...base, executor: { cores: 1, memory: "512m" } },
    dynamicAllocation: { enabled: true, maxExecutors: most },
  },
  annotations: { "rekindle.dev/executors": "own" },
  scripts: { [appName]: [{ jobMs: levels * levelMs, gauge, executors: { "*": { busyMs: 0, stopMs: 2_000 } } }] },
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
const followed = async (gauge: readonly Level[]): Promise<Course> => {
  const fixture = openFixture(scenarioOf(gauge));
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

export const benchElastic = async (): Promise<readonly Figure[]> => {
  const course = await followed(bursts);
  const steady = await followed([[0, bursts[0]?.[1] ?? 1]]);
  const { lives, began, ended } = course;
  // The first level is there before the driver listens, and the end of the job ends the last executors.
  const came = lives.filter(({ from }) => from > began + levelMs).map(({ from }) => sinceLevel(course, from));
  const left = lives.flatMap(({ leftAt }) =>
    leftAt === undefined || leftAt >= ended - 30_000 ? [] : [sinceLevel(course, leftAt)],
  );
  const used = lives.reduce((sum, { from, until = ended }) => sum + Math.min(until, ended) - from, 0);
  return [
    { name: "elastic.demand-to-POST.p50", value: quantile(came, 0.5), unit: "ms", aim: 5_030 },
    { name: "elastic.demand-to-POST.p95", value: quantile(came, 0.95), unit: "ms", aim: 5_030 },
    { name: "elastic.idle-to-DELETE.p50", value: quantile(left, 0.5) / 1_000, unit: "s" },
    { name: "elastic.idle-to-DELETE.p95", value: quantile(left, 0.95) / 1_000, unit: "s" },
    {
      name: "elastic.api-requests-per-change-of-demand",
      value: (course.requests - steady.requests) / (levels - 1),
      unit: "requests",
    },
    {
      name: "elastic.api-requests-per-minute-of-steady-demand",
      value: steady.requests / ((steady.ended - steady.began) / 60_000),
      unit: "requests",
    },
    { name: "elastic.core-hours", value: hours(used), unit: "core-h", floor: hours(needed(course)) },
    { name: `elastic.core-hours.${most}-fixed-executors`, value: hours(most * (ended - began)), unit: "core-h" },
  ];
};

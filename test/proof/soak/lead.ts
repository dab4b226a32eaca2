/** Leads one life from its seed to its verdict: faults for half an hour, then all heals and must come to rest. */
import { openChance } from "../sweep/chance.ts";
import { everything } from "../sweep/ending.ts";
import { type Bounds, calm, runToRest } from "../sweep/event-loop.ts";
import { Execution } from "../sweep/execution.ts";
import { at, textAt } from "../sweep/fields.ts";
import type { InitialCluster } from "../sweep/fixture.ts";
import { namespace } from "../sweep/scenario.ts";
import { type Counts, openJudging } from "./census.ts";
import { happen } from "./deeds.ts";
import { fixtureFor } from "./fixture.ts";
import { lifeOf, troubledMs } from "./life.ts";
import { openReplaying } from "./replay.ts";
import type { Rule } from "./rules.ts";
import { openWeather, type Weather } from "./weather.ts";

export type Led = {
  readonly seed: number;
  readonly violations: readonly string[];
  /** Invocations: steps and resyncs. */
  readonly steps: number;
  /** Requests and messages of all invocations. */
  readonly calls: number;
  /** Decisions that were taken again from their recordings. */
  readonly replayed: number;
  readonly simulatedMs: number;
  readonly counts: Counts;
  readonly lines: readonly string[];
};

const bounds: Bounds = { invocations: 20_000, ms: 48 * 3_600_000 };
const apps = "sparkapplications.sparkoperator.k8s.io";

/**
 * True for an application that runs again without end: its policy is Always, or each failure counts as trouble, which
 * spends no retry.
 */
const isEndless = (app: unknown): boolean =>
  textAt(app, "spec", "restartPolicy", "type") === "Always" ||
  textAt(app, "metadata", "annotations", "rekindle.dev/restart-on") !== undefined;

/** Ends the faults, thaws the nodes, and deletes applications that run again without end and so would never rest. */
const heal = (execution: Execution, weather: Weather): void => {
  weather.clear();
  for (const { metadata } of execution.fixture.simulator.store.list("nodes"))
    happen(execution, { do: "thaw", node: metadata.name });
  for (const app of execution.fixture.simulator.store.list(apps).filter(isEndless))
    happen(execution, { do: "delete", name: app.metadata.name });
};

const quietly = async (execution: Execution): Promise<readonly string[]> => {
  const { writes } = execution;
  for (const { metadata } of execution.fixture.simulator.store.list(apps))
    happen(execution, { do: "trigger", name: metadata.name, times: 1 });
  await calm(execution, bounds);
  return execution.writes === writes
    ? []
    : [`quiet: a delivery wrote ${execution.writes - writes} time(s) after the end`];
};

/** Reports driver pods that are not being deleted and whose owning application is gone. */
const leftOver = (execution: Execution): readonly string[] => {
  const pods = execution.fixture.simulator.store
    .list("pods")
    .filter(({ metadata }) => metadata.namespace === namespace);
  const uids = new Set(execution.fixture.simulator.store.list(apps).map(({ metadata }) => metadata.uid));
  return pods
    .filter(
      ({ metadata }) => metadata.labels?.["spark-role"] === "driver" && at(metadata, "deletionTimestamp") === undefined,
    )
    .filter(({ metadata }) => !(metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid)))
    .map(({ metadata }) => `end: ${metadata.name} is left and is nobody's`);
};

export type Leading = {
  readonly initialCluster: InitialCluster;
  readonly rule: Rule;
  readonly trace?: boolean;
  /** True: each decision is taken again from its recording. */
  readonly replay?: boolean;
};

export const lead = async (
  { initialCluster, rule, trace = false, replay = false }: Leading,
  seed: number,
): Promise<Led> => {
  const replaying = replay ? openReplaying() : undefined;
  const chance = openChance(`life ${seed}`);
  const life = lifeOf(chance);
  const judging = openJudging(rule.strictly);
  const weather = openWeather(openChance(`weather ${seed}`), life.rates);
  const fixture = fixtureFor(initialCluster, judging, replaying?.takes ?? rule.takes?.(openChance(`names ${seed}`)));
  const execution = new Execution(fixture, fixture.initial, weather, { trace });
  for (const { at: when, deed } of life.deeds) execution.later(when, () => happen(execution, deed));
  execution.later(troubledMs, () => heal(execution, weather));
  const calmed = await runToRest(execution, bounds);
  const { oracle } = execution;
  oracle.end(everything(fixture.simulator.store), execution.now());
  const restless = calmed ? [] : ["end: it never comes to rest"];
  const noisy = calmed && rule.strictly ? await quietly(execution) : [];
  return {
    seed,
    violations: rule.strictly
      ? [...oracle.violations(), ...restless, ...noisy, ...leftOver(execution), ...(replaying?.differences ?? [])]
      : [],
    steps: execution.count.invocations,
    calls: execution.count.calls,
    replayed: replaying?.replayed() ?? 0,
    simulatedMs: execution.now() - fixture.start,
    counts: judging.counts,
    lines: execution.lines ?? [],
  };
};

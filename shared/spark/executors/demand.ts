/**
 * The demand of a driver whose allocator is held at zero: the bounds that the user set, the driver's own gauge of the
 * executors that it needs, and the number of executors that follows from both. The number rises after the user's
 * backlog timeout and falls at most once in the user's idle timeout, so that a gauge that flaps costs no pods. Nobody
 * knows what the driver needed between answers that are far apart: such a time does not count as idle, and a long one
 * begins the idle timeout again.
 */
import * as z from "zod";
import type { Ref } from "../../core/object.ts";
import type { ProbeResult, Query } from "../../core/plan.ts";
import { instant } from "../../kube/schema.ts";
import { countIn, msIn, type Texts } from "../configuration/conf.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { mostExecutors } from "../schema/limits.ts";
import { isDynamic } from "../schema/rules.ts";

export type Scale = {
  /** Bounds of the number of executors. */
  readonly least: number;
  readonly most: number;
  /** The number at the start, until the driver needs one or is idle. */
  readonly initial: number;
  /** The driver needs more for this long before executors are created, ms. */
  readonly backlogMs: number;
  /** The driver needs fewer for this long before executors leave, ms. */
  readonly idleMs: number;
  /** Tasks that run at once in an executor. */
  readonly slots: number;
};

/** The state of a run's demand. Saved only when it changes; times in epoch ms. */
export const demandShape = z.object({
  /** The number of executors that are wanted. */
  target: z.int().min(0).max(mostExecutors),
  /** Time of the answer that last changed the state. */
  at: instant,
  /** The initial number stands until then, or until the driver needs an executor. */
  initialUntil: instant.optional(),
  /** Since when the driver needs more than the target. */
  moreSince: instant.optional(),
  /** Since when the driver needs fewer, the most that it needed in that time, and the time of an answer that said so. */
  fewer: z.object({ since: instant, most: z.int().min(0).max(mostExecutors), seen: instant.optional() }).optional(),
});

export type Demand = z.infer<typeof demandShape>;

/** The least time between two requests for the gauge, ms: one that asks for more is answered by the next step. */
export const gaugeEveryMs = 5_000;

const conf = (name: string): string => `spark.dynamicAllocation.${name}`;

/** Spark counts these timeouts in seconds where they have no unit. */
const spanIn = (confs: Texts, name: string): number | undefined => msIn(confs, conf(name), 1_000);

const slotsIn = ({ executor }: SparkApplicationSpec, confs: Texts): number => {
  const cores = executor.cores ?? countIn(confs, "spark.executor.cores") ?? 1;
  return Math.max(1, Math.floor(cores / (countIn(confs, "spark.task.cpus") ?? 1)));
};

/** The bounds of dynamic allocation, as Spark reads them: fields win over confs. Undefined where it is off. */
export const scaleOf = (spec: SparkApplicationSpec): Scale | undefined => {
  if (!isDynamic(spec)) return undefined;
  const { sparkConf: confs = {}, dynamicAllocation: field = {}, executor } = spec;
  const number = (name: "minExecutors" | "maxExecutors" | "initialExecutors"): number =>
    (field.enabled === true ? field[name] : undefined) ?? countIn(confs, conf(name)) ?? 0;
  const least = Math.min(mostExecutors, number("minExecutors"));
  const most = Math.max(1, least, Math.min(mostExecutors, number("maxExecutors") || mostExecutors));
  const instances = executor.instances ?? countIn(confs, "spark.executor.instances") ?? 0;
  return {
    least,
    most,
    initial: Math.min(most, Math.max(least, number("initialExecutors"), instances)),
    backlogMs: spanIn(confs, "schedulerBacklogTimeout") ?? 1_000,
    idleMs: spanIn(confs, "executorIdleTimeout") ?? 60_000,
    slots: slotsIn(spec, confs),
  };
};

const within = ({ least, most }: Scale, count: number): number => Math.min(most, Math.max(least, count));

/** The first state: the initial number, or as many as live already after a record was lost. */
export const firstDemand = (scale: Scale, living: number, now: number): Demand => ({
  target: within(scale, Math.max(scale.initial, living)),
  at: now,
  initialUntil: now + scale.idleMs,
});

/** The number of executors that the driver is to have, within bounds that may have changed since. */
export const targetOf = (scale: Scale, demand: Demand | undefined): number =>
  demand === undefined ? scale.initial : within(scale, demand.target);

/** A timeout that is over before the next answer has no effect of its own: two answers are this far apart. */
const isLasting = (since: number, timeoutMs: number, now: number): boolean =>
  timeoutMs <= gaugeEveryMs || now >= since + timeoutMs;

const rising = (scale: Scale, demand: Demand, need: number, now: number): Demand => {
  const { fewer: _, moreSince = now, ...rest } = demand;
  if (!isLasting(moreSince, scale.backlogMs, now)) return { ...rest, at: now, moreSince };
  return { ...rest, at: now, target: need };
};

/** Answers are saved this often while the driver needs fewer, ms: without saved answers, its need is unknown. */
const savedEvery = ({ idleMs }: Scale): number => Math.max(gaugeEveryMs, idleMs / 4);

/** Answers come this much too early or too late, ms. */
const jitterMs = gaugeEveryMs / 2;

/**
 * An answer that is missing, or whose save failed, makes the time between two saved answers longer. That time counts
 * as idle only as far as saved answers are usually apart.
 */
const falling = (scale: Scale, demand: Demand, need: number, now: number): Demand => {
  const { moreSince: _, fewer: before, ...rest } = demand;
  const everyMs = savedEvery(scale);
  const isKnown = before !== undefined && now <= (before.seen ?? before.since) + 2 * everyMs + gaugeEveryMs;
  const { since: first, most: mostBefore, seen = first } = isKnown ? before : { since: now, most: need };
  const since = first + Math.max(0, now - (seen + everyMs + jitterMs));
  const most = Math.max(mostBefore, need);
  if (now >= since + scale.idleMs) return { ...rest, at: now, target: most };
  return { ...rest, at: now, fewer: { since, most, seen: now < seen + everyMs - jitterMs ? seen : now } };
};

const isSame = (a: Demand, b: Demand): boolean =>
  a.target === b.target &&
  a.initialUntil === b.initialUntil &&
  a.moreSince === b.moreSince &&
  a.fewer?.since === b.fewer?.since &&
  a.fewer?.most === b.fewer?.most &&
  a.fewer?.seen === b.fewer?.seen;

/** The state after an answer of the gauge. An answer that changes nothing returns the same state. */
export const demandAfter = (scale: Scale, before: Demand, gauge: number, now: number): Demand => {
  const need = within(scale, gauge);
  const { initialUntil, ...rest } = before;
  if (initialUntil !== undefined && gauge === 0 && now < initialUntil) return before;
  // A driver that has been idle since its start has needed fewer for the idle timeout already.
  const idle = initialUntil === undefined || gauge > 0 ? undefined : initialUntil - scale.idleMs;
  const demand: Demand = {
    ...rest,
    target: within(scale, before.target),
    ...(idle === undefined ? {} : { fewer: { since: idle, most: need, seen: now } }),
  };
  const next =
    need > demand.target
      ? rising(scale, demand, need, now)
      : need < demand.target
        ? falling(scale, demand, need, now)
        : { target: need, at: now };
  return isSame(before, next) ? before : next;
};

/** The query of the driver's metrics. The path ends with a slash: without it, Spark answers with a redirect. */
export const gaugeQuery = (pod: Ref, port: number): Extract<Query, { do: "proxyGet" }> => ({
  do: "proxyGet",
  pod,
  port,
  path: ["metrics", "json", ""],
});

/** The end of the gauge's name: the namespace before it is the application's id, or `spark.metrics.namespace`. */
const gaugeName = ".driver.ExecutorAllocationManager.executors.numberMaxNeededExecutors";

const metrics = z.looseObject({ gauges: z.record(z.string(), z.unknown()) });
const gauge = z.looseObject({ value: z.number().min(0) });

/** The number of executors that the driver needs for its pending and running tasks; undefined without a valid answer. */
export const gaugeIn = (hearing: ProbeResult): number | undefined => {
  const { data } = metrics.safeParse(hearing.heard ? hearing.value : undefined);
  const found = Object.entries(data?.gauges ?? {}).filter(([name]) => name.endsWith(gaugeName));
  const [one, ...others] = found.map(([, value]) => gauge.safeParse(value).data?.value);
  return one === undefined || others.length > 0 ? undefined : Math.min(mostExecutors, Math.ceil(one));
};

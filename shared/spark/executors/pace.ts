/** How fast executors are made: as the annotations say, else as the user told Spark, else our own defaults. */
import type { Texts } from "../submission/conf.ts";
import type { Pace } from "./allocate.ts";

type Asked = {
  readonly executorBatch: number | undefined;
  readonly executorIntervalMs: number | undefined;
  readonly executorMaxPending: number | undefined;
  readonly registrationMs: number;
};

const defaultBatch = 500;
const defaultIntervalMs = 1_000;

const countIn = (confs: Texts, key: string): number | undefined => {
  const text = confs[key]?.trim() ?? "";
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
};

const factors: Readonly<Record<string, number>> = { ms: 1, "": 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 };

/** A time as Spark reads one; without a unit it counts milliseconds. */
const msIn = (confs: Texts, key: string): number | undefined => {
  const [, amount, unit = ""] = /^(\d{1,9})(ms|s|min|m|h)?$/.exec(confs[key]?.trim() ?? "") ?? [];
  const ms = Number(amount) * (factors[unit] ?? 1);
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
};

/** `confs` are the user's own. */
export const paceOf = (asked: Asked, confs: Texts): Pace => ({
  batch: asked.executorBatch ?? countIn(confs, "spark.kubernetes.allocation.batch.size") ?? defaultBatch,
  intervalMs: asked.executorIntervalMs ?? msIn(confs, "spark.kubernetes.allocation.batch.delay") ?? defaultIntervalMs,
  maxPending:
    asked.executorMaxPending ??
    countIn(confs, "spark.kubernetes.allocation.maxPendingPods") ??
    Number.POSITIVE_INFINITY,
  registrationMs: asked.registrationMs,
});

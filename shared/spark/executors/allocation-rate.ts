/** The rate at which executors are created: by the annotations, else by Spark's confs, else by Rekindle's defaults. */
import type { Texts } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";
import type { Pace } from "./allocate.ts";

type Asked = {
  readonly executorBatch: number | undefined;
  readonly executorIntervalMs: number | undefined;
  readonly executorMaxPending: number | undefined;
  readonly registrationMs: number;
};

const defaultBatch = 500;
/** The most executors created in one step, whatever is asked: building more would delay every other application. */
export const mostInBatch = 1_000;
const defaultIntervalMs = 1_000;

const countIn = (confs: Texts, key: string): number | undefined => {
  const text = confs[key]?.trim() ?? "";
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
};

/** Spark's units in ms, as JavaUtils.timeStringAs, in any case. */
const factors: Readonly<Record<string, number>> = {
  ...{ us: 0.001, ms: 1, "": 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
};

/** A duration as Spark reads it; without a unit it counts milliseconds. */
const msIn = (confs: Texts, key: string): number | undefined => {
  const [, amount, unit = ""] = /^(\d{1,9})(us|ms|s|min|m|h|d)?$/.exec(confs[key]?.trim().toLowerCase() ?? "") ?? [];
  const ms = Number(amount) * (factors[unit] ?? 1);
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
};

/** The limit of pending pods. An own run has one resource profile, so both limits apply to all its executors. */
const pendingIn = (confs: Texts): number =>
  Math.min(
    ...["maxPendingPods", "maxPendingPodsPerRp"].map(
      (name) => countIn(confs, `spark.kubernetes.allocation.${name}`) ?? Number.POSITIVE_INFINITY,
    ),
  );

export const batchConf = "spark.kubernetes.allocation.batch.size";
const maximumConf = "spark.kubernetes.allocation.maximum";

/** The batch size in the user's confs. */
export const batchIn = (confs: Texts): number | undefined => countIn(confs, batchConf);

/** `confs` are the user's own. */
export const paceOf = (asked: Asked, confs: Texts, { executors }: Pick<Rules, "executors">): Pace => ({
  batch: Math.min(mostInBatch, asked.executorBatch ?? batchIn(confs) ?? defaultBatch),
  mostIds: executors.maximum ? (countIn(confs, maximumConf) ?? Number.POSITIVE_INFINITY) - 1 : Number.POSITIVE_INFINITY,
  intervalMs: asked.executorIntervalMs ?? msIn(confs, "spark.kubernetes.allocation.batch.delay") ?? defaultIntervalMs,
  maxPending: asked.executorMaxPending ?? pendingIn(confs),
  registrationMs: asked.registrationMs,
});

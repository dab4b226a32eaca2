/** The rate at which executors are created: by the annotations, else by Spark's confs, else by Rekindle's defaults. */
import { countIn, msIn, type Texts } from "../configuration/conf.ts";
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

/**
 * SparkCluster v1 and v1beta1 of `spark.apache.org`, in the shape of upstream's CRDs, and the limits of its fields. Specs of
 * StatefulSets, Services and autoscalers are opaque: any that the API server accepts.
 */
import * as z from "zod";
import { type Limit, limitsOf } from "../../kube/limits.ts";
import { attemptInfo, shownState } from "../apache/spec/states.ts";
import { versionLimits, versionsSchema } from "../apache/spec/versions.ts";

const embedded = z.looseObject({});

const count = z.int().nonnegative().max(1_000_000);

const nodes = {
  statefulSetSpec: embedded.optional(),
  statefulSetMetadata: embedded.optional(),
  serviceSpec: embedded.optional(),
  serviceMetadata: embedded.optional(),
};

/** `spec` of a SparkCluster. `suspend` came after release 1.0: its CRDs drop the field. */
export const clusterSpecSchema = z.looseObject({
  runtimeVersions: versionsSchema,
  sparkConf: z.record(z.string(), z.string()).optional(),
  clusterTolerations: z.looseObject({
    instanceConfig: z.looseObject({ initWorkers: count, minWorkers: count, maxWorkers: count }),
  }),
  masterSpec: z.looseObject(nodes).optional(),
  workerSpec: z.looseObject({ ...nodes, horizontalPodAutoscalerSpec: embedded.optional() }).optional(),
  suspend: z.boolean().optional(),
});

export type ClusterSpec = z.infer<typeof clusterSpecSchema>;

const attemptSchema = z.looseObject({
  attemptInfo: attemptInfo.optional(),
  stateTransitionHistory: z.record(z.string(), shownState).optional(),
});

/** `status`, which steps read with `statesIn`. */
export const clusterStatusSchema = z.looseObject({
  currentState: shownState.optional(),
  stateTransitionHistory: z.record(z.string(), shownState).optional(),
  currentAttemptSummary: attemptSchema.optional(),
  previousAttemptSummary: attemptSchema.optional(),
});

const rows: readonly Limit[] = [
  ...versionLimits,
  { field: "sparkConf", entries: 2_000, why: "Spark itself knows fewer than 1,000 properties" },
  { field: "sparkConf.*", characters: 65_536, why: "all properties stand in one variable of a container" },
];

/** The errors of a spec that exceeds its limits. */
export const clusterLimits = limitsOf(rows);

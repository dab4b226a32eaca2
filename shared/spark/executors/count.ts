/** The executors of a driver or server, by their pods, and how many its spec asks for. */
import * as z from "zod";
import type { Obj, Stored } from "../../core/object.ts";
import type { ExecutorCount } from "../../kube/object-state.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";

const executorSpec = z.object({
  executor: z.object({ instances: z.number().optional() }).optional(),
  dynamicAllocation: z.object({ enabled: z.boolean().optional() }).optional(),
  sparkConf: z.record(z.string(), z.string()).default({}),
});

/** The number of executors that a spec asks for; undefined where the driver's demand decides. */
const wantedExecutors = (spec: unknown): number | undefined => {
  const { data } = executorSpec.safeParse(spec);
  if (data === undefined) return undefined;
  const { executor, dynamicAllocation, sparkConf } = data;
  const byConfs = sparkConf["spark.dynamicAllocation.enabled"]?.trim().toLowerCase() === "true";
  if (dynamicAllocation?.enabled === true || byConfs) return undefined;
  const byConf = Number(sparkConf["spark.executor.instances"]);
  return executor?.instances ?? (Number.isInteger(byConf) ? byConf : 1);
};

/** The number of executors that a spec states, whatever the driver asks for. */
export const statedExecutors = (spec: unknown): number => executorSpec.safeParse(spec).data?.executor?.instances ?? 1;

/** Counts the executors of a driver or server that runs, by their pods. */
export const executorCount = (object: Obj, pods: readonly Stored[]): ExecutorCount => {
  const own = pods.filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");
  const running = own.filter((pod) => podStatus(pod).phase === "Running" && !isEnding(pod)).length;
  return { running, wanted: wantedExecutors(object.spec) };
};

/**
 * Upstream's estimate of what an application requests, for deployments whose users plan by it: the fields of the spec
 * alone, without confs, coreRequest, sidecars and dynamic allocation. As its webhook's resource quota enforcement.
 */
import { amountOf } from "../../kube/quantity.ts";
import { bytesOf, ratioOf } from "../configuration/conf.ts";
import type { SparkApplicationSpec, SparkPodSpec } from "../schema/application.ts";

const leastOverhead = 384 * 2 ** 20;

/** The overhead factor. Upstream counts only Java as a JVM program, Scala not. */
const factorOf = ({ memoryOverheadFactor, type }: SparkApplicationSpec): number =>
  ratioOf(memoryOverheadFactor ?? "") ?? (type === "Java" ? 0.1 : 0.4);

const memoryOf = ({ memory, memoryOverhead }: SparkPodSpec, factor: number): number => {
  const bytes = bytesOf(memory ?? "0", "m") ?? 0;
  const overhead = memoryOverhead === undefined ? undefined : bytesOf(memoryOverhead, "m");
  return bytes + (overhead ?? Math.floor(Math.max(bytes * factor, leastOverhead)));
};

/** Driver and executors together, by the resource names of quotas: cores, bytes. The spec has its defaults. */
export const upstreamEstimate = (spec: SparkApplicationSpec): Readonly<Record<string, number>> => {
  const pods: readonly (readonly [SparkPodSpec, number])[] = [
    [spec.driver, 1],
    [spec.executor, spec.executor.instances ?? 1],
  ];
  const sum = (each: (pod: SparkPodSpec) => number): number =>
    pods.reduce((total, [pod, count]) => total + each(pod) * count, 0);
  const cores = sum((pod) => pod.cores ?? 1);
  const limit = sum(({ coreLimit, cores: own }) => amountOf(coreLimit ?? "") ?? own ?? 1);
  const memory = sum((pod) => memoryOf(pod, factorOf(spec)));
  return {
    ...{ cpu: cores, "requests.cpu": cores, "limits.cpu": limit },
    ...{ memory, "requests.memory": memory, "limits.memory": memory },
  };
};

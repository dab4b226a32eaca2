/** The resource requests of an application for batch schedulers, as upstream's resourceusage package. */

import { bytesOf, ratioOf } from "../configuration/quantity.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import type { SparkPodSpec } from "../schema/pod.ts";

export type Amounts = { readonly cpu: string; readonly memory: string };

const mebi = 2 ** 20;
const leastOverhead = 384 * mebi;

const cpuOf = ({ cores, coreRequest }: SparkPodSpec): string => coreRequest ?? `${cores ?? 1}`;

const factorOf = ({ memoryOverheadFactor, type }: SparkApplicationSpec): number =>
  ratioOf(memoryOverheadFactor ?? "") ?? (type === "Java" || type === "Scala" ? 0.1 : 0.4);

const bytesOfPod = (spec: SparkApplicationSpec, { memory, memoryOverhead }: SparkPodSpec): number => {
  const bytes = bytesOf(memory ?? "", "m") ?? 0;
  const overhead =
    memoryOverhead === undefined
      ? Math.floor(Math.max(bytes * factorOf(spec), leastOverhead))
      : (bytesOf(memoryOverhead, "m") ?? 0);
  return bytes + overhead;
};

/** Memory of executors that only confs ask for, bytes. */
const besides = ({ type, sparkConf = {} }: SparkApplicationSpec): number => {
  const python = type === "Python" ? (bytesOf(sparkConf["spark.executor.pyspark.memory"] ?? "", "m") ?? 0) : 0;
  const offHeap = (sparkConf["spark.memory.offHeap.enabled"] ?? "false") !== "false";
  return python + (offHeap ? (bytesOf(sparkConf["spark.memory.offHeap.size"] ?? "", "b") ?? 0) : 0);
};

const inMebi = (bytes: number): string => `${Math.floor(bytes / mebi)}Mi`;

export const driverAmounts = (spec: SparkApplicationSpec): Amounts => ({
  cpu: cpuOf(spec.driver),
  memory: inMebi(bytesOfPod(spec, spec.driver)),
});

export const executorAmounts = (spec: SparkApplicationSpec): Amounts => ({
  cpu: cpuOf(spec.executor),
  memory: inMebi(bytesOfPod(spec, spec.executor) + besides(spec)),
});

/** The number of executors that the driver requests at its start. */
export const firstExecutors = ({ executor, dynamicAllocation }: SparkApplicationSpec): number =>
  Math.max(0, executor.instances ?? 0, dynamicAllocation?.minExecutors ?? 0, dynamicAllocation?.initialExecutors ?? 0);

/** Thousandths of a quantity of cores; 0 for an invalid one, which was refused before. */
const milliOf = (text: string): number => {
  const [, amount = "0", unit = ""] = /^([\d.]+)(m?)$/.exec(text) ?? [];
  return Math.ceil(Number(amount) * (unit === "m" ? 1 : 1_000));
};

const mebiOf = ({ memory }: Amounts): number => Number.parseInt(memory, 10);

/** Writes MiB in the largest unit that gives a whole number, as Kubernetes does. */
const binary = (amount: number): string => {
  const units = ["Mi", "Gi", "Ti", "Pi"];
  let at = 0;
  let left = amount;
  while (left >= 1_024 && left % 1_024 === 0 && at < units.length - 1) {
    left /= 1_024;
    at += 1;
  }
  return `${left}${units[at]}`;
};

/** Driver and first executors together. */
export const totalAmounts = (spec: SparkApplicationSpec): Amounts => {
  const driver = driverAmounts(spec);
  const executor = executorAmounts(spec);
  const count = firstExecutors(spec);
  const milli = milliOf(driver.cpu) + count * milliOf(executor.cpu);
  return {
    cpu: milli % 1_000 === 0 ? `${milli / 1_000}` : `${milli}m`,
    memory: binary(mebiOf(driver) + count * mebiOf(executor)),
  };
};

/** An executor's cores and memory (heap, off-heap, Python, overhead), as Spark's default resource profile. */
import type { Conf } from "../configuration/conf.ts";
import { countOf, flagOf, mebibytesIn, ratioIn } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";

export type Amounts = {
  readonly cores: number;
  /** MiB. */
  readonly heap: number;
  /** MiB, all of the container. */
  readonly memory: number;
};

const defaultHeap = 1024;
const defaultOverhead = 384;
const defaultFactor = 0.1;

const overheadOf = (conf: Conf, rules: Rules, heap: number): number => {
  const factor =
    ratioIn(conf, "spark.executor.memoryOverheadFactor") ??
    ratioIn(conf, "spark.kubernetes.memoryOverheadFactor") ??
    defaultFactor;
  const least = rules.minOverheadConf ? mebibytesIn(conf, "spark.executor.minMemoryOverhead") : undefined;
  return (
    mebibytesIn(conf, "spark.executor.memoryOverhead") ?? Math.max(Math.trunc(factor * heap), least ?? defaultOverhead)
  );
};

const bytesInMebibyte = 2 ** 20;

/** The off-heap memory in MiB; a size without unit counts bytes. */
const offHeapOf = (conf: Conf): number => {
  if (!flagOf(conf, "spark.memory.offHeap.enabled")) return 0;
  const text = conf.get("spark.memory.offHeap.size") ?? "0";
  return /^\d+$/.test(text.trim())
    ? Math.floor(Number(text) / bytesInMebibyte)
    : (mebibytesIn(conf, "spark.memory.offHeap.size") ?? 0);
};

const pythonOf = (conf: Conf): number =>
  conf.get("spark.kubernetes.resource.type") === "python"
    ? (mebibytesIn(conf, "spark.executor.pyspark.memory") ?? 0)
    : 0;

export const amountsOf = (conf: Conf, rules: Rules): Amounts => {
  const heap = mebibytesIn(conf, "spark.executor.memory") ?? defaultHeap;
  const memory = heap + overheadOf(conf, rules, heap) + offHeapOf(conf) + pythonOf(conf);
  return { cores: countOf(conf, "spark.executor.cores", 1), heap, memory };
};

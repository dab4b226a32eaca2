/**
 * The memory overhead of executors after one that was OOMKilled: it grows by the user's factor up to the user's limit,
 * because the heap of a JVM is fixed, and what outgrows a container lies beside it. An executor that was created
 * before the overhead grew says nothing about the new one.
 */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { podStatus } from "../../kube/pods.ts";
import { mebibytesOf } from "../configuration/conf.ts";
import { executorEnd } from "./losses.ts";

/** The most MiB that a user may allow. */
const mostMebibytes = 1_048_576;

export const overheadShape = z.object({
  mebibytes: z.int().min(1).max(mostMebibytes),
  /** The first id with this overhead. */
  from: z.int().min(0),
});

type Overhead = z.infer<typeof overheadShape>;

export type OverheadGrowth = {
  readonly factor: number;
  /** The most overhead, MiB. */
  readonly most: number;
};

const largestFactor = 10;

/** Parses `FACTOR up to SIZE`, such as `1.5 up to 4Gi`. */
export const overheadGrowthIn = (text: string): OverheadGrowth | undefined => {
  const [, times = "", size = ""] = /^(\d{1,2}(?:\.\d{1,3})?) +up +to +(\S{1,20})$/.exec(text) ?? [];
  const factor = Number(times);
  const most = mebibytesOf(size) ?? 0;
  return factor > 1 && factor <= largestFactor && most >= 1 && most <= mostMebibytes ? { factor, most } : undefined;
};

type Executor = { readonly id: number; readonly pod: Stored };

/** True when an executor that was created with the present overhead was OOMKilled. */
export const needsMoreOverhead = (before: Overhead | undefined, executors: readonly Executor[]): boolean =>
  executors.some(({ id, pod }) => id >= (before?.from ?? 0) && executorEnd(podStatus(pod))?.reason === "OOMKilled");

/** The overhead of executors from the id `next` on; `usual` is the overhead by the confs, MiB. */
export const grownOverhead = (
  before: Overhead | undefined,
  { factor, most }: OverheadGrowth,
  { usual, next }: { readonly usual: number; readonly next: number },
): Overhead | undefined => {
  const present = before?.mebibytes ?? usual;
  const mebibytes = Math.min(most, Math.ceil(present * factor));
  return mebibytes > present ? { mebibytes, from: next } : before;
};

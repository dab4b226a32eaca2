/** The retention of ended executor pods: which are useless, and which are kept for debugging, how many and how long. */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding } from "../../kube/pods.ts";
import { endingOf, executorId, losses } from "./losses.ts";

/** The most pods kept, the latest by id: a crash loop must not fill the cluster. */
const mostKept = 10;

export type Keeping = {
  readonly now: number;
  readonly retentionMs: number;
  /** End of the driver, epoch ms; executors that ended then or later ended because of it. */
  readonly driverEndedAt?: number | undefined;
};

export type Spent = {
  readonly useless: readonly Stored[];
  /** The time when the first retention is over, epoch ms. */
  readonly until: number | undefined;
};

const endedAt = (pod: Stored): number | undefined => endingOf(pod)?.at ?? instantOf(pod.metadata.creationTimestamp);

const isKept = (pod: Stored, { now, retentionMs, driverEndedAt = Number.POSITIVE_INFINITY }: Keeping): boolean => {
  const reason = endingOf(pod)?.reason ?? "unknown";
  const at = endedAt(pod) ?? now;
  return losses[reason].keeps && at < driverEndedAt && now < at + retentionMs;
};

/** Sorts ended pods that were accounted for into useless and kept ones. Pods that are being deleted are neither. */
export const spent = (pods: readonly Stored[], keeping: Keeping): Spent => {
  const ended = pods.filter((pod) => endingOf(pod) !== undefined && !isEnding(pod));
  const worth = ended.filter((pod) => isKept(pod, keeping)).sort((a, b) => (executorId(b) ?? 0) - (executorId(a) ?? 0));
  const kept = new Set(worth.slice(0, mostKept));
  const until = [...kept].map((pod) => (endedAt(pod) ?? keeping.now) + keeping.retentionMs);
  return {
    useless: ended.filter((pod) => !kept.has(pod)),
    until: until.length === 0 ? undefined : until.reduce((a, b) => Math.min(a, b)),
  };
};

/** The executors whose end was a loss, at the end of their driver: all others end with it. */
import type { Stored } from "../../core/object.ts";
import { endingOf, type LossReason } from "./losses.ts";

/** True when it ended before the driver. Of one whole second, a finished one was first: its driver told it to end. */
const endedFirst = (pod: Stored, endedAt: number): boolean => {
  const { at = Number.POSITIVE_INFINITY, reason } = endingOf(pod) ?? {};
  return at < endedAt || (at === endedAt && reason === "finished");
};

/** Reasons that a driver's end causes as well: while its time is unknown, such an end is no evidence of a loss. */
const byDriversEnd: ReadonlySet<LossReason | undefined> = new Set<LossReason | undefined>([
  "failed",
  "killed",
  "disconnected",
  "terminated",
  "deleted",
]);

type DriversEnd = {
  /** Epoch ms. */
  readonly endedAt: number;
  /** The driver's pod shows this time. */
  readonly isDated: boolean;
};

/** The executors that ended before their driver, by what their pods show. */
export const endedBefore = (executors: readonly Stored[], { endedAt, isDated }: DriversEnd): readonly Stored[] =>
  executors.filter((pod) => endedFirst(pod, endedAt) && (isDated || !byDriversEnd.has(endingOf(pod)?.reason)));

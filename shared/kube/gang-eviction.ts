/**
 * The mark of a group whose pods are evicted to make room for another group, as an annotation of its PodGroup. With `pods`,
 * pods beyond its minimum are evicted, and they are created again when the mark is `over`. Without, all of its pods are
 * evicted, and the group waits for its admission again. The end of a marked pod is no event, and spends no retry.
 */
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { instantOf, timeText } from "../core/time.ts";

/** Annotation of a group whose pods are evicted. */
export const evictedKey = "rekindle.dev/evicted";

/** The most characters of the annotation. */
export const mostEvictedText = 16_384;

export type Evicted = {
  /** Epoch ms. */
  readonly at: number;
  /** The group that gets the room, as `NAMESPACE/NAME`. */
  readonly by: string;
  /** Ordinals of the evicted pods by task; absent: all pods. */
  readonly pods?: Readonly<Record<string, readonly number[]>> | undefined;
  /** The evicted pods may be created again. */
  readonly over?: true | undefined;
};

const shape = z.object({
  at: z.string(),
  by: z.string(),
  pods: z.record(z.string(), z.array(z.number().int().min(0))).optional(),
  over: z.literal(true).optional(),
});

/** Returns the mark of a group; undefined if it has none, or if a user has written something else into the annotation. */
export const evictedOf = (group: Stored): Evicted | undefined => {
  const text = group.metadata.annotations?.[evictedKey];
  const isRead = text !== undefined && text.length <= mostEvictedText;
  const { data } = shape.safeParse(isRead ? jsonOf(text) : undefined);
  const at = instantOf(data?.at);
  return data === undefined || at === undefined ? undefined : { ...data, at };
};

export const evictedText = ({ at, by, pods, over }: Evicted): string =>
  JSON.stringify({ at: timeText(at), by, ...(pods && { pods }), ...(over && { over }) });

/** True for the ordinal of a pod that is, or was, evicted. */
export const isMarked = ({ pods }: Evicted, task: string, index: number): boolean =>
  pods === undefined || (Object.hasOwn(pods, task) && (pods[task] ?? []).includes(index));

/** The longest time for which evicted pods beyond the minimum are kept out, ms: whatever became of their mark. */
const mostKeptOutMs = 900_000;

/** True if the evicted pods beyond the minimum may be created again. */
export const isMarkOver = ({ at, pods, over }: Evicted, now: number): boolean =>
  pods !== undefined && (over === true || now >= at + mostKeptOutMs);

/** True for the ordinal of a pod that is not created before the mark is over. */
export const isKeptOut = (mark: Evicted, task: string, index: number, now: number): boolean =>
  mark.pods !== undefined && !isMarkOver(mark, now) && isMarked(mark, task, index);

/** The time after an eviction of all pods before which the group is not admitted again, ms. */
const restMs = 30_000;

/** Returns when a group of which all pods were evicted may be admitted again, epoch ms. */
export const admissibleAt = ({ at }: Evicted): number => at + restMs;

/** The longest time from the save that planned the creation of a pod to the creation: fence, timeout, rounding. */
const latestMs = 16_000;

/** True for a pod whose creation was under way when all pods of its group were evicted. */
export const isStray = ({ at }: Evicted, pod: Stored): boolean => {
  const createdAt = instantOf(pod.metadata.creationTimestamp) ?? 0;
  return createdAt > at && createdAt <= at + latestMs;
};

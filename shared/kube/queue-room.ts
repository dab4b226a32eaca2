/**
 * The room that a queue has for the pods of an admitted group, where Rekindle admits groups: the number of unfinished pods
 * of each task. An admission round raises it, and the step of the group's owner lowers it as pods finish, so that no
 * two of them hand out the same room. The owner creates no pods beyond it.
 */
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import type { Stored } from "../core/object.ts";

/** Annotation of a group: the room of its tasks; absent: no queue bounds its pods. */
export const roomKey = "rekindle.dev/queue-room";

/** Annotation of a group: the unfinished pods that its owner wants of the tasks that lack room; absent: it lacks none. */
export const wantedKey = "rekindle.dev/pods-wanted";

/** Numbers of pods by task. */
export type PodCounts = Readonly<Record<string, number>>;

/** The most pods of a task, as of a job. */
const mostPods = 100_000;

/** The most characters of an annotation that is read: a job has 1,000 tasks at most. */
export const mostCountsText = 131_072;

const counts = z.record(z.string(), z.int().min(0).max(mostPods));

const countsIn = (group: Stored, key: string): PodCounts | undefined => {
  const text = group.metadata.annotations?.[key];
  return text === undefined || text.length > mostCountsText ? undefined : counts.safeParse(jsonOf(text)).data;
};

/** Returns the room of a group; undefined if none is stated, or if a user has written something else there. */
export const roomOf = (group: Stored): PodCounts | undefined => countsIn(group, roomKey);

/** Returns what the owner of a group wants beyond its room. */
export const wantedOf = (group: Stored): PodCounts | undefined => countsIn(group, wantedKey);

export const countsText = (of: PodCounts): string => JSON.stringify(of);

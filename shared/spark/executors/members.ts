/** The executors of a run counted: who lives, who ended and how, who is missing, who may still be on the way. */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import { type Allotment, firstId, settlesAt } from "./allotment.ts";
import { idSet, idsOf, listOfIds, textOfIds } from "./ids.ts";
import { endingOf, executorId, losses } from "./losses.ts";

/** A set of ids as it is kept. */
const kept = (ids: Iterable<number>): string => textOfIds(idSet(ids));

const listed = (text: string): readonly number[] => listOfIds(idsOf(text));

/** How an executor stands. `quit` ended with 0, as one does whose driver has no more use for it. */
export type Standing = "pending" | "running" | "ending" | "quit" | "failed";

export type Member = {
  readonly id: number;
  readonly pod: Stored;
  readonly standing: Standing;
  /** Epoch ms. */
  readonly createdAt: number;
};

const standingOf = (pod: Stored): Standing => {
  const ended = endingOf(pod);
  if (ended !== undefined) return losses[ended.reason ?? "unknown"].replaced === "ask" ? "quit" : "failed";
  if (isEnding(pod)) return "ending";
  return podStatus(pod).phase === "Running" ? "running" : "pending";
};

/** A pod by its executor's id; undefined for one that Rekindle did not number. */
const memberOf = (pod: Stored): Member | undefined => {
  const id = executorId(pod);
  if (id === undefined || id < firstId) return undefined;
  const createdAt = instantOf(pod.metadata.creationTimestamp) ?? 0;
  return { id, pod, standing: standingOf(pod), createdAt };
};

export const membersOf = (pods: readonly Stored[]): readonly Member[] =>
  pods
    .map(memberOf)
    .filter((member) => member !== undefined)
    .sort((a, b) => a.id - b.id);

/** Executors that were alive when they were last seen, and are not to be seen at all. */
export const missingOf = ({ alive }: Allotment, members: readonly Member[]): readonly number[] => {
  const there = new Set(members.map(({ id }) => id));
  return listed(alive).filter((id) => !there.has(id));
};

const living: ReadonlySet<Standing> = new Set(["pending", "running"]);

export const isLiving = ({ standing }: Member): boolean => living.has(standing);

/** Executors that ended with 0 and of which the driver has not said that it does without them. */
export const quitters = (members: readonly Member[]): readonly Member[] =>
  members.filter(({ standing, pod }) => standing === "quit" && !isEnding(pod));

/** Who has ended since it was last seen: each is among them once, for the next allotment knows of it. */
export const newlyEnded = ({ alive }: Allotment, members: readonly Member[]): readonly Member[] => {
  const before = new Set(listed(alive));
  return members.filter((member) => !isLiving(member) && before.has(member.id));
};

/** The API server's clock, epoch ms, and how long after a save something of it may still arrive. */
type Time = { readonly now: number; readonly settledMs: number };

/** Ids that were handed out so lately that their pods may still appear. */
const stillUnderway = ({ underway }: Allotment, members: readonly Member[], time: Time): Allotment["underway"] => {
  const there = new Set(members.map(({ id }) => id));
  return underway
    .filter((round) => settlesAt(round, time.settledMs) > time.now)
    .map(({ ids, ...round }) => ({ ...round, ids: kept(listed(ids).filter((id) => !there.has(id))) }))
    .filter(({ ids }) => ids !== "");
};

/** The allotment after a look; what was handed out so long ago that it has settled, and was never seen, will never come. */
export const afterLook = (before: Allotment, members: readonly Member[], time: Time): Allotment => ({
  ...before,
  // An id above what is remembered was handed out by a record that was lost: it is not handed out again.
  next: Math.max(before.next, (members.at(-1)?.id ?? 0) + 1),
  alive: kept(members.filter(isLiving).map(({ id }) => id)),
  underway: stillUnderway(before, members, time),
});

/** An executor that lived so long was none that crashed at its start. */
const crashMs = 60_000;

/** When it ended, or the pod shows nothing better than that it was made, epoch ms. */
export const endedAt = ({ pod, createdAt }: Member): number => endingOf(pod)?.at ?? createdAt;

/** The application's own doing. */
const isCrash = ({ pod, standing }: Member): boolean =>
  standing === "failed" && losses[endingOf(pod)?.reason ?? "unknown"].counts;

/** Executors in a row that ended badly and soon; one that had lived for a while makes them none. */
export const afterCrashes = (before: Allotment["crashes"], ended: readonly Member[]): Allotment["crashes"] => {
  const failed = ended.filter(isCrash);
  if (failed.length === 0) return before;
  if (failed.some((member) => endedAt(member) - member.createdAt >= crashMs)) return undefined;
  const at = Math.max(...failed.map(endedAt));
  return { count: (before?.count ?? 0) + failed.length, at };
};

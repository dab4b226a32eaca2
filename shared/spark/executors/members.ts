/** The executors of a run by their state: living, ended, missing, or on their way. */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import { type Allotment, firstId, settlesAt } from "./allotment.ts";
import { idSet, idsOf, listOfIds, textOfIds } from "./ids.ts";
import { endingOf, executorId, losses } from "./losses.ts";

/** The stored form of a set of ids. */
const kept = (ids: Iterable<number>): string => textOfIds(idSet(ids));

const listed = (text: string): readonly number[] => listOfIds(idsOf(text));

/** The state of an executor. `quit` exited with 0, as an executor does that its driver does not need. */
export type MemberState = "pending" | "running" | "ending" | "quit" | "failed";

export type Member = {
  readonly id: number;
  readonly pod: Stored;
  readonly state: MemberState;
  /** Epoch ms. */
  readonly createdAt: number;
};

const memberState = (pod: Stored): MemberState => {
  const ended = endingOf(pod);
  if (ended !== undefined) return losses[ended.reason ?? "unknown"].replaced === "ask" ? "quit" : "failed";
  if (isEnding(pod)) return "ending";
  return podStatus(pod).phase === "Running" ? "running" : "pending";
};

/** The member of a pod; undefined for a pod without an id of Rekindle's. */
const memberOf = (pod: Stored): Member | undefined => {
  const id = executorId(pod);
  if (id === undefined || id < firstId) return undefined;
  const createdAt = instantOf(pod.metadata.creationTimestamp) ?? 0;
  return { id, pod, state: memberState(pod), createdAt };
};

export const membersOf = (pods: readonly Stored[]): readonly Member[] =>
  pods
    .map(memberOf)
    .filter((member) => member !== undefined)
    .sort((a, b) => a.id - b.id);

/** Executors that were alive in the last read, and of which there is no pod. */
export const missingOf = ({ alive }: Allotment, members: readonly Member[]): readonly number[] => {
  const there = new Set(members.map(({ id }) => id));
  return listed(alive).filter((id) => !there.has(id));
};

const living: ReadonlySet<MemberState> = new Set(["pending", "running"]);

export const isLiving = ({ state }: Member): boolean => living.has(state);

/** Executors that exited with 0 and are not being deleted. */
export const quitters = (members: readonly Member[]): readonly Member[] =>
  members.filter(({ state, pod }) => state === "quit" && !isEnding(pod));

/** Executors that ended since the last read; each once, because the next allotment does not list it as alive. */
export const newlyEnded = ({ alive }: Allotment, members: readonly Member[]): readonly Member[] => {
  const before = new Set(listed(alive));
  return members.filter((member) => !isLiving(member) && before.has(member.id));
};

/** `now`: the API server's clock, epoch ms. `settledMs`: the time after a save in which its creations may arrive. */
type Time = { readonly now: number; readonly settledMs: number };

/** Ids whose pods may still appear. */
const stillUnderway = ({ underway }: Allotment, members: readonly Member[], time: Time): Allotment["underway"] => {
  const there = new Set(members.map(({ id }) => id));
  return underway
    .filter((round) => settlesAt(round, time.settledMs) > time.now)
    .map(({ ids, ...round }) => ({ ...round, ids: kept(listed(ids).filter((id) => !there.has(id))) }))
    .filter(({ ids }) => ids !== "");
};

/** The allotment after a read. An id that has settled and was never seen is dropped: it will never come. */
export const afterLook = (before: Allotment, members: readonly Member[], time: Time): Allotment => ({
  ...before,
  // A higher id was handed out by a record that was lost: it is not handed out again.
  next: Math.max(before.next, (members.at(-1)?.id ?? 0) + 1),
  alive: kept(members.filter(isLiving).map(({ id }) => id)),
  underway: stillUnderway(before, members, time),
});

/** An executor that ran this long did not crash at its start, ms. */
const crashMs = 60_000;

/** End of the executor, epoch ms; its creation, if the pod shows no end. */
export const endedAt = ({ pod, createdAt }: Member): number => endingOf(pod)?.at ?? createdAt;

/** True of a failure that counts against the application. */
const isCrash = ({ pod, state }: Member): boolean =>
  state === "failed" && losses[endingOf(pod)?.reason ?? "unknown"].counts;

/** Counts crashes in a row: failures soon after the start. One executor that had run for a while resets the count. */
export const afterCrashes = (before: Allotment["crashes"], ended: readonly Member[]): Allotment["crashes"] => {
  const failed = ended.filter(isCrash);
  if (failed.length === 0) return before;
  if (failed.some((member) => endedAt(member) - member.createdAt >= crashMs)) return undefined;
  const at = Math.max(...failed.map(endedAt));
  return { count: (before?.count ?? 0) + failed.length, at };
};

/**
 * The memory of Rekindle as the allocator of one run's executors: the ids that it has handed out, facts about them
 * that pods do not show, and the number that the run is granted, by a ResourceQuota, which answers 403 to the next
 * one, or by any other part that counts what a namespace or a queue may use. Executors that were seen are kept by id,
 * so that one that is missing from a list is read by name, and does not count as never created. Members of a run are
 * executors by their state: living, ended, missing, or on their way.
 */
import * as z from "zod";
import { oncePer } from "../../core/cache.ts";
import type { Stored } from "../../core/object.ts";
import { backoffOf, instantOf } from "../../core/time.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import { instant } from "../../kube/schema.ts";
import { mostExecutors } from "../schema/limits.ts";
import { demandShape } from "./demand.ts";
import { areFew, idSet, idsOf, idsShape, listOfIds, textOfIds } from "./ids.ts";
import { endingOf, executorId, losses } from "./losses.ts";
import { overheadShape } from "./overhead.ts";
import { quotaUseShape } from "./quota-use.ts";

export const grantShape = z.object({
  /** The number of executors that lived when the next one was refused. */
  executors: z.int().min(0),
  /** The time when one more is tried, epoch ms: nothing tells when a quota has room again. */
  until: instant,
  /** Refusals in a row. */
  times: z.int().min(1),
  /** The refusal, in the server's words. */
  why: z.string().max(300),
});

export type Grant = z.infer<typeof grantShape>;

const firstWaitMs = 5_000;
const longestWaitMs = 60_000;

/** The grant after a refusal. */
export const refusedGrant = (before: Grant | undefined, executors: number, why: string, now: number): Grant => {
  const times = (before?.times ?? 0) + 1;
  const until = now + backoffOf(times - 1, firstWaitMs, longestWaitMs);
  return { executors, until, times: Math.min(times, 100), why: why.slice(0, 300) };
};

/** The grant after a look: more executors than it names, or as many as are wanted, end it. */
export const grantAfterLook = (grant: Grant | undefined, living: number, wanted: number): Grant | undefined =>
  grant === undefined || living > grant.executors || living >= wanted ? undefined : grant;

/** The most executors that may live now: the least of all grants, and one more where one is to be tried. */
export const grantedAt = (grants: readonly (Grant | undefined)[], now: number): number =>
  grants.reduce(
    (least, grant) => (grant === undefined ? least : Math.min(least, grant.executors + (now < grant.until ? 0 : 1))),
    Number.POSITIVE_INFINITY,
  );

/** The first id. The driver's own allocator starts at 1, and stays below this in a run that asks it for none. */
export const firstId = 1001;

/** Distance to the highest visible id when the count of ids was lost: no id is used twice. */
export const lostIdsGap = 10_000;

/** Ids handed out by one save at `at`, epoch ms: they may be on their way until the save has settled. */
const round = z.object({
  ids: idsShape,
  at: instant,
  /** The time when it has settled, epoch ms, where it is earlier than for other saves. */
  until: instant.optional(),
  /** The first digits of the UIDs of the claims that were handed on to them. */
  claims: z
    .string()
    .regex(/^[\da-f]*$/)
    .optional(),
  /** The flavors whose quota they use, if these are not the base's. */
  flavors: z.string().max(63).optional(),
});

export const allotment = z.object({
  /** The run of these executors; for another run only `next` is valid. */
  attempt: z.number().int(),
  /** Prefix of its pods' names; the id completes the name. */
  prefix: z.string(),
  /** The first id that was handed out to this run. */
  first: z.number().int().optional(),
  /** The next id. It never decreases, also not from run to run. */
  next: z.number().int(),
  /** Executors that were seen and not yet seen to end. */
  alive: idsShape,
  /** Executors whose ids were handed out and that were never seen. */
  underway: z.array(round).refine((rounds) => areFew(...rounds.map(({ ids }) => ids)), "too many on their way"),
  /** The number of executors created since the current interval began, epoch ms. */
  window: z.object({ at: instant, made: z.number().int() }).optional(),
  /** The digest of the run's spec with its executors' placement, where a change of placement begins no new run. */
  placed: z.string().optional(),
  /** The driver's REST API has answered once: its RPC listens. */
  listens: z.boolean().optional(),
  /** An executor was lost for lack of memory: later ones run one task at a time. */
  singleTask: z.boolean().optional(),
  /** Memory overhead of executors that follow one that was OOMKilled. */
  overhead: overheadShape.optional(),
  /** The driver's demand, where executors are allocated dynamically. */
  demand: demandShape.optional(),
  /** The limit of a quota that is used up. */
  grant: grantShape.optional(),
  /** The executors that growths granted at the last read, by the name of their flavors: see `flavors.ts`. */
  grown: z.record(z.string().max(63), z.int().min(0).max(mostExecutors)).optional(),
  /** The quota that the run was granted, and waited for; absent: it has had no growth, or the record was lost. */
  quota: quotaUseShape.optional(),
  /** The flavors that Kueue has assigned to the base. */
  flavors: z.string().max(63).optional(),
  /** Ended executors whose pods are waited for, because their claims are handed on, until an instant, epoch ms. */
  awaited: z.object({ ids: idsShape, until: instant }).optional(),
  /** No claim is handed on before, epoch ms: a lost record may have handed it to an executor on its way. */
  claimsFrom: instant.optional(),
  /** Executors in a row that ended soon after their start, and the time of the last end, epoch ms. */
  crashes: z.object({ count: z.number().int(), at: instant }).optional(),
});

export type Allotment = z.infer<typeof allotment>;

/** The time after which no creation of a round can arrive, epoch ms; by default `settledMs` after its save. */
export const settlesAt = ({ at, until }: Allotment["underway"][number], settledMs: number): number =>
  until ?? at + settledMs;

/** The allotment of a new run, which continues the ids of the run before. */
export const newAllotment = (attempt: number, prefix: string, before: Allotment | undefined): Allotment => {
  const first = before?.next ?? firstId;
  return { attempt, prefix, first, next: first, alive: "", underway: [] };
};

/** The number of ids that the run was handed out. */
export const handedOut = ({ first = firstId, next }: Allotment): number => Math.max(0, next - first);

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

/** The member of a pod, found once for each state of the pod; none for a pod without an id of Rekindle's. */
const memberOf = oncePer((pod: Stored): { readonly member?: Member } => {
  const id = executorId(pod);
  if (id === undefined || id < firstId) return {};
  const createdAt = instantOf(pod.metadata.creationTimestamp) ?? 0;
  return { member: { id, pod, state: memberState(pod), createdAt } };
});

export const membersOf = (pods: readonly Stored[]): readonly Member[] => {
  const members: Member[] = [];
  for (const pod of pods) {
    const { member } = memberOf(pod);
    if (member !== undefined) members.push(member);
  }
  return members.sort((a, b) => a.id - b.id);
};

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

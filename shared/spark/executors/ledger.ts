/**
 * The ledger of an attempt's executors: which live, which were lost and why. Each read of the executors is taken in;
 * each loss is counted once. The size of a ledger is bounded: ids are ranges, the latest losses are kept in full, and
 * all others are counted.
 *
 * L1. An id that was accounted for is never accounted for again, whatever an older list shows.
 * L2. An executor that vanished is lost only when `certain` says that two reads agree.
 */

import * as z from "zod";
import { omit } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { isEnding, nodeNameOf } from "../../kube/pods.ts";
import { instant } from "../../kube/schema.ts";
import {
  countOfIds,
  hasId,
  type Ids,
  idSet,
  idsOf,
  idsShape,
  listOfIds,
  mergedInto,
  rangesShape,
  textOfIds,
  union,
} from "./ids.ts";
import { type Lifetime, lifetimeFields, lifetimeOf, withLifetimes } from "./lifetimes.ts";
import {
  type Ended,
  endingOf,
  executorId,
  exitWords,
  type LossReason,
  losses,
  lossReasons,
  losses as lossTable,
} from "./losses.ts";

/** Troubles of a running run: no executor runs, the driver gives no answer, or ends no task. */
export const troubles = ["executorsGone", "driverSilent", "driverStalled"] as const;

const loss = z.object({
  id: z.number().int(),
  /** The pod's UID; only its first digits, if the pod was gone. */
  uid: z.string(),
  pod: z.string().optional(),
  reason: z.enum(lossReasons),
  node: z.string().optional(),
  exitCode: z.number().int().optional(),
  /** The platform's reason, in its own words. */
  why: z.string().max(200).optional(),
  /** End of the executor in its pod, else the time when it was missed. Epoch ms. */
  at: instant,
});

/** State of monitoring executors and their driver. Times in epoch ms. */
const care = z.object({
  /** Deletions in a row of pods that did not come up, and the newest such id: the pending timeout grows with them. */
  stuck: z.object({ times: z.number().int(), last: z.number().int() }).optional(),
  /** Time since which no executor runs. */
  goneSince: instant.optional(),
  /** State of the driver's answers. */
  pulse: z
    .object({
      at: instant,
      /** The number of ended tasks, and when it was first seen. */
      tasks: z.number(),
      movedAt: instant,
      /**
       * The last answer, for people: active executors, running and failed tasks, bytes of shuffle data written, and of
       * the largest heap of an executor. An answer that changes nothing else is not saved.
       */
      words: z
        .object({
          executors: z.number(),
          running: z.number(),
          failed: z.number(),
          shuffle: z.number(),
          heap: z.number(),
        })
        .optional(),
      /** No task was running. */
      idle: z.boolean().optional(),
      silentSince: instant.optional(),
      /** Running executors that the driver had given up. */
      inactive: z.array(z.number().int()).optional(),
    })
    .optional(),
  /** The trouble of the run for which an event was recorded. */
  trouble: z.object({ is: z.enum(troubles), since: instant }).optional(),
  /** The reported text about nodes that are about to go with executors that cannot be moved. */
  warned: z.string().max(500).optional(),
});

/** Every field is optional: an absent one is empty. */
export const ledgerShape = z.object({
  attempt: z.number().int(),
  /** Ids of living executors, and the first digits of their pods' UIDs in the same order. */
  live: idsShape.optional(),
  marks: z
    .string()
    .regex(/^[\da-f]*$/)
    .optional(),
  /** Ids that are accounted for. */
  over: rangesShape.optional(),
  /** The number of losses, by reason. */
  lost: z.partialRecord(z.enum(lossReasons), z.number().int()).optional(),
  /** The latest losses with events, oldest first. */
  losses: z.array(loss).optional(),
  /** Ids of losses whose events may not be recorded. */
  untold: z.array(z.number().int()).optional(),
  /** Losses that Rekindle is about to cause: the reason is saved before the pod is deleted. */
  doomed: z.array(loss).optional(),
  /** Ids of ended pods without a reason, and how often each was read. */
  unclear: z.array(z.object({ id: z.number().int(), checks: z.number().int() })).optional(),
  /** Ids of executors whose end the status may not show yet, by the state that it will show. */
  ends: z.object({ COMPLETED: idsShape.optional(), FAILED: idsShape.optional() }).optional(),
  care: care.optional(),
  ...lifetimeFields,
});

export type Ledger = z.infer<typeof ledgerShape>;
export type Loss = z.infer<typeof loss>;
export type Care = z.infer<typeof care>;

export const freshLedger = (attempt: number): Ledger => ({ attempt });

/** The number of executors known to live. */
export const livingIn = ({ live = "" }: Ledger): number => countOfIds(idsOf(live));

/** True when the id is accounted for. */
export const isOver = ({ over = "" }: Ledger, id: number): boolean => hasId(idsOf(over), id);

/** The number of losses that count against the application. */
export const countedIn = ({ lost = {} }: Ledger): number =>
  lossReasons.reduce((sum, reason) => sum + (losses[reason].counts ? (lost[reason] ?? 0) : 0), 0);

/** The ledger after the driver's end: its executors end with it, and none is missing. What it last reported is kept. */
export const afterDriversEnd = (ledger: Ledger): Ledger => {
  const { care, ...rest } = omit(ledger, "live", "marks", "unclear", "doomed", "untold");
  const { at, tasks, movedAt, words } = care?.pulse ?? {};
  if (at === undefined || tasks === undefined || movedAt === undefined || words === undefined) return rest;
  return { ...rest, care: { pulse: { at, tasks, movedAt, words } } };
};

/** The most losses that are kept in full, and so the most of one step with an event each. */
export const mostReported = 20;
/** The most ranges of ids, and the most reads of a pod that shows no reason. */
const mostRanges = 500;
const mostChecks = 3;
/** Digits of a pod's UID that distinguish two pods of one id. */
const digits = 8;
const isMark = /^[\da-f]{8}$/;

/** A ledger, parsed. */
type Books = {
  readonly live: Map<number, string>;
  readonly over: Ids;
  readonly lost: Map<LossReason, number>;
  readonly losses: readonly Loss[];
  readonly unclear: ReadonlyMap<number, number>;
};

const opened = ({ live = "", marks = "", over = "", lost = {}, losses = [], unclear = [] }: Ledger): Books => ({
  live: new Map(listOfIds(idsOf(live)).map((id, at) => [id, marks.slice(at * digits, (at + 1) * digits)])),
  over: idsOf(over),
  lost: new Map(lossReasons.flatMap((reason) => (lost[reason] === undefined ? [] : [[reason, lost[reason]]]))),
  losses,
  unclear: new Map(unclear.map(({ id, checks }) => [id, checks])),
});

const closed = (ledger: Ledger, { live, over, lost, losses, unclear }: Books): Ledger => {
  const rest = { attempt: ledger.attempt, ...(ledger.care === undefined ? {} : { care: ledger.care }) };
  const ids = idSet(live.keys());
  const kept = mergedInto(over, mostRanges, ids);
  return {
    ...rest,
    ...(live.size === 0
      ? {}
      : {
          live: textOfIds(ids),
          marks: listOfIds(ids)
            .map((id) => live.get(id))
            .join(""),
        }),
    ...(kept.length === 0 ? {} : { over: textOfIds(kept) }),
    ...(lost.size === 0 ? {} : { lost: Object.fromEntries(lost) }),
    ...(losses.length === 0 ? {} : { losses: losses.slice(-mostReported) }),
    ...(unclear.size === 0 ? {} : { unclear: [...unclear].map(([id, checks]) => ({ id, checks })) }),
  };
};

/** The first hexadecimal digits of a UID, padded with 0. */
export const markOf = (uid: string): string => {
  const start = uid.slice(0, digits);
  if (isMark.test(start)) return start;
  const hexadecimal = uid.toLowerCase().replace(/[^\da-f]/g, "");
  return hexadecimal.padEnd(digits, "0").slice(0, digits);
};

export type Look = {
  readonly pods: readonly Stored[];
  /** API server's clock, epoch ms. */
  readonly now: number;
  /** Two reads agree on the missing executors: only then are they lost. */
  readonly certain: boolean;
  /** The reason of a missing pod: `removed` where Spark itself deletes ended executors. */
  readonly missing?: "deleted" | "removed";
};

export type Account = {
  readonly ledger: Ledger;
  /** New losses by id, including those without an event. */
  readonly lost: readonly Loss[];
  /** Living ids that the list lacked: read again before they are called lost. */
  readonly missing: readonly number[];
  /** The number of ended pods without a reason, which are read again. */
  readonly unclear: number;
};

const lossOf = (id: number, pod: Stored, { reason, exitCode, at }: Ended, now: number): Loss => {
  const node = nodeNameOf(pod);
  return {
    id,
    uid: pod.metadata.uid,
    pod: pod.metadata.name,
    reason,
    ...(node === undefined ? {} : { node }),
    ...(exitCode === undefined ? {} : { exitCode }),
    at: at ?? now,
  };
};

type Known = { readonly doom: Loss | undefined; readonly checks: number; readonly now: number };

/** The verdict on one pod; "unclear" is read again. A pod that Rekindle ended has Rekindle's reason in any case. */
const verdictOf = (pod: Stored, id: number, { doom, checks, now }: Known): Loss | "lives" | "unclear" => {
  const ending = endingOf(pod);
  if (doom !== undefined && (isEnding(pod) || ending?.reason === doom.reason))
    return { ...doom, at: ending?.at ?? now };
  if (ending === undefined) return "lives";
  if (ending.reason === undefined && checks < mostChecks) return "unclear";
  return lossOf(id, pod, { ...ending, reason: ending.reason ?? "unknown" }, now);
};

type Marks = ReadonlyMap<number, string>;

/** One pod for each id: the known one, else the younger. No allocator reuses an id, but users may recreate pods. */
const byId = (pods: readonly Stored[], live: Marks): ReadonlyMap<number, Stored> => {
  const rank = (id: number, { metadata }: Stored): string =>
    `${live.get(id) === markOf(metadata.uid) ? "known" : "early"} ${metadata.creationTimestamp ?? ""}`;
  const found = new Map<number, Stored>();
  for (const pod of pods) {
    const id = executorId(pod);
    const other = id === undefined ? undefined : found.get(id);
    if (id !== undefined && (other === undefined || rank(id, other) <= rank(id, pod))) found.set(id, pod);
  }
  return found;
};

/** True when the known pod of the id is gone, or another pod has the id. */
const isAnother = (live: Marks, id: number, pod: Stored | undefined): boolean =>
  live.has(id) && (pod === undefined || live.get(id) !== markOf(pod.metadata.uid));

/** Takes a read into the ledger: new executors, and losses with their reasons. Keeps L1 and L2. */
export const account = (ledger: Ledger, { pods, now, certain, missing: absent = "deleted" }: Look): Account => {
  const books = opened(ledger);
  const { live } = books;
  const doomed = new Map((ledger.doomed ?? []).map((doom) => [doom.id, doom]));
  const found = byId(pods, live);
  const lost: Loss[] = [];
  const lifetimes: Lifetime[] = [];
  const unclear = new Map<number, number>();
  for (const [id, pod] of found) {
    if (hasId(books.over, id) || isAnother(live, id, pod)) continue;
    const checks = books.unclear.get(id) ?? 0;
    const verdict = verdictOf(pod, id, { doom: doomed.get(id), checks, now });
    if (verdict === "lives") live.set(id, markOf(pod.metadata.uid));
    else if (verdict === "unclear") unclear.set(id, checks + 1);
    else {
      lost.push(verdict);
      lifetimes.push(...lifetimeOf(id, pod, verdict.reason, verdict.at));
    }
  }
  const missing = [...live.keys()].filter((id) => isAnother(live, id, found.get(id)));
  const gone = (id: number): Loss => doomed.get(id) ?? { id, uid: live.get(id) ?? "", reason: absent, at: now };
  if (certain) lost.push(...missing.map(gone));
  lost.sort((a, b) => a.id - b.id);
  for (const { id } of lost) live.delete(id);
  return {
    ledger: { ...closed(ledger, { ...written(books, lost), unclear }), ...withLifetimes(ledger, lifetimes) },
    lost,
    missing: certain ? [] : missing,
    unclear: unclear.size,
  };
};

const written = ({ live, over, lost, losses }: Books, more: readonly Loss[]): Omit<Books, "unclear"> => {
  const counts = new Map(lost);
  for (const { reason } of more) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return {
    live,
    over: more.length === 0 ? over : union(over, idSet(more.map(({ id }) => id))),
    lost: new Map(lossReasons.flatMap((reason) => (counts.has(reason) ? [[reason, counts.get(reason) ?? 0]] : []))),
    losses: more.length === 0 ? losses : [...losses, ...more.filter(({ reason }) => lossTable[reason].hasEvent)],
  };
};

/** A loss in one line: which, where, and why as far as known. */
export const lossText = ({ id, pod, reason, node, exitCode, why }: Loss): string => {
  const words = exitCode === undefined ? undefined : exitWords(exitCode);
  const code = exitCode === undefined ? [] : [`exit ${exitCode}${words === undefined ? "" : `, ${words}`}`];
  const detail = [...code, ...(why === undefined ? [] : [why])].join("; ");
  const place = [...(pod === undefined ? [] : [`pod ${pod}`]), ...(node === undefined ? [] : [`node ${node}`])];
  const where = place.length === 0 ? "" : ` (${place.join(", ")})`;
  return `Executor ${id}${where} was lost: ${reason}${detail === "" ? "" : ` (${detail})`}`;
};

export const worthReporting = (lost: readonly Loss[]): readonly Loss[] =>
  lost.filter(({ reason }) => losses[reason].hasEvent);

/** Deletions of earlier steps that may still arrive, beside the new ones: until then their reasons are remembered. */
export const stillDoomed = (
  { doomed: before = [] }: Ledger,
  of: { readonly anew: readonly Loss[]; readonly over: Ids; readonly now: number; readonly settledMs: number },
): readonly Loss[] => {
  const anew = new Set(of.anew.map(({ id }) => id));
  return before.filter(({ id, at }) => !anew.has(id) && !hasId(of.over, id) && of.now < at + of.settledMs);
};

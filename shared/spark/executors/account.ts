/**
 * Taking in what a look at executors shows: who is new, who was lost and why. Each loss once and only once.
 *
 * L1. An id that was accounted for is never accounted for again, whatever a list from before shows.
 * L2. What vanished is lost only when `certain` says that two looks agree.
 */
import type { Stored } from "../../core/object.ts";
import { coarsened, hasId, type Ids, idSet, idsOf, listOfIds, textOfIds, union } from "./ids.ts";
import type { Ledger, Loss } from "./ledger.ts";
import { endingOf, executorId, type LossReason, lossReasons, losses as lossTable } from "./losses.ts";

/** So many losses are remembered whole, so many ranges kept, so many looks taken at a pod that does not say why. */
const mostLosses = 20;
const mostRanges = 500;
const mostChecks = 3;
/** So many digits of a pod's UID tell two pods of one id apart. */
const digits = 8;

/** A ledger as it is worked with. */
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
  const { live: _, marks: __, over: ___, lost: ____, losses: _____, unclear: ______, ...rest } = ledger;
  const ids = idSet(live.keys());
  const kept = coarsened(over, mostRanges, ids);
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
    ...(losses.length === 0 ? {} : { losses: losses.slice(-mostLosses) }),
    ...(unclear.size === 0 ? {} : { unclear: [...unclear].map(([id, checks]) => ({ id, checks })) }),
  };
};

/** The first digits of a UID, whatever it is made of. */
const markOf = (uid: string): string =>
  uid
    .toLowerCase()
    .replace(/[^\da-f]/g, "")
    .padEnd(digits, "0")
    .slice(0, digits);

export type Look = {
  readonly pods: readonly Stored[];
  /** API server's clock, epoch ms. */
  readonly now: number;
  /** Two looks agree on what is missing: only then is it lost. */
  readonly certain: boolean;
  /** Losses that whoever decides has judged on: pods that it is about to end, by id. */
  readonly judged?: ReadonlyMap<number, { readonly reason: LossReason; readonly why: string }>;
  /** What a pod's absence means: `removed` where Spark itself deletes them. */
  readonly missing?: "deleted" | "removed";
};

export type Account = {
  readonly ledger: Ledger;
  /** Those newly lost, in the order of their ids; told or not. */
  readonly lost: readonly Loss[];
  /** Ids that live and were not in the list: look again before they are called lost. */
  readonly missing: readonly number[];
  /** How many ended without saying why, and are to be looked at again. */
  readonly unclear: number;
};

const nodeOf = (pod: Stored): string | undefined => {
  const spec: unknown = pod["spec"];
  if (typeof spec !== "object" || spec === null || !("nodeName" in spec)) return undefined;
  return typeof spec.nodeName === "string" && spec.nodeName !== "" ? spec.nodeName : undefined;
};

type Verdict = Pick<Loss, "reason"> & { readonly exitCode?: number | undefined; at?: number | undefined; why?: string };

const lossOf = (id: number, pod: Stored, verdict: Verdict, now: number): Loss => {
  const node = nodeOf(pod);
  const { reason, exitCode, at, why } = verdict;
  return {
    id,
    uid: pod.metadata.uid,
    pod: pod.metadata.name,
    reason,
    ...(node === undefined ? {} : { node }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(why === undefined ? {} : { why: why.slice(0, 200) }),
    at: at ?? now,
  };
};

/** What one pod says; "unclear" is to be looked at again. */
const verdictOf = (pod: Stored, id: number, look: Look, checks: number): Verdict | "lives" | "unclear" => {
  const ending = endingOf(pod);
  if (ending === undefined) return look.judged?.get(id) ?? "lives";
  const { reason, exitCode, at } = ending;
  if (reason === undefined && checks < mostChecks) return "unclear";
  return { reason: reason ?? "unknown", exitCode, at };
};

/** Of two pods under one id the younger is the executor: nobody gives an id twice, but people make pods again. */
const byId = (pods: readonly Stored[]): ReadonlyMap<number, Stored> => {
  const created = ({ metadata }: Stored): string => metadata.creationTimestamp ?? "";
  const found = new Map<number, Stored>();
  for (const pod of pods) {
    const id = executorId(pod);
    const other = id === undefined ? undefined : found.get(id);
    if (id !== undefined && (other === undefined || created(other) <= created(pod))) found.set(id, pod);
  }
  return found;
};

/** The id is known, and this is not the pod that it was known by. */
const isAnother = (live: ReadonlyMap<number, string>, id: number, pod: Stored | undefined): boolean =>
  live.has(id) && (pod === undefined || live.get(id) !== markOf(pod.metadata.uid));

/** Takes in what a look shows: who is new, who was lost and why. Keeps L1 and L2. */
export const account = (ledger: Ledger, look: Look): Account => {
  const books = opened(ledger);
  const { live } = books;
  const found = byId(look.pods);
  const lost: Loss[] = [];
  const unclear = new Map<number, number>();
  for (const [id, pod] of found) {
    if (hasId(books.over, id) || isAnother(live, id, pod)) continue;
    const checks = books.unclear.get(id) ?? 0;
    const verdict = verdictOf(pod, id, look, checks);
    if (verdict === "lives") live.set(id, markOf(pod.metadata.uid));
    else if (verdict === "unclear") unclear.set(id, checks + 1);
    else lost.push(lossOf(id, pod, verdict, look.now));
  }
  const missing = [...live.keys()].filter((id) => isAnother(live, id, found.get(id)));
  if (look.certain) {
    const reason = look.missing ?? "deleted";
    lost.push(...missing.map((id) => ({ id, uid: live.get(id) ?? "", reason, at: look.now })));
  }
  lost.sort((a, b) => a.id - b.id);
  for (const { id } of lost) live.delete(id);
  return {
    ledger: closed(ledger, { ...written(books, lost), unclear }),
    lost,
    missing: look.certain ? [] : missing,
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
    losses: more.length === 0 ? losses : [...losses, ...more.filter(({ reason }) => lossTable[reason].told)],
  };
};

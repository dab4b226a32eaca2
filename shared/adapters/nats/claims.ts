/**
 * Claims of groups: their locks, and their messages that are out. Rules that the server does not keep are kept here: one
 * delivery of a group at a time, in order; a receipt whose lock is over does nothing; what was delivered too often goes
 * to the dead.
 */
import type { Report } from "../../engine/ports.ts";
import type { Received } from "../poller.ts";
import type { Nats } from "./connection.ts";
import type { Lock, Locks, Waiting, WaitingRoom } from "./locks.ts";
import type { Names } from "./streams.ts";

type Claim = {
  /** Its place among the claims of this worker, for receipts. */
  readonly nth: number;
  /** Monotonic, ms. */
  readonly since: number;
  lock: Lock;
  /** The messages that are out. */
  readonly left: Map<number, Waiting>;
  /** The longest delay of those that were given back, ms. */
  delayMs: number;
  /** The last change of the lock. */
  last: Promise<unknown>;
};

export type Claims = {
  readonly nats: Nats;
  readonly names: Names;
  readonly locks: Locks;
  readonly waiting: WaitingRoom;
  /** The time after which messages of a dead worker come again. Locks of a living one are extended. */
  readonly visibilityMs: number;
  /** The longest time that a lock is extended to, ms. */
  readonly longestMs: number;
  /** Deliveries of a message before it is put aside. */
  readonly maxReceives: number;
  readonly report: Report;
  readonly byGroup: Map<string, Claim>;
  /** Locks of this worker that are over. */
  readonly expired: Map<string, Lock>;
  /** Groups that another worker has locked, and when to try again. */
  readonly locked: Map<string, number>;
  count: number;
};

/** The fallback where the word of a free group does not come, ms. */
const againMs = 500;
const shortestMs = 5;

const now = (): number => performance.now();

export const openClaims = (parts: Omit<Claims, "byGroup" | "expired" | "locked" | "count">): Claims => ({
  ...parts,
  byGroup: new Map(),
  expired: new Map(),
  locked: new Map(),
  count: 0,
});

const expire = ({ byGroup, expired }: Claims): void => {
  for (const [group, { lock }] of byGroup) {
    if (now() < lock.until) continue;
    byGroup.delete(group);
    expired.set(group, lock);
  }
};

/** Puts aside what was delivered too often. */
const bury = async ({ nats, names, report }: Claims, worn: readonly Waiting[]): Promise<void> => {
  for (const { group, received, sequence, body, reply } of worn) {
    report("error", "gave up a message that was delivered too often", { group, received });
    await nats.ask(names.burial(group), body, { "Nats-Msg-Id": `${names.queue}:${sequence}` });
    await nats.ask(reply, "+TERM");
  }
};

/** Locks a group and takes its messages out of those that wait; empty: another worker has it, or nothing is left. */
const claim = async (claims: Claims, group: string, room: number): Promise<readonly Waiting[]> => {
  const { locks, waiting, visibilityMs, maxReceives, byGroup, expired, locked } = claims;
  const lock = await locks.take(group, visibilityMs, expired.get(group));
  expired.delete(group);
  if (lock === undefined) {
    locked.set(group, now() + againMs);
    return [];
  }
  locked.delete(group);
  const all = waiting.take(group, room);
  const taken = all.filter(({ received }) => received <= maxReceives);
  await bury(
    claims,
    all.filter(({ received }) => received > maxReceives),
  );
  if (taken.length === 0) {
    await locks.release(lock);
    return [];
  }
  claims.count += 1;
  const left = new Map(taken.map((one) => [one.sequence, one]));
  byGroup.set(group, { nth: claims.count, since: now(), lock, left, delayMs: 0, last: Promise.resolve() });
  return taken;
};

/** Claims free groups of the messages that wait, and returns at most so many of their messages. */
export const claimAll = async (claims: Claims, most: number): Promise<readonly Received[]> => {
  const { byGroup, locked, waiting } = claims;
  expire(claims);
  const plans: { readonly group: string; readonly room: number }[] = [];
  let left = most;
  for (const [group, count] of waiting.groups()) {
    if (left <= 0) break;
    if (byGroup.has(group) || now() < (locked.get(group) ?? 0)) continue;
    plans.push({ group, room: Math.min(left, count) });
    left -= Math.min(left, count);
  }
  const taken = await Promise.all(plans.map(({ group, room }) => claim(claims, group, room)));
  return taken.flat().flatMap((one) => handedOf(claims, one));
};

/** The time until a group of those that wait may be free, ms. */
export const nextMs = ({ byGroup, locked, waiting }: Claims): number => {
  const groups = [...waiting.groups().keys()];
  const times = groups.map((group) => byGroup.get(group)?.lock.until ?? locked.get(group) ?? 0);
  return Math.max(shortestMs, Math.min(...times, Number.MAX_SAFE_INTEGER) - now());
};

/** Notes that another worker has freed a group. */
export const noteFree = ({ locked, waiting }: Claims, group: string): void => {
  if (locked.delete(group)) waiting.wake();
};

const receiptOf = ({ nth, lock }: Claim, { sequence }: Waiting): string => `${lock.group}:${nth}:${sequence}`;

const handedOf = ({ byGroup }: Claims, one: Waiting): readonly Received[] => {
  const out = byGroup.get(one.group);
  if (out === undefined) return [];
  const { group, body, received, sentAt, sequence } = one;
  return [{ id: String(sequence), receipt: receiptOf(out, one), group, body, received, sentAt }];
};

type Settled = { readonly out: Claim; readonly items: readonly Waiting[] };

/** Takes messages out of their claims; those whose receipt is over are left out. */
const settled = (claims: Claims, messages: readonly Received[]): readonly Settled[] => {
  expire(claims);
  const byClaim = new Map<Claim, Waiting[]>();
  for (const { group = "", receipt, id } of messages) {
    const out = claims.byGroup.get(group);
    const item = out?.left.get(Number(id));
    if (out === undefined || item === undefined || receipt !== receiptOf(out, item)) continue;
    byClaim.set(out, [...(byClaim.get(out) ?? []), item]);
  }
  for (const [out, items] of byClaim) for (const { sequence } of items) out.left.delete(sequence);
  return [...byClaim].map(([out, items]) => ({ out, items }));
};

/** Changes the lock of a claim, one change after the other. */
const inTurn = async <T>(out: Claim, change: () => Promise<T>): Promise<T> => {
  const next = out.last.then(change);
  out.last = next.catch(() => {});
  return await next;
};

/**
 * Extends the locks and the deliveries of the messages that are out. A lock that cannot be extended ends, and what comes
 * of its step is void.
 */
export const extendAll = async (claims: Claims): Promise<void> => {
  const { nats, locks, visibilityMs, longestMs, byGroup } = claims;
  const one = async (out: Claim): Promise<void> => {
    const isOut = (): boolean => out.left.size > 0 && byGroup.get(out.lock.group) === out;
    if (!isOut() || now() + visibilityMs > out.since + longestMs) return;
    const moved = await locks.move(out.lock, visibilityMs);
    if (moved === undefined) return;
    out.lock = moved;
    for (const { reply } of out.left.values()) nats.tell(reply, "+WPI");
  };
  await Promise.allSettled([...byGroup.values()].map((out) => inTurn(out, () => one(out))));
};

/** Ends the claim's lock, or sets its end anew; false: it was over. */
const close = async ({ locks, byGroup, waiting }: Claims, out: Claim): Promise<boolean> => {
  const { group } = out.lock;
  if (out.delayMs > 0) {
    const moved = await locks.move(out.lock, out.delayMs);
    if (moved === undefined) byGroup.delete(group);
    else out.lock = moved;
    return moved !== undefined;
  }
  const isOurs = await locks.release(out.lock);
  byGroup.delete(group);
  waiting.wake();
  return isOurs;
};

/** Acknowledges messages whose lock is ours: the server itself takes acknowledgements of old deliveries. */
export const acknowledge = async (claims: Claims, messages: readonly Received[]): Promise<void> => {
  const { nats, locks, waiting } = claims;
  const one = async ({ out, items }: Settled): Promise<void> => {
    const isLast = out.left.size === 0;
    const isOurs = await inTurn(out, () => (isLast ? close(claims, out) : locks.holds(out.lock)));
    if (!isOurs) return;
    for (const { sequence } of items) waiting.forget(sequence);
    await Promise.all(items.map(({ reply }) => nats.ask(reply, "+ACK")));
  };
  await Promise.all(settled(claims, messages).map(one));
};

/** Returns messages; their group stays locked for that time. */
export const giveBack = async (claims: Claims, messages: readonly Received[], ms: number): Promise<void> => {
  const one = async ({ out, items }: Settled): Promise<void> => {
    out.delayMs = Math.max(out.delayMs, ms);
    const isLast = out.left.size === 0;
    // While the lock stands, what comes back waits for its end, before everything that was sent later.
    const closed = (): Promise<boolean> => inTurn(out, () => close(claims, out));
    if (isLast && out.delayMs > 0 && !(await closed())) return;
    await Promise.all(items.map(({ reply }) => claims.nats.ask(reply, "-NAK")));
    if (isLast && out.delayMs === 0) await closed();
  };
  await Promise.all(settled(claims, messages).map(one));
};

/**
 * Claims of groups: their locks, and their messages that are out. Rules that the server does not keep are kept here: one
 * delivery of a group at a time, in order; a receipt whose lock is over does nothing; what was delivered too often goes
 * to the dead.
 */
import type { Report } from "../../engine/ports.ts";
import type { Received } from "../sqs/receiver.ts";
import type { Nats } from "./connection.ts";
import type { Lock, Locks } from "./locks.ts";
import type { Names } from "./streams.ts";
import type { Waiting, WaitingRoom } from "./waiting.ts";

type Claim = {
  lock: Lock;
  /** The messages that are out. */
  readonly left: Map<number, Waiting>;
  /** The longest delay of those that were given back, ms. */
  delayMs: number;
};

export type Claims = {
  readonly nats: Nats;
  readonly names: Names;
  readonly locks: Locks;
  readonly waiting: WaitingRoom;
  readonly visibilityMs: number;
  /** Deliveries of a message before it is put aside. */
  readonly maxReceives: number;
  readonly report: Report;
  readonly byGroup: Map<string, Claim>;
  /** Locks of this worker that are over. */
  readonly expired: Map<string, Lock>;
  /** Groups that another worker has locked, and when to try again. */
  readonly locked: Map<string, number>;
};

/** The fallback where the word of a free group does not come, ms. */
const againMs = 500;
const shortestMs = 5;

const now = (): number => performance.now();

export const openClaims = (parts: Omit<Claims, "byGroup" | "expired" | "locked">): Claims => ({
  ...parts,
  byGroup: new Map(),
  expired: new Map(),
  locked: new Map(),
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
  byGroup.set(group, { lock, left: new Map(taken.map((one) => [one.sequence, one])), delayMs: 0 });
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

const receiptOf = ({ lock }: Claim, { sequence }: Waiting): string => `${lock.group}:${lock.sequence}:${sequence}`;

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
    const isOurs = out.left.size === 0 ? await close(claims, out) : await locks.holds(out.lock);
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
    if (isLast && out.delayMs > 0 && !(await close(claims, out))) return;
    await Promise.all(items.map(({ reply }) => claims.nats.ask(reply, "-NAK")));
    if (isLast && out.delayMs === 0) await close(claims, out);
  };
  await Promise.all(settled(claims, messages).map(one));
};

/**
 * Locks of groups: one message per locked group, which the server removes when its time is over. Every change names the
 * sequence that it replaces, so of two workers one takes the lock, and a lock that has expired changes nothing.
 */
import * as z from "zod";
import type { Nats } from "./connection.ts";
import { isPassing, messageMissing, noSuchSequence, Refused, wrongSequence } from "./refusal.ts";
import type { Names } from "./streams.ts";

export type Lock = {
  readonly group: string;
  readonly sequence: number;
  /** Monotonic, ms: the holder regards its lock as over from then on. */
  readonly until: number;
  /** The connection on which it was taken. */
  readonly epoch: number;
};

export type Locks = {
  /** Locks the group; undefined: another worker has it. `own`: a lock of this worker that is over. */
  take(group: string, ms: number, own: Lock | undefined): Promise<Lock | undefined>;
  /** Sets the lock's end anew; undefined: it was over. */
  move(lock: Lock, ms: number): Promise<Lock | undefined>;
  /** Ends the lock; false: it was over. */
  release(lock: Lock): Promise<boolean>;
  holds(lock: Lock): Promise<boolean>;
};

const storedShape = z.object({ seq: z.number() });
const foundShape = z.object({ message: z.object({ seq: z.number(), data: z.string().catch("") }) });

type Found = { readonly sequence: number; readonly holder: string };

/** The server keeps the time of a lock in seconds. */
const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** Opens the locks of one worker; `holder` is its name, which no other worker has. */
export const openLocks = (nats: Nats, names: Names, holder: string): Locks => {
  /** Groups whose lock may have been taken by a request without an answer. */
  const unsure = new Set<string>();
  /** Stores the lock in place of a sequence; undefined: something else is there. */
  const put = async (group: string, ms: number, instead: number): Promise<Lock | undefined> => {
    const [until, epoch] = [performance.now() + ms, nats.epoch()];
    try {
      const { seq } = storedShape.parse(
        await nats.ask(names.lock(group), holder, {
          "Nats-Expected-Last-Subject-Sequence": String(instead),
          "Nats-TTL": String(secondsOf(ms)),
        }),
      );
      unsure.delete(group);
      return { group, sequence: seq, until, epoch };
    } catch (cause) {
      if (isPassing(cause)) unsure.add(group);
      if (cause instanceof Refused && wrongSequence.has(cause.code)) return undefined;
      throw cause;
    }
  };
  const found = async (which: object): Promise<Found | undefined> => {
    try {
      const { message } = foundShape.parse(await nats.ask(`$JS.API.STREAM.MSG.GET.${names.locks}`, which));
      return { sequence: message.seq, holder: Buffer.from(message.data, "base64").toString() };
    } catch (cause) {
      if (cause instanceof Refused && [messageMissing, noSuchSequence].includes(cause.code)) return undefined;
      throw cause;
    }
  };
  const holds: Locks["holds"] = async ({ sequence }) => (await found({ seq: sequence }))?.holder === holder;
  const isOver = ({ until }: Lock): boolean => performance.now() >= until;
  return {
    holds: async (lock) => !isOver(lock) && (await holds(lock)),
    take: async (group, ms, own) => {
      const taken = (own && (await put(group, ms, own.sequence))) ?? (await put(group, ms, 0));
      if (taken !== undefined || !unsure.has(group)) return taken;
      const there = await found({ last_by_subj: names.lock(group) });
      unsure.delete(group);
      return there?.holder === holder ? await put(group, ms, there.sequence) : undefined;
    },
    move: async (lock, ms) => (isOver(lock) ? undefined : await put(lock.group, ms, lock.sequence)),
    release: async (lock) => {
      if (isOver(lock)) return false;
      // A server that lost its disk's last writes gives a sequence to two locks.
      if (lock.epoch !== nats.epoch() && !(await holds(lock))) return false;
      try {
        await nats.ask(`$JS.API.STREAM.MSG.DELETE.${names.locks}`, { seq: lock.sequence, no_erase: true });
        return true;
      } catch (cause) {
        if (cause instanceof Refused) return false;
        throw cause;
      } finally {
        nats.tell(names.free, lock.group);
      }
    },
  };
};

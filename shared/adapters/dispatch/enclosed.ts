/**
 * The enclosure of a dispatcher's call, as a function takes it: parsed, believed only from a caller that may enclose, and
 * known only to the steps of that call.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import * as z from "zod";
import { type Key, textOf } from "../../core/key.ts";
import type { Enclosure } from "../../engine/ports.ts";
import { isStored } from "../../kube/responses.ts";

/** The most objects of one enclosed list. */
const mostListed = 64;

const stored = z.unknown().refine(isStored);

const shape = z.object({
  date: z.number().int().positive(),
  object: stored,
  lists: z.array(z.array(stored).max(mostListed)).max(4),
});

/** Parses the `enclosure` of an event; undefined if there is none, or one that is not well-formed. */
export const enclosureIn = (event: unknown): Enclosure | undefined => {
  const read = z.object({ enclosure: shape }).safeParse(event);
  return read.success ? read.data.enclosure : undefined;
};

export type EnclosedInCalls = {
  /** Runs the work of one call with its enclosure. */
  within<T>(enclosure: Enclosure | undefined, work: () => T): T;
  /** Returns the enclosure of the present call, if it is about the key. */
  find(key: Key): Enclosure | undefined;
};

export const openEnclosed = (cluster: string): EnclosedInCalls => {
  const calls = new AsyncLocalStorage<Enclosure>();
  return {
    within: (enclosure, work) => (enclosure === undefined ? work() : calls.run(enclosure, work)),
    find: (key) => {
      const enclosure = calls.getStore();
      if (enclosure === undefined) return undefined;
      const { kind, metadata } = enclosure.object;
      const about = { cluster, kind, namespace: metadata.namespace ?? "", name: metadata.name };
      return textOf(about) === textOf(key) ? enclosure : undefined;
    },
  };
};

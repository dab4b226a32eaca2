/** Parses messages: the body of a queue's message is checked before its key is used. */
import * as z from "zod";
import { longestReason, type Message, traceForm } from "../core/key.ts";

const word = z.string().min(1).max(253);

/** The most changes that one message names: with their longest names it is still shorter than the longest body. */
export const mostReplaced = 8;

const replaced = z.object({
  group: z.string().max(253),
  version: z.string().min(1).max(63),
  plural: z.string().min(1).max(63),
  namespace: z.string().max(63),
  name: word,
  uid: z.string().min(1).max(64),
  resourceVersion: z.string().min(1).max(64).optional(),
});

const shape = z.object({
  cluster: word,
  kind: word,
  namespace: z.string().max(63),
  name: word,
  reason: z.string().max(longestReason),
  resourceVersion: z.string().max(64).optional(),
  fresh: z.literal(true).optional(),
  tries: z.number().int().min(0).optional(),
  standbys: z.number().int().min(0).optional().catch(undefined),
  until: z.number().int().min(0).optional(),
  stays: z.literal(true).optional(),
  // A bad hint, instant of a timer, or trace does not make the message invalid.
  after: z.array(replaced).min(1).max(mostReplaced).optional().catch(undefined),
  looks: z.number().int().min(0).optional().catch(undefined),
  due: z.number().min(0).optional().catch(undefined),
  trace: z.string().regex(traceForm).optional().catch(undefined),
});

/**
 * The schema of the messages that this version sends and reads. Messages of schema 1 do not carry the number; later
 * schemas must.
 */
const schema = 1;

/** The fields that messages of every later schema have. */
const later = z.looseObject({
  schema: z
    .number()
    .int()
    .min(schema + 1),
  cluster: word,
  kind: word,
  name: word,
});

/** True for a message of a newer version of Rekindle, which must take it. */
export const isNewer = (text: string): boolean => {
  if (!text.includes('"schema"')) return false;
  try {
    return later.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

/** Returns the message in a body, or undefined if it is not one; the caller reports and acknowledges such a body. */
export const readMessage = (text: string): Message | undefined => {
  try {
    const { resourceVersion, fresh, tries, standbys, until, stays, after, looks, due, trace, ...message } = shape.parse(
      JSON.parse(text),
    );
    return {
      ...message,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fresh === undefined ? {} : { fresh }),
      ...(tries === undefined ? {} : { tries }),
      ...(standbys === undefined ? {} : { standbys }),
      ...(until === undefined ? {} : { until }),
      ...(stays === undefined ? {} : { stays }),
      ...(after === undefined ? {} : { after }),
      ...(looks === undefined ? {} : { looks }),
      ...(due === undefined ? {} : { due }),
      ...(trace === undefined ? {} : { trace }),
    };
  } catch {
    return undefined;
  }
};

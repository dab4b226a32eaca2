/** The door for messages: what a queue carries is parsed before its key is believed. */
import * as z from "zod";
import type { Message } from "../core/key.ts";
import { traceForm } from "../core/trace.ts";

const word = z.string().min(1).max(253);

const shape = z.object({
  cluster: word,
  kind: word,
  namespace: z.string().max(63),
  name: word,
  reason: z.string().max(200),
  resourceVersion: z.string().max(64).optional(),
  fresh: z.literal(true).optional(),
  tries: z.number().int().min(0).optional(),
  until: z.number().int().min(0).optional(),
  // Only logs need it: a message is no poison for it.
  trace: z.string().regex(traceForm).optional().catch(undefined),
});

/** The schema of what this version sends and reads. The first one is not written: whoever changes it writes a later one. */
const schema = 1;

/** Of every schema: whose it is can always be told. */
const later = z.looseObject({
  schema: z
    .number()
    .int()
    .min(schema + 1),
  cluster: word,
  kind: word,
  name: word,
});

/** True for a message of a later Rekindle's: who knows its schema shall have it. */
export const isNewer = (text: string): boolean => {
  if (!text.includes('"schema"')) return false;
  try {
    return later.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

/** The message in a queue's text, or undefined when it is none: poison, to be told and acknowledged. */
export const readMessage = (text: string): Message | undefined => {
  try {
    const { resourceVersion, fresh, tries, until, trace, ...message } = shape.parse(JSON.parse(text));
    return {
      ...message,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fresh === undefined ? {} : { fresh }),
      ...(tries === undefined ? {} : { tries }),
      ...(until === undefined ? {} : { until }),
      ...(trace === undefined ? {} : { trace }),
    };
  } catch {
    return undefined;
  }
};

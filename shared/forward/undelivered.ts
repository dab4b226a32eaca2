/**
 * Finds undelivered status updates, from metadata alone: streams that are behind, and deliveries without a stream.
 * Pure.
 */
import { dedupe, deliveryKey, type Key, subjectOf, textOf } from "../core/key.ts";
import type { Due, Hint } from "./resync.ts";

/** Returns the messages of one resync; `hints` are those of all records. */
export const undeliveredOf = (cluster: string, hints: readonly Hint[], sweep: string): readonly Due[] => {
  const streams = hints.map(({ kind, namespace, name, updates }) => ({
    key: { cluster, kind, namespace, name },
    updates,
  }));
  const reached = new Map(streams.map(({ key, updates }) => [textOf(key), updates]));
  const due = streams.flatMap(({ key, updates }): readonly Key[] => {
    const subject = subjectOf(key);
    if (subject !== undefined) return reached.get(textOf(subject)) === undefined ? [key] : [];
    return updates === undefined || reached.get(textOf(deliveryKey(key))) === updates ? [] : [deliveryKey(key)];
  });
  return due.map((key) => ({ message: { ...key, reason: "resync: updates" }, dedupeId: dedupe.sweep(key, sweep) }));
};

/**
 * Finds the keys that a resync must send, from metadata alone: unrecorded, unfinished, drifted or orphaned objects,
 * streams of status updates that are behind, and deliveries without a stream. Pure.
 */
import { loggedKind, logsAged } from "../core/kept-log.ts";
import { dedupe, deliveryKey, type Key, longestDelayMs, type Message, subjectOf, textOf } from "../core/key.ts";
import type { Metadata } from "../core/object.ts";
import { type Unheard, unheardOf } from "./unheard.ts";

/**
 * The fields of a checkpoint that its metadata shows. `wakeAt` and `pruneAt` (end of the oldest run's retention) in
 * epoch ms.
 */
export type Hint = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number | undefined;
  readonly rests: boolean;
  /** The digest of labels and annotations that the record rests on; absent in records of earlier versions. */
  readonly marks?: string;
  readonly wakeAt: number | undefined;
  readonly pruneAt: number | undefined;
  /** The position of its stream of updates: of the newest update, or of the newest acknowledged one. */
  readonly updates?: string;
};

/** The fields by which a resync tells whether an object needs a step; `marks`: see core/marks.ts. */
export type ListedObject = Pick<
  Metadata,
  "name" | "namespace" | "uid" | "generation" | "creationTimestamp" | "deletionTimestamp"
> & { readonly marks: string };

/** All objects of one kind: their metadata and the hints of their checkpoints. */
export type ListedKind = {
  readonly cluster: string;
  readonly kind: string;
  readonly objects: readonly ListedObject[];
  readonly hints: readonly Hint[];
  /** Names of objects without a namespace that every cluster must have. */
  readonly founds?: readonly string[] | undefined;
  /** Places of objects for which other objects wait: see `Watch.errand`. */
  readonly errands?: ReadonlySet<string>;
  /** Epoch ms. */
  readonly now: number;
};

/** `unheard`: a change of the object that no step has taken notice of. */
export type Due = { readonly message: Message; readonly dedupeId: string; readonly unheard?: Unheard | undefined };

/** Namespace and name of an object as one text. */
export const place = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

/** Returns why an object needs a step; undefined if the resync may skip it. The step that is due soon sets its exact timer. */
export const reasonFor = (
  object: ListedObject,
  hint: Hint | undefined,
  { now, errands }: Pick<ListedKind, "now" | "errands">,
): string | undefined => {
  if (hint === undefined) return "unrecorded";
  if (hint.uid !== object.uid) return "replaced";
  if (object.deletionTimestamp !== undefined) return "ending";
  if (hint.generation !== object.generation) return "drifted";
  if (!hint.rests) return "unfinished";
  if (hint.marks !== undefined && hint.marks !== object.marks) return "marked";
  if (errands?.has(place(object.namespace, object.name)) === true) return "errand";
  if (hint.wakeAt !== undefined && hint.wakeAt <= now + longestDelayMs) return "timer";
  return hint.pruneAt !== undefined && hint.pruneAt <= now ? "retention" : undefined;
};

/** The number of objects or hints after which `dueOf` yields undefined, so that its caller can serve other work. */
const restEvery = 1_000;

function* placed(hints: readonly Hint[]): Generator<undefined, ReadonlyMap<string, Hint>> {
  const found = new Map<string, Hint>();
  for (const hint of hints) {
    found.set(place(hint.namespace, hint.name), hint);
    if (found.size % restEvery === 0) yield undefined;
  }
  return found;
}

/**
 * Yields the messages of one resync. A timer beyond the queue's longest delay is set by the step that its unfinished
 * object gets. `sweep` names this resync, so that its deduplication ids are unique.
 */
export function* dueOf(census: ListedKind, sweep: string): Generator<Due | undefined> {
  const { cluster, kind } = census;
  const hints = yield* placed(census.hints);
  const message = (namespace: string, name: string, reason: string, change: Partial<ListedObject> = {}): Due => {
    const key: Key = { cluster, kind, namespace, name };
    const dedupeId = dedupe.sweep(key, sweep);
    return {
      message: { ...key, reason: `resync: ${reason}` },
      dedupeId,
      unheard: unheardOf(key, reason, change, census.now),
    };
  };
  const present = new Set<string>();
  for (const object of census.objects) {
    const where = place(object.namespace, object.name);
    present.add(where);
    const reason = reasonFor(object, hints.get(where), census);
    if (reason !== undefined) yield message(object.namespace ?? "", object.name, reason, object);
    if (present.size % restEvery === 0) yield undefined;
  }
  for (const [where, { namespace, name }] of hints) if (!present.has(where)) yield message(namespace, name, "orphaned");
  for (const name of census.founds ?? [])
    if (!present.has(place("", name)) && !hints.has(place("", name))) yield message("", name, "missing");
}

/**
 * Returns the messages about kept logs whose retention is over, and about those that death has left behind: `hints` are
 * those of all records, `kinds` those that this deployment runs. Logs that rest outlive their object.
 */
export const agedLogsOf = (
  {
    cluster,
    kinds,
    hints,
    now,
  }: Pick<ListedKind, "cluster" | "hints" | "now"> & { readonly kinds: ReadonlySet<string> },
  sweep: string,
): readonly Due[] => {
  const logs = hints.filter(({ kind }) => loggedKind(kind) !== undefined);
  if (logs.length === 0) return [];
  const id = (kind: string, { namespace, name }: Hint): string => `${kind} ${place(namespace, name)}`;
  const present = new Set(hints.map((hint) => id(hint.kind, hint)));
  return logs.flatMap((hint) => {
    const kind = loggedKind(hint.kind);
    if (kind === undefined || !kinds.has(kind)) return [];
    const isLeft = !hint.rests && !present.has(id(kind, hint));
    if (!isLeft && (hint.pruneAt === undefined || hint.pruneAt > now)) return [];
    const key = { cluster, kind, namespace: hint.namespace, name: hint.name };
    return [{ message: { ...key, reason: logsAged }, dedupeId: dedupe.sweep(key, `${sweep} logs`) }];
  });
};

/** Returns the messages of one resync; `hints` are those of all records. */
export const undeliveredOf = (cluster: string, hints: readonly Hint[], sweep: string): readonly Due[] => {
  // Most records have no stream.
  const streams = hints.flatMap(({ kind, namespace, name, updates }) => {
    const key = { cluster, kind, namespace, name };
    return updates === undefined && subjectOf(key) === undefined ? [] : [{ key, updates }];
  });
  const reached = new Map(streams.map(({ key, updates }) => [textOf(key), updates]));
  const due = streams.flatMap(({ key, updates }): readonly Key[] => {
    const subject = subjectOf(key);
    if (subject !== undefined) return reached.get(textOf(subject)) === undefined ? [key] : [];
    return updates === undefined || reached.get(textOf(deliveryKey(key))) === updates ? [] : [deliveryKey(key)];
  });
  return due.map((key) => ({ message: { ...key, reason: "resync: updates" }, dedupeId: dedupe.sweep(key, sweep) }));
};

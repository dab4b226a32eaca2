/** What a resync finds worth looking at again, from metadata alone: unrecorded, unfinished, drifted, orphaned. Pure. */
import { dedupe, type Key, type Message } from "../core/key.ts";
import type { Metadata } from "../core/object.ts";

/** What a checkpoint's metadata tells. `wakeAt`, and `pruneAt`, when it holds what need not be kept any more, in epoch ms. */
export type Hint = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number | undefined;
  readonly rests: boolean;
  readonly wakeAt: number | undefined;
  readonly pruneAt: number | undefined;
  /** How far its stream of updates has come: of what is to be told, or of what was acknowledged. */
  readonly updates?: string;
};

/** Everything of one kind: its objects' metadata and the hints of its checkpoints. */
export type Census = {
  readonly cluster: string;
  readonly kind: string;
  readonly objects: readonly Metadata[];
  readonly hints: readonly Hint[];
  /** Names of objects without a namespace that every cluster has. */
  readonly founds?: readonly string[] | undefined;
  /** Places of objects for which something waits to be taken up: see `Watch.errand`. */
  readonly errands?: ReadonlySet<string>;
  /** Epoch ms. */
  readonly now: number;
};

export type Due = { readonly message: Message; readonly dedupeId: string };

/** Where an object stands, as text. */
export const place = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

/** Why an object deserves a step; undefined when it may be passed by. */
const reasonFor = (object: Metadata, hint: Hint | undefined, { now, errands }: Census): string | undefined => {
  if (hint === undefined) return "unrecorded";
  if (hint.uid !== object.uid) return "replaced";
  if (object.deletionTimestamp !== undefined) return "ending";
  if (hint.generation !== object.generation) return "drifted";
  if (!hint.rests) return "unfinished";
  if (errands?.has(place(object.namespace, object.name)) === true) return "errand";
  return hint.pruneAt !== undefined && hint.pruneAt <= now ? "retention" : undefined;
};

/**
 * The messages of one sweep. A timer that is further away than the queue can hold is re-armed by the step that its
 * unfinished application gets; `sweep` names this run, so that its messages cannot be taken for another's.
 */
export function* dueOf(census: Census, sweep: string): Generator<Due> {
  const { cluster, kind } = census;
  const hints = new Map(census.hints.map((hint) => [place(hint.namespace, hint.name), hint]));
  const message = (namespace: string, name: string, reason: string): Due => {
    const key: Key = { cluster, kind, namespace, name };
    return { message: { ...key, reason: `resync: ${reason}` }, dedupeId: dedupe.sweep(key, sweep) };
  };
  const present = new Set<string>();
  for (const object of census.objects) {
    const where = place(object.namespace, object.name);
    present.add(where);
    const reason = reasonFor(object, hints.get(where), census);
    if (reason !== undefined) yield message(object.namespace ?? "", object.name, reason);
  }
  for (const [where, { namespace, name }] of hints) if (!present.has(where)) yield message(namespace, name, "orphaned");
  for (const name of census.founds ?? [])
    if (!present.has(place("", name)) && !hints.has(place("", name))) yield message("", name, "missing");
}

/**
 * The cache of a process: the record that its own last step of a key saved, the object as it was then, and the objects
 * of its watch. All of it may be outdated, so only a plan that is `staleSafe` is carried out on it; any other plan is
 * decided again on live reads. The save is conditional as always: a step that begins with an outdated record loses the
 * save and has touched nothing.
 */
import type { Key } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Looking } from "../core/plan.ts";
import type { Epoch } from "../core/time.ts";
import type { CheckpointRecord, Version } from "./ports.ts";

/**
 * The end of a step. Without a record, the memory is the one that the object's status implies: see
 * writes/status-first.ts.
 */
export type CachedStep = (
  | { readonly record: CheckpointRecord; readonly version: Version }
  | { readonly record: undefined; readonly memory: unknown }
) & { readonly object: Stored; readonly epoch: Epoch };

export type StepCache = {
  /** Removes and returns the entry of the key; undefined if the object has changed since. */
  take(key: Key): CachedStep | undefined;
  keep(key: Key, recollection: CachedStep): void;
  /**
   * Returns a new object, whole, as the watch has shown it, and the server's clock; undefined if either is not known.
   */
  appeared(key: Key): { readonly object: Stored; readonly epoch: Epoch } | undefined;
  /**
   * Takes in an object that a step of the key has created, as the server answered: it is known before the watch shows
   * it.
   */
  made(key: Key, resource: Resource, object: Stored): void;
  /**
   * Tells the cache that the key's record rests on live reads, or on those of another process: the watch may be behind
   * it.
   */
  invalidate(key: Key): void;
  /** Returns the watched objects that answer the query; undefined if not all of them are watched, or one is missing. */
  look(key: Key, query: Looking): readonly Stored[] | undefined;
};

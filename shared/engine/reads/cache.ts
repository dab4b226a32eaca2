/**
 * What a process knows without asking: the record that its own last step of a key left, the object as it was then, and
 * what it has been watching since. All of it may be behind, so only a plan that says that it stands behind (`staleSafe`)
 * is carried out on it; any other is decided again on what is read live. The save is conditional as always: whoever
 * recalls a record that others have gone on from loses it, and has touched nothing.
 */
import type { Key } from "../../core/key.ts";
import type { Resource, Stored } from "../../core/object.ts";
import type { Looking } from "../../core/query.ts";
import type { Epoch } from "../../core/time.ts";
import type { CheckpointRecord, Version } from "../ports.ts";

/** Without a record the memory is the one that the object's status tells: see status-first.ts. */
export type CachedStep = (
  | { readonly record: CheckpointRecord; readonly version: Version }
  | { readonly record: undefined; readonly memory: unknown }
) & { readonly object: Stored; readonly epoch: Epoch };

export type StepCache = {
  /** What was kept of the key, and is nobody's any more; undefined when the object has changed since. */
  take(key: Key): CachedStep | undefined;
  keep(key: Key, recollection: CachedStep): void;
  /** A new object, whole, as it was watched to appear, and the server's clock; undefined where either is not known. */
  appeared(key: Key): { readonly object: Stored; readonly epoch: Epoch } | undefined;
  /** A step of the key has made it, as the server answers: it is known before the watch shows it. */
  made(key: Key, resource: Resource, object: Stored): void;
  /** The key's record holds what was read, or what others have seen: what is watched may be behind it. */
  invalidate(key: Key): void;
  /** What is being watched for keys of this kind, as it was last seen; undefined where not all of it is, or one is not there. */
  look(key: Key, query: Looking): readonly Stored[] | undefined;
};

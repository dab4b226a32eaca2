/**
 * Checkpoints in memory, for tests and for hosts that may lose their records. Records pass through JSON, as in any
 * store.
 */
import { type Key, textOf } from "../../core/key.ts";
import type { Checkpoints } from "../../engine/ports.ts";

export type MemoryCheckpoints = Checkpoints & {
  /** Returns the stored record of a key as JSON text, for tests. */
  text(key: Key): string | undefined;
  /** Text of the stored records by key. */
  all(): ReadonlyMap<string, string>;
};

/** An empty store. */
export const memoryCheckpoints = (): MemoryCheckpoints => {
  const stored = new Map<string, { readonly text: string; readonly version: string }>();
  let versions = 0;
  return {
    load: async (key) => {
      const found = stored.get(textOf(key));
      return found === undefined ? undefined : { record: JSON.parse(found.text), version: found.version };
    },
    save: async (key, record, version) => {
      if (stored.get(textOf(key))?.version !== version) return "raced";
      versions += 1;
      stored.set(textOf(key), { text: JSON.stringify(record), version: String(versions) });
      return String(versions);
    },
    remove: async (key, version) => {
      if (stored.get(textOf(key))?.version !== version) return "raced";
      stored.delete(textOf(key));
      return "removed";
    },
    text: (key) => stored.get(textOf(key))?.text,
    all: () => new Map([...stored].map(([key, { text }]) => [key, text])),
  };
};

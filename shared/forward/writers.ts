/** Detects other controllers by the watches: another field manager wrote the status of a watched object. */
import type { Stored } from "../core/object.ts";
import { freshMs, upstreams, writerOf, writingSigns } from "../kube/upstream-controllers.ts";

export type Writers = {
  /** Notes the writer of an object's status, from the object as the server sent it. */
  see(object: Stored): void;
  /**
   * Returns one line if another controller wrote the status of objects of these API groups shortly before `now`, epoch
   * ms.
   */
  signs(groups: readonly string[], now: number): readonly string[];
  /** True if the first call was so long before `now` that every write that still counts has been seen. */
  knowsAll(now: number): boolean;
};

const groupOf = ({ apiVersion }: Stored): string => apiVersion.split("/")[0] ?? "";

/**
 * Kinds whose status is also written by components other than these controllers: Volcano's scheduler has its own signs.
 */
const passed: ReadonlySet<string> = new Set(["PodGroup"]);

export const openWriters = (): Writers => {
  const watched = new Set(upstreams.flatMap(({ groups }) => groups));
  /** The object with the newest write, by API group: one is enough for a sign. */
  const newest = new Map<string, { readonly object: Stored; readonly at: number }>();
  let firstAsked: number | undefined;
  return {
    see: (object) => {
      const group = groupOf(object);
      if (!watched.has(group) || passed.has(object.kind)) return;
      // Whether the write is recent is decided later, by the server's clock.
      const writer = writerOf(object, Number.NEGATIVE_INFINITY);
      if (writer === undefined || writer.at <= (newest.get(group)?.at ?? Number.NEGATIVE_INFINITY)) return;
      const { apiVersion, kind, metadata } = object;
      newest.set(group, { object: { apiVersion, kind, metadata }, at: writer.at });
    },
    signs: (groups, now) =>
      writingSigns(
        groups.flatMap((group) => newest.get(group)?.object ?? []),
        now,
      ),
    knowsAll: (now) => {
      firstAsked ??= now;
      return now - firstAsked >= freshMs;
    },
  };
};

/** Controllers that are seen at work by the watches: whoever else wrote the status of an object that is watched. */
import type { Stored } from "../core/object.ts";
import { freshMs, upstreams, writerOf, writingSigns } from "../kube/upstream-controllers.ts";

export type Writers = {
  /** Notes who wrote an object's status, of the object as the server gave it. */
  see(object: Stored): void;
  /** One line when somebody else wrote the status of objects of these API groups a moment before `now`, epoch ms. */
  signs(groups: readonly string[], now: number): readonly string[];
  /** True when it was asked first so long before `now` that it has seen every write that still counts. */
  knowsAll(now: number): boolean;
};

const groupOf = ({ apiVersion }: Stored): string => apiVersion.split("/")[0] ?? "";

/** Kinds whose status others than controllers of these families write: Volcano's scheduler has its own signs. */
const passed: ReadonlySet<string> = new Set(["PodGroup"]);

export const openWriters = (): Writers => {
  const watched = new Set(upstreams.flatMap(({ groups }) => groups));
  /** The object that was written last, by API group: one is enough for a sign. */
  const newest = new Map<string, { readonly object: Stored; readonly at: number }>();
  let firstAsked: number | undefined;
  return {
    see: (object) => {
      const group = groupOf(object);
      if (!watched.has(group) || passed.has(object.kind)) return;
      // Whether it is fresh is asked later, by the server's clock.
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

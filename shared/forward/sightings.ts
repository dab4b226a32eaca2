/** Stores the last signs of other controllers, apart from leases: one record for all functions of a deployment. */
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import type { Cursors } from "./cursors.ts";

const sighting = z.object({
  /** By the API server's clock, epoch ms. */
  at: z.number(),
  /** Running workloads, by the name of the upstream. */
  signs: z.record(z.string(), z.array(z.string())),
  /** Recent status writes, by the name of the upstream. */
  written: z.record(z.string(), z.array(z.string())).default({}),
});

export type Sighting = z.infer<typeof sighting>;

/** Returns all stored signs of an upstream. */
export const signsIn = ({ signs, written }: Sighting, name: string): readonly string[] => [
  ...(signs[name] ?? []),
  ...(written[name] ?? []),
];

export type Sightings = {
  /** Undefined if nothing was stored, or the record cannot be read. */
  load(): Promise<Sighting | undefined>;
  /**
   * Stores changed signs. In a quiet cluster the record is only renewed now and then, as proof that a function still
   * looks.
   */
  save(seen: Sighting): Promise<void>;
};

/** A record that was not renewed for this long, ms, is outdated: no function renews it. */
export const trustedMs = 7_200_000;
const renewedMs = 3_600_000;

/** Returns the text to compare; the age of a status write is left out of it. */
const gistOf = ({ signs, written }: Sighting): string => JSON.stringify({ signs, written }).replace(/\b\d+ s ago/g, "");

/** Opens the record beside those of the cursors. */
export const openSightings = (cursors: Cursors, key: Key): Sightings => {
  const load = async (): Promise<Sighting | undefined> =>
    sighting.safeParse(jsonOf((await cursors.load(key)) ?? "")).data;
  return {
    load,
    save: async (seen) => {
      const kept = await load();
      if (kept !== undefined && gistOf(kept) === gistOf(seen) && seen.at - kept.at < renewedMs) return;
      await cursors.save(key, JSON.stringify(seen));
    },
  };
};

/** What was seen last of other controllers, beside their leases: one record for all functions of a deployment. */
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import type { Cursors } from "./cursors.ts";

const sighting = z.object({
  /** By the API server's clock, epoch ms. */
  at: z.number(),
  /** What runs, by the name of the upstream. */
  signs: z.record(z.string(), z.array(z.string())),
  /** Who has just written, by the name of the upstream. */
  written: z.record(z.string(), z.array(z.string())).default({}),
});

export type Sighting = z.infer<typeof sighting>;

/** Every sign of an upstream that was seen. */
export const signsIn = ({ signs, written }: Sighting, name: string): readonly string[] => [
  ...(signs[name] ?? []),
  ...(written[name] ?? []),
];

export type Sightings = {
  /** Undefined when nobody has looked, or what was kept cannot be read. */
  load(): Promise<Sighting | undefined>;
  /** Keeps what is news. In a quiet cluster nothing is written but a proof, now and then, that somebody looks. */
  save(seen: Sighting): Promise<void>;
};

/** A record that nobody has renewed for so long is of nobody who looks any more. */
export const trustedMs = 7_200_000;
const renewedMs = 3_600_000;

/** How long ago a status was written is no news. */
const gistOf = ({ signs, written }: Sighting): string => JSON.stringify({ signs, written }).replace(/\b\d+ s ago/g, "");

/** Kept where cursors are. */
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

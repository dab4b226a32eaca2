/**
 * Plans in flight: an admission round saves the groups that it is about to admit before it admits them. The next round
 * reads whether each write has arrived. Until then, or until none of them can arrive any more, it plans nothing, so that no
 * two rounds give one place away.
 */
import type { Stored } from "../../core/object.ts";
import type { QueueMemory } from "../queue/state/memory.ts";
import { isWaiting } from "./phase.ts";

export type InFlight = NonNullable<QueueMemory["planning"]>;

/** The longest time from a save to the arrival of its writes, ms: the fence, the request timeout, a second of rounding. */
const latestMs = 16_000;

/** Returns until when a write may still arrive, epoch ms; undefined if each has arrived or cannot. */
export const unsettledUntil = (
  planning: InFlight | undefined,
  groups: readonly Stored[],
  now: number,
): number | undefined => {
  if (planning === undefined || now >= planning.at + latestMs) return undefined;
  const isOpen = groups.some(
    (group) => isWaiting(group) && planning.groups[group.metadata.uid] === group.metadata.resourceVersion,
  );
  return isOpen ? planning.at + latestMs : undefined;
};

/** Returns what a round remembers of the groups that it admits; undefined if it admits none. */
export const inFlightOf = (groups: readonly Stored[], now: number): InFlight | undefined =>
  groups.length === 0
    ? undefined
    : {
        at: now,
        groups: Object.fromEntries(groups.map(({ metadata: { uid, resourceVersion } }) => [uid, resourceVersion])),
      };

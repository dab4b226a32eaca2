/**
 * The slots of a host's steps: of submissions, and of steps that create many objects. With more of the latter at once,
 * each would outlast its fence, and its pods would come in several steps.
 */
import type { World } from "../../engine/context/world.ts";
import { type LongestWait, openSlots } from "../../engine/load-limits.ts";

/** `npm run bench -- gang` is fastest with this number; the first gang is whole sooner with fewer, see decision 44. */
const creatorsAtOnce = 6;

/** Wait and step together are shorter than the time after which the queue delivers a message again. */
const longestTurn: LongestWait = {
  ms: 30_000,
  alarm: (ring, ms) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};

export const openHostSlots = (maxSubmissions: number): Pick<World, "turns" | "creators"> => ({
  turns: openSlots(maxSubmissions),
  creators: openSlots(creatorsAtOnce, longestTurn),
});

/** The evictions of pods that belong to the kinds of some families. */
import type { World } from "../../engine/context/world.ts";
import { takingEvictions } from "../../forward/eviction.ts";
import { subjectsOf } from "../../forward/keys.ts";
import type { Family } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";
import { watchers } from "../../registry/watchers.ts";

export const evictionsOf = (
  { cluster, queue }: Pick<World, "cluster" | "queue">,
  families: readonly Family[],
): NonNullable<World["evicted"]> =>
  takingEvictions({ cluster, queue, subjects: subjectsOf(watchers.filter(runs(families))) });

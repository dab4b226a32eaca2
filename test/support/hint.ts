/** A hint for tests of the resync: the facts about a record by which an object needs a step or not. */
import type { Hint } from "../../shared/forward/resync.ts";

/** The hint of a record that rests, of generation 2 of the application `ns/pi`. */
export const hint = (more: Partial<Hint> = {}): Hint => ({
  kind: "SparkApplication",
  namespace: "ns",
  name: "pi",
  uid: "u1",
  generation: 2,
  rests: true,
  wakeAt: undefined,
  pruneAt: undefined,
  ...more,
});

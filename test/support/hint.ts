/** What a resync knows of a record: that of an application at its end, unless a test says otherwise. */
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

/** Status updates for those that take steps: who listens. What delivers is in function.ts. */
import type { Updates } from "../../engine/ports.ts";
import { readRecord } from "../../engine/record.ts";
import type { World } from "../../engine/world.ts";
import { openUpdates } from "../../updates/listeners.ts";

/** The port through which steps learn who listens. `to`: who is told where nobody else is named; "": nobody. */
export const updatesFor = ({ cluster, checkpoints, report, clock }: World, { to }: { readonly to: string }): Updates =>
  openUpdates({ cluster, checkpoints, report, read: readRecord, fallback: to, now: () => clock.monotonic() });

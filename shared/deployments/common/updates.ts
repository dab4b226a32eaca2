/** Status updates on the side of steps: the listeners of each object. Delivery is in deliver/function.ts. */

import { readDelivery } from "../../engine/checkpoint/record.ts";
import type { World } from "../../engine/context/world.ts";
import { type Listeners, openUpdates } from "../../updates/listeners.ts";

/**
 * Opens the ports through which steps and deliveries find an object's listener. `to`: the listener where neither object nor namespace
 * names one; "": none.
 */
export const updatesFor = (
  { cluster, checkpoints, report, clock }: World,
  { to }: { readonly to: string },
): Listeners => openUpdates({ cluster, checkpoints, report, readDelivery, fallback: to, now: () => clock.monotonic() });

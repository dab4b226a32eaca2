/** Status updates on the side of steps: the listeners of each object. Delivery is in deliver/function.ts. */

import { isOutbox, readDelivery } from "../../engine/checkpoint/record.ts";
import type { World } from "../../engine/context/world.ts";
import type { Checkpoints, Report } from "../../engine/ports.ts";
import { type Listeners, openUpdates } from "../../updates/listeners.ts";
import { provingOutboxes } from "../../updates/proof.ts";
import type { Secret } from "./secret.ts";

/**
 * Opens the ports through which steps and deliveries find an object's listener. `to`: the listener where neither object nor namespace
 * names one; "": none.
 */
export const updatesFor = (
  { cluster, checkpoints, report, clock }: World,
  { to }: { readonly to: string },
): Listeners => openUpdates({ cluster, checkpoints, report, readDelivery, fallback: to, now: () => clock.monotonic() });

type Operators = { readonly to: string; readonly secret?: Secret | undefined };

/** Opens the store in which outboxes carry a proof of the operator's settings. */
export const provenRecords = (checkpoints: Checkpoints, { to, secret }: Operators, report: Report): Checkpoints =>
  provingOutboxes(checkpoints, { to, secret, report, isOutbox });

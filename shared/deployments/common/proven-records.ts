/** The store of records in which outboxes carry a proof. Each step has it, also where no object has a listener. */
import { isOutbox } from "../../engine/checkpoint/record.ts";
import type { Checkpoints, Report } from "../../engine/ports.ts";
import { provingOutboxes } from "../../updates/proof.ts";
import type { Secret } from "./secret.ts";

type Operators = { readonly to: string; readonly secret?: Secret | undefined };

/** Opens the store in which outboxes carry a proof of the operator's settings. */
export const provenRecords = (checkpoints: Checkpoints, { to, secret }: Operators, report: Report): Checkpoints =>
  provingOutboxes(checkpoints, { to, secret, report, isOutbox });

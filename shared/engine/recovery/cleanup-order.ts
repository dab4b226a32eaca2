/** The order to clean up in a record: while it stands, and what it leaves when it is done. */
import type { Operator } from "../../core/operator.ts";
import type { CheckpointRecord, Cleanup } from "../ports.ts";

/** Returns the order that is still to be carried out. */
export const orderIn = (record: CheckpointRecord | undefined): Cleanup | undefined =>
  record?.cleanup?.done === undefined ? record?.cleanup : undefined;

export const cleanedUp = "everything it owned was ended by rekindle recover --mode cleanup";

/**
 * Returns why the key stays stopped after a cleanup; undefined if it does not, or if the kind records the cleanup in
 * its own memory.
 */
export const stoppedBy = (
  { recovery }: Operator<unknown>,
  record: CheckpointRecord | undefined,
  generation: number | undefined,
): string | undefined => {
  if (record?.cleanup?.done === undefined || recovery?.ended !== undefined) return undefined;
  if (record.generation !== generation) return undefined;
  return `${cleanedUp}: change its spec, or let it go on with rekindle recover`;
};

/** The one status write of a step, at its end: only when what is there is not what we last wished and were answered. */
import { digestOf, mergePatch, same } from "../core/json.ts";
import type { Ref, Stored } from "../core/object.ts";
import type { CheckpointRecord, Cluster } from "./ports.ts";

export type StatusMemo = CheckpointRecord["status"];

/**
 * The patch that is still to be written, or undefined. A CRD that prunes fields keeps something else than we wish: then
 * the record holds both digests, and the same pair again needs no write.
 */
export const statusPatch = (object: Stored, wished: unknown, memo: StatusMemo): unknown => {
  const there = object["status"] ?? {};
  if (same(there, wished)) return undefined;
  if (memo !== undefined && memo.wished === digestOf(wished) && memo.answered === digestOf(there)) return undefined;
  return mergePatch(there, wished);
};

/** Writes the patch and gives back the memo to keep, if the server kept something else than was wished. */
export const writeStatus = async (
  cluster: Cluster,
  ref: Ref,
  object: Stored,
  change: { readonly patch: unknown; readonly wished: unknown },
): Promise<StatusMemo> => {
  const answer = await cluster.patchStatus(ref, object.metadata.resourceVersion, change.patch);
  const kept = answer["status"] ?? {};
  if (same(kept, change.wished)) return undefined;
  return { wished: digestOf(change.wished), answered: digestOf(kept) };
};

/** What somebody may ask of a recovery, and what it answers. */
import type { Ref } from "../../core/object.ts";
import type { Returning } from "../../core/recovery.ts";

export type RecoveryRequest = {
  /** Adopt what lives and wait for what does not come back at once; or end everything that the key owns. */
  readonly mode: "reconnect" | "cleanup";
  /** The record is given up, whatever stands in it. */
  readonly fresh: boolean;
  /** The re-registration timeout, ms; absent: the object's own, or the deployment's. */
  readonly returnMs?: number;
  /** What is ended has so long before it is ended by force. */
  readonly graceSeconds: number;
};

/** What is there of a key when its recovery begins, and what becomes of its record. */
export type Finding = {
  /** The record's state in a word, and in a sentence. */
  readonly record: "sound" | "missing" | "damaged" | "newer" | "incompatible" | "elsewhere";
  readonly why: string;
  /** Fields that were kept, of a damaged record. */
  readonly kept: readonly string[];
  readonly problems: readonly string[];
  /** What lives and belongs to it. */
  readonly adopted: readonly Ref[];
  readonly did: "refused" | "salvaged" | "voided" | "fresh" | "reconnecting" | "cleaning" | "nothing";
  readonly returning?: Returning | undefined;
};

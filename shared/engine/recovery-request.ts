/** The request for a recovery, and its answer. */
import type { Ref } from "../core/object.ts";
import type { Returning } from "../core/plan.ts";

export type RecoveryRequest = {
  /** `reconnect`: adopt the live objects and wait for missing ones. `cleanup`: end everything that the key owns. */
  readonly mode: "reconnect" | "cleanup";
  /** The record is discarded, whatever it contains. */
  readonly fresh: boolean;
  /**
   * Length of the recovery window (Mesos: re-registration timeout), ms; absent: the object's own, or the deployment's.
   */
  readonly returnMs?: number;
  /** The time that objects have to end before they are deleted by force. */
  readonly graceSeconds: number;
};

/** The state of a key at the beginning of its recovery, and the outcome for its record. */
export type Finding = {
  /** The state of the record. */
  readonly record: "sound" | "missing" | "damaged" | "newer" | "incompatible" | "elsewhere";
  readonly why: string;
  /** Fields that were kept of a damaged record. */
  readonly kept: readonly string[];
  readonly problems: readonly string[];
  /** Live objects that belong to the key. */
  readonly adopted: readonly Ref[];
  readonly did: "refused" | "salvaged" | "voided" | "fresh" | "reconnecting" | "cleaning" | "nothing";
  readonly returning?: Returning | undefined;
};

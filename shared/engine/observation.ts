/** What a step knows of its key before anything is decided: the object, its record, and whose they are. */
import type { Key } from "../core/key.ts";
import type { Ref, Stored } from "../core/object.ts";
import type { Operator } from "../core/operator.ts";
import type { Returning } from "../core/recovery.ts";
import type { Epoch } from "../core/time.ts";
import type { CheckpointRecord, Version } from "./ports.ts";
import type { Defect } from "./recovery/classify.ts";
import { recoveryOf } from "./settings.ts";
import type { World } from "./world.ts";

/** What is known of a key before anything is decided. */
export type Observation = {
  /** The object that the memory is about; undefined when it is gone (or another of its name has come). */
  readonly object: Stored | undefined;
  /** Another object now has the name: when the old one's memory is settled, it is its turn. */
  readonly successor: boolean;
  /** UID of that other object. */
  readonly replacementUid?: string;
  readonly uid: string;
  readonly record: CheckpointRecord | undefined;
  readonly version: Version | undefined;
  /** That there is no record was only presumed: the first save, which succeeds only where none is, finds out. */
  readonly assumedNew: boolean;
  /** Object and record are those that this process remembers: see reads/cached.ts. */
  readonly cachedAt?: Epoch;
  /** What was watched may answer looks, and only a `staleSafe` plan is carried out. */
  readonly fromCache?: true;
  readonly memory: unknown;
  readonly now: number;
  /** What is missing may come back until then: the record says so, or is not there although there was something. */
  readonly returning: Returning | undefined;
};

/** A record that cannot be gone on with as it is, and the object of its name. */
export type BrokenRecord = {
  readonly ill: Defect;
  readonly version: Version | undefined;
  readonly object: Stored | undefined;
  readonly now: number;
};

export type FirstRead =
  | { readonly see: "observation"; readonly observation: Observation }
  | { readonly see: "nothing" }
  | { readonly see: "ill"; readonly brokenRecord: BrokenRecord };

export const objectRef = (key: Key, operator: Operator<unknown>): Ref => ({
  resource: operator.resource,
  namespace: key.namespace,
  name: key.name,
});

/** A sound record, and what stands under its name now. */
export const observationOf = (
  record: CheckpointRecord,
  { version, object, memory, now }: Pick<Observation, "version" | "object" | "memory" | "now">,
): Observation => {
  const same = object?.metadata.uid === record.uid;
  return {
    object: same ? object : undefined,
    successor: object !== undefined && !same,
    ...(object === undefined || same ? {} : { replacementUid: object.metadata.uid }),
    uid: record.uid,
    record,
    version,
    assumedNew: false,
    memory,
    now,
    returning: record.returning,
  };
};

/** How long what belongs to an object may take to come back, ms. */
export const returnMsOf = (world: World, operator: Operator<unknown>, object: Stored): number =>
  operator.recovery?.returnMs?.(object) ?? recoveryOf(world).returnMs;

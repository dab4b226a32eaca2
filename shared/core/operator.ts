/** What every kind declares about itself; the engine knows no other way to learn of a kind. */
import type { Decision } from "./decision.ts";
import type { Key } from "./key.ts";
import type { MetricSample } from "./metric.ts";
import type { Metadata, Obj, Resource, Stored } from "./object.ts";
import type { StateUpdate } from "./outbox.ts";
import type { Effect, Plan, Trouble, View } from "./plan.ts";
import type { Recovery } from "./recovery.ts";

/** A resource to watch and how its objects lead to the owner's key. */
export type Watch = {
  readonly resource: Resource;
  /** Label selector sent to the server, as `k=v,k2`. */
  readonly selector?: string;
  /** Field selector sent to the server, as `spec.x=y`. */
  readonly field?: string;
  /**
   * What the functions below need of an object; a forwarder keeps nothing else, and shows them nothing else. Absent:
   * metadata, and of the status its phase, its reason and how its containers are.
   */
  readonly trim?: (object: Stored) => Stored;
  /** Name of the owner this object belongs to, in its namespace; undefined when it is nobody's. */
  readonly ownerName: (object: Obj) => string | undefined;
  /** Of a kind that clusters may do without, this is what they do without besides. */
  readonly optional?: boolean;
  /** False when an update from `before` to `after` cannot matter to anybody's decision. `before` is undefined on ADDED. */
  readonly matters: (before: Obj | undefined, after: Obj) => boolean;
  /** Its objects wait for their owner to take them up, however long it rests: a resync looks for those that nobody told of. */
  readonly errand?: true;
  /** True of what is to be acted on at once, also when its key has just had a message; `after` is undefined when it is gone. */
  readonly urgent?: (before: Obj | undefined, after: Obj | undefined) => boolean;
};

/** A memory read from the store: what parsed, and what was wrong with it. */
export type Parsed<Memory> =
  | { readonly ok: true; readonly memory: Memory }
  | { readonly ok: false; readonly error: string };

/** One kind: pure functions over JSON values. */
export type Operator<Memory> = {
  readonly kind: string;
  readonly resource: Resource;
  /** Clusters may do without: where the kind is not served there is nothing of it, and nothing is wrong. */
  readonly optional?: boolean;
  /** Its objects stand in no namespace: only who looks after all namespaces runs them, whatever labels they have. */
  readonly scope?: "Cluster";
  /** In whose name its events are told, as those who filter by it know it; absent: in our own. */
  readonly component?: string;
  /** The API group of the controllers that it stands aside for, where its resource is nobody's. */
  readonly family?: string;
  /** Field selector of its objects, as `spec.schedulerName=x`; absent: all are its. */
  readonly field?: string;
  /** Names of objects that every cluster has: a resync asks for a step of those that are missing, and `founding` makes them. */
  readonly founds?: readonly string[];
  /** What makes an object of this name where there is neither it nor a record of it; none of what others are to make. */
  readonly founding?: (name: string) => readonly Effect[];
  /** True of an object whose metadata alone tells that nothing is to be done about it: a resync passes by. */
  readonly settled?: (metadata: Metadata) => boolean;
  readonly watches: readonly Watch[];
  /** What is watched is enough to begin with, whatever was read besides; plans that are not `staleSafe` are decided again live. */
  readonly watchful?: true;
  readonly parse: (stored: unknown) => Parsed<Memory>;
  /** A method, so that the engine may hold operators of every kind side by side. */
  decide(key: Key, view: View<Memory>): Decision<Memory>;
  /** What a plan for this object means to a listener: told when it differs in state or attempt from what was told last. */
  tells?(plan: Plan<Memory>, object: Stored): StateUpdate | undefined;
  /** How it comes back; without it a record that cannot be used is given up whole. */
  readonly recovery?: Recovery<Memory>;
  /** What a status write that won is counted as; `now` by the API server's clock, epoch ms. */
  readonly measuresOf?: (
    object: Stored,
    status: Readonly<Record<string, unknown>>,
    now: number,
  ) => readonly MetricSample[];
  /** What a save that won is counted as. */
  measuresOfSave?(before: Memory | undefined, after: Memory): readonly MetricSample[];
  /** What a trouble that lasts is told as, where the kind has words of its own for what could not be done. */
  readonly troubleWord?: (trouble: Trouble) => Pick<Trouble, "reason" | "message"> | undefined;
  /** The whole status with the word of what holds the object up, where it has a place for it; gone with the next plan. */
  readonly heldUp?: (object: Stored, message: string) => Readonly<Record<string, unknown>> | undefined;
};

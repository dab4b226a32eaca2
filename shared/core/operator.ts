/**
 * The interface of a kind: everything that the engine knows about it. Its stored memory is parsed by the kind's
 * schema: whole, or field by field if a part of it is wrong.
 */

import { oncePerObject } from "./cache.ts";
import type { Decision } from "./decision.ts";
import type { Key } from "./key.ts";
import type { MetricSample } from "./metric.ts";
import type { Metadata, Obj, Resource, Stored } from "./object.ts";
import {
  type Effect,
  type Issue,
  type Listing,
  type Looking,
  type Plan,
  problemsIn,
  type Recovery,
  type Trouble,
  type View,
  withoutBad,
} from "./plan.ts";
import type { StateUpdate } from "./updates.ts";

/** "long": the time of the setting `newsWait`; "brief": a fifth of it; "moment": a fiftieth, for what a step may wait for. */
export type Patience = "long" | "brief" | "moment";

/** A resource to watch and how its objects lead to the owner's key. */
export type Watch = {
  readonly resource: Resource;
  /** Label selector sent to the server, as `k=v,k2`. */
  readonly selector?: string;
  /** Field selector sent to the server, as `spec.x=y`. */
  readonly field?: string;
  /**
   * Keeps the parts of an object that the functions below need; a forwarder stores and passes only these. `before` is
   * what it stored of the last version. Absent: metadata, and of the status its phase, its reason and the states of its
   * containers.
   */
  readonly trim?: (object: Stored, before?: Stored) => Stored;
  /** Returns the name of the owner in the same namespace; undefined if the object has none. */
  readonly ownerName: (object: Obj) => string | undefined;
  /** For an optional kind: clusters that lack the kind lack this resource, too. */
  readonly optional?: boolean;
  /** False if an update from `before` to `after` cannot change any decision. `before` is undefined on ADDED. */
  readonly matters: (before: Obj | undefined, after: Obj) => boolean;
  /** Its objects wait for their owner, even if the owner rests: a resync looks for objects whose events were lost. */
  readonly errand?: true;
  /**
   * True of a change that is sent at once, although its key has just had a message; `after` is undefined when the
   * object is gone.
   */
  readonly urgent?: (before: Obj | undefined, after: Obj | undefined) => boolean;
  /**
   * Of a change that decides nothing and is only told: how long it may wait for other changes of its key, as the setting
   * `newsWait` bounds it; undefined for all others.
   */
  readonly patience?: (before: Obj | undefined, after: Obj | undefined) => Patience | undefined;
};

/** The result of parsing a stored memory. */
export type Parsed<Memory> =
  | { readonly ok: true; readonly memory: Memory }
  | { readonly ok: false; readonly error: string };

/** The state of an object before a step has read anything else. */
export type Watching<Memory> = Pick<View<Memory>, "object" | "uid" | "memory">;

/** One kind: pure functions over JSON values. */
export type Operator<Memory> = {
  readonly kind: string;
  readonly resource: Resource;
  /** A cluster may lack the kind; then it has no objects of it, and that is no error. */
  readonly optional?: boolean;
  /**
   * Its objects have no namespace: only a deployment with all namespaces in its scope runs them, whatever their labels.
   */
  readonly scope?: "Cluster";
  /** The source component of its Events, as users filter by it; absent: Rekindle's own. */
  readonly component?: string;
  /** The API group of the controllers beside which it stands by; absent: the group of its resource. */
  readonly family?: string;
  /** Field selector of its objects, as `spec.schedulerName=x`; absent: all objects of the resource. */
  readonly field?: string;
  /** Names of objects that every cluster has: a resync sends the keys of missing ones, and `founding` creates them. */
  readonly founds?: readonly string[];
  /**
   * Returns the effects that create an object of this name if neither it nor its record exists; none for objects that
   * others create.
   */
  readonly founding?: (name: string) => readonly Effect[];
  /** True if an object's metadata alone shows that nothing is left to do: a resync skips it. */
  readonly settled?: (metadata: Metadata) => boolean;
  /**
   * True if the status shows an end or a suspension, after which only a change of the object, or another object, brings work. Beside a
   * record at rest, a forwarder that lists the object for the first time sends no key. Absent: it always does.
   */
  readonly hasEnded?: (object: Stored) => boolean;
  readonly watches: readonly Watch[];
  /**
   * Returns the lists that a dispatcher may enclose in a call for the key, beside the object; absent: nothing is
   * enclosed. See engine/reads/enclosed.ts.
   */
  readonly encloses?: (key: Key) => readonly Listing[];
  readonly parse: (stored: unknown) => Parsed<Memory>;
  /**
   * A hint for speed. Returns the reads that a watch may answer in this state of the object; every other read is live, and
   * so is each read of a kind without the hint. The engine decides a plan again on live reads if it needs them:
   * engine/reads/freshness.ts has the table.
   */
  watched?(key: Key, view: Watching<Memory>): readonly Looking[];
  /** A method, so that the engine may hold operators of every kind side by side. */
  decide(key: Key, view: View<Memory>): Decision<Memory>;
  /** Returns the status update for a plan; it is sent if its state or attempt differs from the last one. */
  statusUpdate?(plan: Plan<Memory>, object: Stored): StateUpdate | undefined;
  /** The kind's part of a recovery; without it a record that cannot be used is discarded whole. */
  readonly recovery?: Recovery<Memory>;
  /** Its records keep the spec of the last save and the changes of it, because runs of one object may differ in it. */
  readonly keepsSpecs?: true;
  /** Returns the metric samples of a successful status write; `now` by the API server's clock, epoch ms. */
  readonly measuresOf?: (
    object: Stored,
    status: Readonly<Record<string, unknown>>,
    now: number,
  ) => readonly MetricSample[];
  /** Returns the metric samples of a successful save. */
  measuresOfSave?(before: Memory | undefined, after: Memory, key: Pick<Key, "namespace">): readonly MetricSample[];
  /** Returns reason and message for a lasting trouble, if the kind has its own words for the failed operation. */
  readonly troubleWord?: (trouble: Trouble) => Pick<Trouble, "reason" | "message"> | undefined;
  /**
   * Returns the whole status with the message of a trouble, if it has a place for it; the next plan overwrites it.
   * `planned`: the status of the plan that met the trouble, after its save.
   */
  readonly heldUp?: (
    object: Stored,
    message: string,
    planned?: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>> | undefined;
};

/** The parts of an operator that a forwarder needs. */
export type Watcher = Pick<
  Operator<unknown>,
  | "kind"
  | "resource"
  | "watches"
  | "optional"
  | "scope"
  | "family"
  | "field"
  | "founds"
  | "settled"
  | "hasEnded"
  | "encloses"
>;

/** The part of a zod schema that is used here. */
type Shape<Value> = {
  safeParse(
    stored: unknown,
  ):
    | { readonly success: true; readonly data: Value }
    | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly Issue[] } };
};

/** The fields of a stored memory that can be read, and the problems of the others. */
export type Salvaged<Memory> = {
  readonly kept: { readonly [F in keyof Memory]?: Memory[F] | undefined };
  readonly problems: readonly string[];
};

/**
 * Returns the parser for memories of a kind; an error lists the problems field by field. Results are memoized, because
 * a step parses the same memory several times.
 */
export const readerOf = <Memory>(kind: string, shape: Shape<Memory>): ((stored: unknown) => Parsed<Memory>) =>
  oncePerObject((stored) => {
    const parsed = shape.safeParse(stored);
    if (parsed.success) return { ok: true, memory: parsed.data };
    const where = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    return { ok: false, error: `memory of a ${kind} cannot be read (${where.join("; ")})` };
  });

/** Keeps the fields that can be read. `partial` is `shape` with every field optional. */
export const salvage = <Memory>(
  shape: Shape<Memory>,
  partial: Shape<Salvaged<Memory>["kept"]>,
  stored: unknown,
): Salvaged<Memory> => {
  if (stored === undefined) return { kept: {}, problems: [] };
  const parsed = shape.safeParse(stored);
  if (parsed.success) return { kept: parsed.data, problems: [] };
  const { issues } = parsed.error;
  const { data: kept = {} } = partial.safeParse(withoutBad(stored, issues));
  return { kept, problems: problemsIn(issues, "memory") };
};

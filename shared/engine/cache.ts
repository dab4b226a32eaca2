/**
 * What a process knows without asking: the record that its own last step of a key left, the object as it was then, and
 * what it has been watching since. All of it may be behind, so only a plan that says that it stands behind (`staleSafe`)
 * is carried out on it; any other is decided again on what is read live. The save is conditional as always: whoever
 * recalls a record that others have gone on from loses it, and has touched nothing.
 */
import type { Key } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Operator } from "../core/operator.ts";
import type { Looking, Plan } from "../core/plan.ts";
import { dateAt, type Epoch } from "../core/time.ts";
import type { StepContext, StoredRecord } from "./context.ts";
import { type FirstRead, type Observation, observe } from "./observe.ts";
import type { CheckpointRecord, Version } from "./ports.ts";
import type { World } from "./world.ts";

/** Without a record the memory is the one that the object's status tells: see status-first.ts. */
export type CachedStep = (
  | { readonly record: CheckpointRecord; readonly version: Version }
  | { readonly record: undefined; readonly memory: unknown }
) & { readonly object: Stored; readonly epoch: Epoch };

export type StepCache = {
  /** What was kept of the key, and is nobody's any more; undefined when the object has changed since. */
  take(key: Key): CachedStep | undefined;
  keep(key: Key, recollection: CachedStep): void;
  /** A new object, whole, as it was watched to appear, and the server's clock; undefined where either is not known. */
  appeared(key: Key): { readonly object: Stored; readonly epoch: Epoch } | undefined;
  /** A step of the key has made it, as the server answers: it is known before the watch shows it. */
  made(key: Key, resource: Resource, object: Stored): void;
  /** The key's record holds what was read, or what others have seen: what is watched may be behind it. */
  doubt(key: Key): void;
  /** What is being watched for keys of this kind, as it was last seen; undefined where not all of it is, or one is not there. */
  look(key: Key, query: Looking): readonly Stored[] | undefined;
};

/** When the process's own clock stood where a sight's `now` says, ms, where that was carried along: it may be a second ago. */
export const readAt = ({ cachedAt, now }: Observation): number | undefined =>
  cachedAt === undefined ? undefined : cachedAt.at + (now - cachedAt.date);

/** Keeps what a step that came through has left, if the next one may be decided on it. */
export const keepInCache = (
  run: StepContext,
  { record, version }: StoredRecord,
  object: Stored | undefined,
  plan: Plan<unknown>,
): void => {
  const { world, message, observation, looked } = run;
  if (plan.staleSafe !== true || object === undefined) return;
  const seen = { object, epoch: observation.cachedAt ?? { date: observation.now, at: looked } };
  if (record !== undefined && version !== undefined) world.recall?.keep(message, { record, version, ...seen });
  else if (plan.shown === true) world.recall?.keep(message, { record: undefined, memory: plan.memory, ...seen });
};

/** What is remembered of a key as if it had been read; undefined when it cannot be used. */
const cachedAt = (world: World, kept: CachedStep, operator: Operator<unknown>): FirstRead | undefined => {
  const { record, object, epoch } = kept;
  const memory = record === undefined ? ({ ok: true, memory: kept.memory } as const) : operator.parse(record.memory);
  if (!memory.ok) return undefined;
  const now = dateAt(epoch, world.clock.monotonic());
  const observation: Observation = {
    object,
    successor: false,
    uid: object.metadata.uid,
    record,
    version: kept.record === undefined ? undefined : kept.version,
    assumedNew: false,
    cachedAt: epoch,
    fromCache: true,
    memory: memory.memory,
    now,
    returning: record?.returning,
  };
  return { see: "observation", observation };
};

type Call = Omit<StepContext, "observation" | "looked">;

/** How a step begins: by reading all there is, or in one of two ways that spare it where it can be found out in time. */
export type ReadMode = "live" | "presuming" | "recalling";

/** Only what was watched is known already; whoever else calls wants it looked for. A shadow saves nothing, and so would never find out. */
export const readModeOf = ({ world, message }: Call): ReadMode => {
  if (world.shadow !== undefined) return "live";
  if (message.fresh === true) return "presuming";
  return message.watched === true && message.tries === undefined ? "recalling" : "live";
};

/** The record stands as the last step here has left it, or there is none yet. */
const isOurs = (kept: CachedStep | undefined, observed: FirstRead): boolean => {
  if (observed.see !== "observation") return false;
  const { version } = observed.observation;
  return version === undefined ? observed.observation.assumedNew : isLeftBy(kept, version);
};

const isLeftBy = (kept: CachedStep | undefined, version: Version): boolean =>
  kept !== undefined && kept.record !== undefined && kept.version === version;

export const firstRead = async ({ world, message, operator }: Call, first: ReadMode): Promise<FirstRead> => {
  const kept = world.recall?.take(message);
  const known = first === "recalling" && kept !== undefined ? cachedAt(world, kept, operator) : undefined;
  if (known !== undefined) return known;
  const observed = await observe(world, message, operator, first === "presuming");
  if (!isOurs(kept, observed)) world.recall?.doubt(message);
  const fromCache = first !== "live" && operator.watchful === true && world.recall !== undefined;
  return fromCache && observed.see === "observation"
    ? { see: "observation", observation: { ...observed.observation, fromCache } }
    : observed;
};

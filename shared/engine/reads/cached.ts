/** Begins a step with the cache of this process, and keeps the end of a step for the next one: see cache.ts. */
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Plan } from "../../core/plan.ts";
import { dateAt } from "../../core/time.ts";
import type { CachedStep } from "../cache.ts";
import type { FirstRead, Observation } from "../context/observation.ts";
import type { StepContext, StoredRecord } from "../context/step-context.ts";
import type { World } from "../context/world.ts";

/** Keeps the end of a successful step, if the next one may be decided on it. */
export const keepInCache = (
  run: StepContext,
  { record, version }: StoredRecord,
  object: Stored | undefined,
  plan: Plan<unknown>,
): void => {
  const { world, message, observation, looked } = run;
  if (plan.safety?.staleSafe !== true || object === undefined) return;
  const seen = { object, epoch: observation.cachedAt ?? { date: observation.now, at: looked } };
  if (record !== undefined && version !== undefined) world.cache?.keep(message, { record, version, ...seen });
  else if (plan.safety?.statusIsRecord === true)
    world.cache?.keep(message, { record: undefined, memory: plan.memory, ...seen });
};

/** Returns the cached entry of a key as if it had been read; undefined if its memory does not parse. */
export const readCached = (world: World, kept: CachedStep, operator: Operator<unknown>): FirstRead | undefined => {
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

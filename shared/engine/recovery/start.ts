/**
 * Begins a recovery that a user asks for, of a key whose record is usable or missing. The request is saved in the
 * record first.
 */
import { textOf } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { type Observation, observationOf, returnMsOf } from "../context/observation.ts";
import type { StepContext } from "../context/step-context.ts";
import type { Ending } from "../context/world.ts";
import type { CheckpointRecord, Cleanup, Recovered } from "../ports.ts";
import type { Finding, RecoveryRequest } from "../recovery-request.ts";
import { requeue, requeueAfterRace, warn } from "../writes/requeue.ts";
import { orderIn } from "./cleanup.ts";
import { findOwned, livingIn } from "./owned-objects.ts";

/** Returns the new order, or the one that is under way: a second request extends no deadline. */
const cleanupFor = ({ graceSeconds }: RecoveryRequest, record: CheckpointRecord | undefined, now: number): Cleanup =>
  orderIn(record) ?? { since: now, graceSeconds, forceAt: now + graceSeconds * 1_000 };

const words: Readonly<
  Record<RecoveryRequest["mode"], { readonly did: Finding["did"]; readonly how: Recovered["how"] }>
> = {
  reconnect: { did: "reconnecting", how: "reconnected" },
  cleanup: { did: "cleaning", how: "cleaned" },
};

type Base = {
  readonly run: StepContext;
  readonly ask: RecoveryRequest;
  readonly object: Stored;
  readonly memory: unknown;
};

const recordFor = ({ run, ask, object, memory }: Base): CheckpointRecord => {
  const { world, operator, observation } = run;
  const { record, now, uid } = observation;
  const { rests: _, cleanup: __, returning: ___, ...kept } = record ?? {};
  const until = now + (ask.returnMs ?? returnMsOf(world, operator, object));
  const recovered: Recovered = { at: now, how: words[ask.mode].how, why: "asked for" };
  return {
    ...kept,
    schema: 1,
    cluster: world.clusterUid,
    uid,
    saves: (record?.saves ?? 0) + 1,
    generation: object.metadata.generation,
    recovered,
    ...(ask.mode === "cleanup"
      ? { cleanup: cleanupFor(ask, record, now) }
      : { returning: { since: now, until, ends: true } }),
    memory,
  };
};

/**
 * Writes the Event of the request, before the save, so that a step that meets trouble begins again. Returns an ending
 * if it met trouble.
 */
const tell = async (run: StepContext, ask: RecoveryRequest): Promise<Ending | undefined> => {
  const { world, message: key, observation } = run;
  if (world.shadow !== undefined) return undefined;
  const message = `${words[ask.mode].did}: asked for by rekindle recover`;
  const untold = await warn(run, `recovery ${observation.version ?? "none"}`, {
    reason: "RekindleRecovering",
    message,
  });
  return untold === undefined ? undefined : await requeue(world, key, untold, { now: observation.now, lastedMs: 0 });
};

/**
 * Saves the request and returns the observation to go on with. An object that is gone needs no order, because the
 * objects that it left are ended anyway.
 */
export const begin = async (run: StepContext, ask: RecoveryRequest): Promise<Observation | Ending> => {
  const { world, message: key, operator, observation } = run;
  const { object, uid, now } = observation;
  const { recovery } = operator;
  if (object === undefined || recovery === undefined) return observation;
  const found = await findOwned(world.cluster, operator, { key, uid, memory: observation.memory });
  const remains = { key, object, found: found.found, now, stored: undefined };
  const memory = observation.memory ?? recovery.rebuild(remains).memory;
  const record = recordFor({ run, ask, object, memory });
  const finding = findingOf(observation, { did: words[ask.mode].did, returning: record.returning });
  const untold = await tell(run, ask);
  if (untold !== undefined) return untold;
  world.found?.(key, { ...finding, adopted: ask.mode === "cleanup" ? [] : livingIn(found, operator) });
  if (world.shadow !== undefined) return observationOf(record, { version: observation.version, object, memory, now });
  const version = await world.checkpoints.save(key, record, observation.version);
  if (version === "raced") return await requeueAfterRace(run);
  world.report("info", "recovering", { key: textOf(key), mode: ask.mode });
  return observationOf(record, { version, object, memory, now });
};

const findingOf = ({ record }: Observation, more: Pick<Finding, "did" | "returning">): Omit<Finding, "adopted"> => ({
  record: record === undefined ? "missing" : "sound",
  why: record === undefined ? "there is no record" : "the record is usable",
  kept: record === undefined ? [] : Object.keys(record),
  problems: [],
  ...more,
});

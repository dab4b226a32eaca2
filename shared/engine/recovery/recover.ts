/**
 * Recovers a record that cannot be used as it is: as a Mesos agent does, strictly or not, and as after a reboot if the
 * record is of another cluster. Also begins the recovery that a user asks for, of a key whose record is usable or
 * missing: that request is saved in the record first.
 *
 * Only an Event is written before the one save of the recovery, and that save alone changes the record's cluster UID.
 * A step that dies before the save begins the same recovery again; a step after it finds a usable record.
 */
import { omit } from "../../core/json.ts";
import { textOf } from "../../core/key.ts";
import type { Stored, StoredMetadata } from "../../core/object.ts";
import type { PastRun, Rebuilt, Trouble } from "../../core/plan.ts";
import { type Defect, madeWith } from "../checkpoint/classify.ts";
import { expiryOf, keptRuns } from "../checkpoint/record.ts";
import { timelineAfter, timelineKept } from "../checkpoint/timeline.ts";
import {
  type BrokenRecord,
  type Ending,
  type Finding,
  type FirstRead,
  type Observation,
  observationOf,
  type RecoveryRequest,
  returnMsOf,
  type StepContext,
} from "../context/world.ts";
import type { CheckpointRecord, Cleanup, Recovered } from "../ports.ts";
import { recoveryOf } from "../settings.ts";
import { requeue, requeueAfterRace, showTrouble, warn } from "../writes/requeue.ts";
import { orderIn } from "./cleanup-order.ts";
import { findOwned, livingIn, type Survey } from "./owned-objects.ts";

type Treatment = "stop" | "salvage" | "void" | "fresh";
type Row = { readonly strict: Treatment; readonly lenient: Treatment };

const always = (treatment: Treatment): Row => ({ strict: treatment, lenient: treatment });

/** Maps defect and origin of a record to its treatment. */
export const treatments: Readonly<Record<Defect["is"], Readonly<Record<"here" | "elsewhere", Row>>>> = {
  damaged: { here: { strict: "stop", lenient: "salvage" }, elsewhere: { strict: "stop", lenient: "salvage" } },
  newer: { here: always("stop"), elsewhere: always("fresh") },
  incompatible: { here: always("stop"), elsewhere: always("fresh") },
  sound: { here: always("void"), elsewhere: always("void") },
};

const hows: Readonly<Record<Exclude<Treatment, "stop">, Recovered["how"] & Finding["did"]>> = {
  salvage: "salvaged",
  void: "voided",
  fresh: "fresh",
};

type Case = Omit<StepContext, "observation">;

/** Returns a usable record as one that a user discards. */
const givenUp = ({ record, version, object, now }: Observation): BrokenRecord => {
  const why = record === undefined ? "there is no record" : "discarded by rekindle recover --fresh";
  return {
    defect: { is: "sound", elsewhere: false, why, problems: [], rest: record ?? {}, stored: record },
    version,
    object,
    now,
  };
};

const archiveBytes = 65_536;

const archived = (stored: unknown): Pick<Recovered, "was"> => {
  const text = JSON.stringify(stored) ?? "";
  return text === "" || text.length > archiveBytes ? {} : { was: stored };
};

/** Returns a context in which a step can report about a key whose record it cannot use. */
const runOf = (call: Case, { version, object, now, defect }: BrokenRecord): StepContext => {
  const uid = object?.metadata.uid ?? defect.rest.uid ?? "";
  const blank = { successor: false, record: undefined, assumedNew: false, memory: undefined, returning: undefined };
  return { ...call, observation: { ...blank, object, uid, version, now } };
};

const tellFound = ({ world, message }: Case, { defect }: BrokenRecord, more: Omit<Finding, "record" | "why">): void =>
  world.found?.(message, {
    record: defect.elsewhere && defect.is === "sound" ? "elsewhere" : recordWord(defect),
    why: defect.why,
    ...more,
  });

const recordWord = ({ is }: Defect): Finding["record"] => is;

type Said = Pick<Trouble, "reason" | "message">;

/** Writes one Event for a defect, however many steps meet it. Returns an ending if the Event met trouble. */
const tell = async (run: StepContext, { defect, now }: BrokenRecord, said: Said): Promise<Ending | undefined> => {
  if (run.world.shadow !== undefined) return undefined;
  const trouble = await warn(run, `recovery ${defect.why}`, said);
  return trouble === undefined ? undefined : await requeue(run.world, run.message, trouble, { now, lastedMs: 0 });
};

const unusable = "the checkpoint cannot be used, so nothing is written for this key";

const stop = async (call: Case, brokenRecord: BrokenRecord): Promise<Ending> => {
  const { world, message } = call;
  const { why, problems } = brokenRecord.defect;
  const value = Math.max(1, problems.length);
  world.report("error", unusable, { key: textOf(message), error: why });
  world.meter?.([{ do: "count", name: "rekindle_recovery_errors_total", value, of: {} }]);
  tellFound(call, brokenRecord, { kept: [], problems, adopted: [], did: "refused" });
  const run = runOf(call, brokenRecord);
  const trouble = await tell(run, brokenRecord, { reason: "RecoveryFailed", message: `RecoveryFailed: ${why}` });
  if (world.shadow === undefined) await showTrouble(run, `RecoveryFailed: ${why}`);
  if (trouble !== undefined) return trouble;
  // A newer version must take the message, whichever of two versions takes it next.
  if (brokenRecord.defect.is === "newer" && world.shadow === undefined)
    await requeue(world, message, { reason: "NewerRecord", message: why }, { now: brokenRecord.now, lastedMs: 0 });
  return { did: "stopped", why };
};

type Mended = Pick<Rebuilt<unknown>, "memory" | "kept" | "problems"> & { readonly survey: Survey | undefined };

/** Returns the memory of the recovered record. If it is undefined, the kind begins as for a new application. */
const mended = async (
  call: Case,
  brokenRecord: BrokenRecord,
  object: Stored,
  treatment: Treatment,
): Promise<Mended> => {
  const { world, message: key, operator } = call;
  const { recovery } = operator;
  const { defect, now } = brokenRecord;
  const parsed = operator.parse(defect.rest.memory);
  const memory = parsed.ok ? parsed.memory : undefined;
  if (recovery === undefined) return { memory: undefined, kept: [], problems: defect.problems, survey: undefined };
  if (treatment === "void")
    return { memory: recovery.voided(memory), kept: Object.keys(defect.rest), problems: [], survey: undefined };
  const found = await findOwned(world.cluster, operator, { key, uid: object.metadata.uid, memory });
  const stored = treatment === "fresh" ? undefined : defect.rest.memory;
  const rebuilt = recovery.rebuild({ key, object, found: found.found, now, stored });
  const whole = defect.elsewhere ? { ...rebuilt, memory: recovery.voided(rebuilt.memory) } : rebuilt;
  const problems = [
    ...new Set([
      ...(parsed.ok ? defect.problems : [...defect.problems.filter((one) => one !== parsed.error)]),
      ...rebuilt.problems,
    ]),
  ];
  return { ...whole, problems: treatment === "fresh" ? defect.problems : problems, survey: found };
};

const runsAfter = ({ world, operator }: Case, { defect, now }: BrokenRecord, memory: unknown): readonly PastRun[] => {
  const before = operator.parse(defect.rest.memory);
  const over = defect.elsewhere && before.ok ? operator.recovery?.past?.(before.memory, memory, now) : undefined;
  return keptRuns(
    defect.rest.runs ?? [],
    over && { ...over, driver: undefined, outcome: "voided" },
    now,
    recoveryOf(world),
  );
};

type Treated = { readonly treatment: Exclude<Treatment, "stop">; readonly object: Stored; readonly memory: unknown };

const recordAfter = (
  call: Case,
  brokenRecord: BrokenRecord,
  { treatment, object, memory }: Treated,
): CheckpointRecord => {
  const { world, operator } = call;
  const { defect, now } = brokenRecord;
  const rest = omit(defect.rest, "trouble", "status", "wakeAt", "rests", "untimed");
  const until = now + (world.ask?.returnMs ?? returnMsOf(world, operator, object));
  const runs = runsAfter(call, brokenRecord, memory);
  const recovered: Recovered = {
    at: now,
    how: hows[treatment],
    why: defect.why,
    ...(treatment === "fresh" ? archived(defect.stored) : {}),
  };
  return {
    ...(treatment === "fresh" ? {} : rest),
    schema: 1,
    cluster: world.clusterUid,
    uid: object.metadata.uid,
    saves: (rest.saves ?? 0) + 1,
    timeline: timelineAfter(rest, treatment === "fresh" ? undefined : rest.waitsFor, now),
    generation: object.metadata.generation,
    recovered,
    returning: defect.elsewhere ? undefined : { since: now, until, ends: true },
    runs: runs.length === 0 ? undefined : runs,
    pruneAt: expiryOf(runs, recoveryOf(world)),
    made: madeWith(world.timing),
    memory,
  };
};

/**
 * Returns the observation of a record whose object is gone or replaced: the fields that can be read lead to the objects
 * that must be ended.
 */
const orphaned = ({ operator }: Case, { defect, version, object, now }: BrokenRecord): Observation => {
  const parsed = operator.parse(defect.rest.memory);
  const memory = parsed.ok ? parsed.memory : undefined;
  const base = { assumedNew: false, returning: undefined, object: undefined, record: undefined };
  return { ...base, successor: object !== undefined, uid: defect.rest.uid ?? "unknown", version, memory, now };
};

const isAbout = ({ uid }: StoredMetadata, { elsewhere, rest }: Defect, treatment: Treatment): boolean =>
  elsewhere || treatment === "fresh" || rest.uid === undefined || rest.uid === uid;

const treat = async (
  call: Case,
  brokenRecord: BrokenRecord,
  treatment: Exclude<Treatment, "stop">,
): Promise<Observation | Ending> => {
  const { world, message, operator } = call;
  const { object, version, now, defect } = brokenRecord;
  if (object === undefined || !isAbout(object.metadata, defect, treatment)) return orphaned(call, brokenRecord);
  const { memory, kept, problems, survey: found } = await mended(call, brokenRecord, object, treatment);
  const did = hows[treatment];
  const run = runOf(call, brokenRecord);
  // Before the save: a step after it finds a usable record and would write no Event.
  const trouble = await tell(run, brokenRecord, { reason: "RekindleRecovered", message: `${did}: ${defect.why}` });
  if (trouble !== undefined) return trouble;
  if (memory === undefined)
    return { ...orphaned(call, brokenRecord), object, successor: false, uid: object.metadata.uid };
  const record = recordAfter(call, brokenRecord, { treatment, object, memory });
  const adopted = found === undefined || defect.elsewhere ? [] : livingIn(found, operator);
  tellFound(call, brokenRecord, { kept, problems, adopted, did, returning: record.returning });
  if (world.shadow !== undefined) return observationOf(record, { version, object, memory, now });
  const saved = await world.checkpoints.save(message, record, version);
  if (saved === "raced") return await requeueAfterRace(run);
  world.report("warn", "recovered", { key: textOf(message), how: did, why: defect.why, problems });
  if (problems.length > 0)
    world.meter?.([{ do: "count", name: "rekindle_recovery_errors_total", value: problems.length, of: {} }]);
  return observationOf(record, { version: saved, object, memory, now });
};

const treatmentFor = ({ is, elsewhere }: Defect, strict: boolean, ask: RecoveryRequest | undefined): Treatment =>
  ask?.fresh === true ? "fresh" : treatments[is][elsewhere ? "elsewhere" : "here"][strict ? "strict" : "lenient"];

/** Recovers the record. Returns the observation to go on with, or the end of the step. */
const recover = async (call: Case, brokenRecord: BrokenRecord): Promise<Observation | Ending> => {
  const { world } = call;
  const treatment = treatmentFor(brokenRecord.defect, recoveryOf(world).strict, world.ask);
  return treatment === "stop" ? await stop(call, brokenRecord) : await treat(call, brokenRecord, treatment);
};

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
  const kept = record === undefined ? {} : omit(record, "rests", "cleanup", "returning", "untimed");
  const until = now + (ask.returnMs ?? returnMsOf(world, operator, object));
  const recovered: Recovered = { at: now, how: words[ask.mode].how, why: "asked for" };
  return {
    ...kept,
    schema: 1,
    cluster: world.clusterUid,
    uid,
    saves: (record?.saves ?? 0) + 1,
    timeline: timelineKept(record ?? {}, now),
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
const tellBegun = async (run: StepContext, ask: RecoveryRequest): Promise<Ending | undefined> => {
  const { world, message: key, observation } = run;
  if (world.shadow !== undefined) return undefined;
  const message = `${words[ask.mode].did}: asked for by rekindle recover`;
  const trouble = await warn(run, `recovery ${observation.version ?? "none"}`, {
    reason: "RekindleRecovering",
    message,
  });
  return trouble === undefined ? undefined : await requeue(world, key, trouble, { now: observation.now, lastedMs: 0 });
};

/**
 * Saves the request and returns the observation to go on with. An object that is gone needs no order, because the
 * objects that it left are ended anyway.
 */
const begin = async (run: StepContext, ask: RecoveryRequest): Promise<Observation | Ending> => {
  const { world, message: key, operator, observation } = run;
  const { object, uid, now } = observation;
  const { recovery } = operator;
  if (object === undefined || recovery === undefined) return observation;
  const found = await findOwned(world.cluster, operator, { key, uid, memory: observation.memory });
  const remains = { key, object, found: found.found, now, stored: undefined };
  const memory = observation.memory ?? recovery.rebuild(remains).memory;
  const record = recordFor({ run, ask, object, memory });
  const finding = findingOf(observation, { did: words[ask.mode].did, returning: record.returning });
  const trouble = await tellBegun(run, ask);
  if (trouble !== undefined) return trouble;
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

type Seen = Exclude<FirstRead, { see: "nothing" }>;

/** Recovers a broken record, and carries out a recovery that a user asks for. */
export const recoveredRecord = async (call: Case, observed: Seen): Promise<Observation | Ending> => {
  const { ask } = call.world;
  if (observed.see === "broken") {
    const mended = await recover(call, observed.brokenRecord);
    return "did" in mended || ask?.mode !== "cleanup" ? mended : await begin({ ...call, observation: mended }, ask);
  }
  const { observation } = observed;
  if (ask === undefined) return observation;
  return ask.fresh ? await recover(call, givenUp(observation)) : await begin({ ...call, observation }, ask);
};

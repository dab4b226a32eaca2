/**
 * Keeps the ends of pods' logs in the store of records, each before its pod is deleted: in a record of their own, the
 * last few attempts, each for a time. A log that cannot be read holds a deletion up for seconds at most. The record of
 * logs is deleted before the record of its object, so a death in between leaves no log behind.
 */
import { fieldsOf } from "../../core/json.ts";
import { type KeptLog, keptLogsIn, logsKey, mostLogBytes, mostLogs } from "../../core/kept-log.ts";
import type { Key } from "../../core/key.ts";
import type { Ref } from "../../core/object.ts";
import type { Effect, ProbeResult } from "../../core/plan.ts";
import type { Checkpoints, Cluster, LogsRecord, Version } from "../ports.ts";
import type { Done } from "./apply.ts";

type Keeping = {
  readonly cluster: Cluster;
  readonly checkpoints: Checkpoints;
  readonly clusterUid: string;
  readonly key: Key;
  /** UID of the object. */
  readonly uid: string;
  readonly now: number;
};

type KeepLog = Extract<Effect, { do: "keepLog" }>;

type StoredLogs = {
  readonly version: Version | undefined;
  readonly saves: number;
  readonly uid: string | undefined;
  readonly rests: boolean;
  readonly logs: readonly KeptLog[];
};

/** Reads the record of logs; a damaged one counts as empty and is overwritten. */
const loadLogs = async (checkpoints: Checkpoints, key: Key): Promise<StoredLogs> => {
  const loaded = await checkpoints.load(logsKey(key));
  const { saves, uid, rests, memory } = fieldsOf(loaded?.record);
  return {
    version: loaded?.version,
    saves: typeof saves === "number" ? saves : 0,
    uid: typeof uid === "string" ? uid : undefined,
    rests: rests === true,
    logs: keptLogsIn(memory),
  };
};

type News = { readonly clusterUid: string; readonly uid: string; readonly rests: boolean };

const logsRecord = ({ saves }: StoredLogs, logs: readonly KeptLog[], { clusterUid, uid, rests }: News): LogsRecord => ({
  schema: 1,
  cluster: clusterUid,
  uid,
  saves: saves + 1,
  ...(rests ? { rests } : {}),
  pruneAt: Math.min(...logs.map(({ until }) => until)),
  memory: { logs },
});

const silent = { heard: false, why: "notFound", message: "there is no log" } as const;

/**
 * Reads the end of the log, again after a failure and after an answer that there is none, which may be wrong. The pod is known
 * by its name, so its UID is read after its log.
 */
const readLog = async ({ cluster }: Keeping, { ref, uid, log }: KeepLog): Promise<ProbeResult> => {
  const ask = (): Promise<ProbeResult> => cluster.logEnd(ref, log.container, mostLogBytes);
  const first = await ask();
  const read = first.heard || first.why === "forbidden" ? first : await ask();
  if (!read.heard) return read;
  const { value: pod } = await cluster.get(ref);
  return pod === undefined || pod.metadata.uid === uid ? read : silent;
};

const done: Done = { did: "done" };

const unkept = ({ ref }: KeepLog, message: string): Done => ({
  did: "passed",
  trouble: { reason: "DriverLogNotKept", message: `the log of pod ${ref.name} was not kept: ${message}` },
});

/** The logs with one more: those of the latest pods, without those whose retention is over. */
const withLog = (logs: readonly KeptLog[], log: KeptLog, now: number): readonly KeptLog[] =>
  [...logs.filter((one) => one.uid !== log.uid && one.until > now), log].slice(-mostLogs);

/** Returns what is to be stored; undefined: nothing. */
const logsAfter = async (
  keeping: Keeping,
  held: StoredLogs,
  effect: KeepLog,
): Promise<readonly KeptLog[] | Done | undefined> => {
  const { uid, log, ref } = effect;
  const logs = held.uid === keeping.uid ? held.logs : [];
  // A step that died, or came too late for its deletion, has kept it.
  if (logs.some((one) => one.uid === uid)) return held.rests || log.outlives !== true ? undefined : logs;
  const read = await readLog(keeping, effect);
  if (!read.heard) {
    if (read.why !== "notFound") return unkept(effect, read.message);
    return logs.length > 0 && log.outlives === true && !held.rests ? logs : undefined;
  }
  const text = typeof read.value === "string" ? read.value : "";
  const { attempt, keepMs } = log;
  const { now } = keeping;
  return withLog(logs, { attempt, pod: ref.name, uid, at: now, until: now + keepMs, text }, now);
};

const tryKeep = async (keeping: Keeping, effect: KeepLog): Promise<Done | "raced"> => {
  const { checkpoints, key, clusterUid, uid } = keeping;
  const held = await loadLogs(checkpoints, key);
  const logs = await logsAfter(keeping, held, effect);
  if (logs === undefined) return done;
  if ("did" in logs) return logs;
  const rests = effect.log.outlives === true;
  const saved = await checkpoints.save(logsKey(key), logsRecord(held, logs, { clusterUid, uid, rests }), held.version);
  return saved === "raced" ? "raced" : done;
};

/** Keeps the end of a pod's log. Safe to repeat: a log is known by the UID of its pod. */
export const keepLog = async (keeping: Keeping, effect: KeepLog): Promise<Done> => {
  const kept = await tryKeep(keeping, effect);
  if (kept !== "raced") return kept;
  const again = await tryKeep(keeping, effect);
  return again === "raced" ? unkept(effect, "others wrote to its record at the same time") : again;
};

/**
 * Deletes the logs of a key whose record is about to be deleted, unless they outlive it. After a lost race they may
 * still be there, so the record must stay until the next try.
 */
export const releaseLogs = async (checkpoints: Checkpoints, key: Key): Promise<"removed" | "raced"> => {
  const { version, rests } = await loadLogs(checkpoints, key);
  return version === undefined || rests ? "removed" : await checkpoints.remove(logsKey(key), version);
};

type Pruning = {
  readonly cluster: Cluster;
  readonly checkpoints: Checkpoints;
  readonly clusterUid: string;
  readonly key: Key;
  readonly object: Ref;
};

/**
 * Deletes logs whose retention is over; all of them if object and record are gone and they do not outlive these. Returns
 * why nothing was to be done; undefined: something was.
 */
export const pruneLogs = async (pruning: Pruning): Promise<string | undefined> => {
  const { cluster, checkpoints, clusterUid, key } = pruning;
  const { value: object, date: now } = await cluster.get(pruning.object);
  const held = await loadLogs(checkpoints, key);
  if (held.version === undefined) return "no logs are kept";
  const isLeft = !held.rests && object === undefined && (await checkpoints.load(key)) === undefined;
  const logs = isLeft ? [] : held.logs.filter(({ until }) => until > now);
  if (logs.length > 0 && logs.length === held.logs.length) return "no retention is over";
  const { uid = "", rests } = held;
  if (logs.length === 0) await checkpoints.remove(logsKey(key), held.version);
  else await checkpoints.save(logsKey(key), logsRecord(held, logs, { clusterUid, uid, rests }), held.version);
  return undefined;
};

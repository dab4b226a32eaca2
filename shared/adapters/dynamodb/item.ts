/** A checkpoint as an item of a table: its key, the hints that a resync reads without the record, and the record. */
import { gunzipSync, gzipSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Key } from "../../core/key.ts";
import type { AnyRecord, Loaded, Version } from "../../engine/ports.ts";
import { type CheckpointHint, progressOf, type ShownRecord, sealOf } from "../checkpoints/kubernetes.ts";

export type Item = Record<string, AttributeValue>;

/** Builds partition key and sort key. Kinds and namespaces contain no slash. */
export const itemKey = (cluster: string, { namespace, kind, name }: Key): Item => ({
  cluster: { S: cluster },
  key: { S: `${namespace}/${kind}/${name}` },
});

/** The attributes of an item that a resync reads. */
export const hintNames = ["key", "uid", "generation", "rests", "wakeAt", "pruneAt", "updates"] as const;

/** Longer texts are compressed, because an item costs by the kB and may have at most 400 kB. */
const packedFrom = 4_096;
/** Longest text that a packed record may have, bytes. */
const unpackedMost = 16 << 20;

const textOf = (record: AnyRecord): Item => {
  const text = JSON.stringify(record);
  return text.length < packedFrom ? { record: { S: text } } : { packed: { B: gzipSync(text) } };
};

const number = (name: string, value: number | undefined): Item =>
  value === undefined ? {} : { [name]: { N: String(value) } };

const word = (name: string, value: string | undefined): Item => (value === undefined ? {} : { [name]: { S: value } });

/**
 * Returns the end of an item's retention, epoch ms; undefined: none. A resting record without a timer and without
 * updates can be rebuilt from its object, if that still exists.
 */
const endOf = (record: ShownRecord, now: number, keepMs: number): number | undefined => {
  const { rests, wakeAt, outbox, acknowledged, pruneAt = 0 } = record;
  const isOver = rests === true && wakeAt === undefined && outbox === undefined && acknowledged === undefined;
  return isOver && keepMs > 0 ? Math.max(now, pruneAt) + keepMs : undefined;
};

const hintsOf = (record: ShownRecord): Item => ({
  ...number("generation", record.generation),
  ...(record.rests === true ? { rests: { BOOL: true } } : {}),
  ...number("wakeAt", record.wakeAt),
  ...number("pruneAt", record.pruneAt),
  ...word("updates", progressOf(record)),
});

export type ItemVersion = {
  readonly key: Item;
  readonly version: Version;
  /** Epoch ms. */
  readonly now: number;
  /** The time for which a resting record is kept, ms; 0: for ever. */
  readonly keepMs: number;
};

/** Builds the whole item. `expires` is the attribute for the table's time to live, epoch s. */
export const itemOf = (record: AnyRecord, { key, version, now, keepMs }: ItemVersion): Item => {
  const end = endOf(record, now, keepMs);
  return {
    ...key,
    version: { S: version },
    seal: { S: sealOf(record) },
    uid: { S: record.uid },
    ...hintsOf(record),
    ...number("expires", end === undefined ? undefined : Math.ceil(end / 1_000)),
    ...textOf(record),
  };
};

/** Parses the record; a text that is not JSON is returned as it is, and the engine reports its problems. */
const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return text;
  }
};

/**
 * Unpacks the record; bytes that cannot be unpacked are returned as a text that cannot be parsed, so that the record
 * counts as damaged, not as missing.
 */
const unpacked = (bytes: Uint8Array): string => {
  try {
    return gunzipSync(bytes, { maxOutputLength: unpackedMost }).toString("utf8");
  } catch (cause) {
    return `packed, and cannot be unpacked: ${String(cause)}`;
  }
};

/** Returns the record of an item, and its version. */
export const loadedOf = (item: Item): Loaded => {
  const { record: plain, packed, seal, version } = item;
  const record = parsed(packed?.B === undefined ? plain?.S : unpacked(packed.B));
  const loaded = { record, version: version?.S ?? "" };
  return seal?.S === undefined || seal.S === sealOf(record) ? loaded : { ...loaded, edited: true };
};

const numberIn = (value: AttributeValue | undefined): number | undefined =>
  value?.N === undefined ? undefined : Number(value.N);

/** Returns the key of an item; undefined if it is not Rekindle's. */
export const placeOf = (item: Item): Omit<Key, "cluster"> | undefined => {
  const [, namespace, kind, name] = /^([^/]*)\/([^/]*)\/(.*)$/s.exec(item["key"]?.S ?? "") ?? [];
  return namespace === undefined || kind === undefined || name === undefined ? undefined : { namespace, kind, name };
};

/** Reads the hints of an item; undefined if it is not Rekindle's. */
export const hintOf = (item: Item): CheckpointHint | undefined => {
  const place = placeOf(item);
  const { uid, generation, rests, wakeAt, pruneAt, updates } = item;
  if (place === undefined || uid?.S === undefined) return undefined;
  return {
    ...place,
    uid: uid.S,
    generation: numberIn(generation),
    rests: rests?.BOOL === true,
    wakeAt: numberIn(wakeAt),
    pruneAt: numberIn(pruneAt),
    ...(updates?.S === undefined ? {} : { updates: updates.S }),
  };
};

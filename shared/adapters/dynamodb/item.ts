/** A checkpoint as an item of a table: its key, what a resync reads without reading the record, and the record. */
import { gunzipSync, gzipSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Key } from "../../core/key.ts";
import type { CheckpointRecord, Loaded, Version } from "../../engine/ports.ts";
import { type CheckpointHint, progressOf, sealOf } from "../checkpoints/object.ts";

export type Item = Record<string, AttributeValue>;

/** Partition key and sort key. No kind and no namespace has a slash in its name. */
export const itemKey = (cluster: string, { namespace, kind, name }: Key): Item => ({
  cluster: { S: cluster },
  key: { S: `${namespace}/${kind}/${name}` },
});

/** What of an item tells a resync all that it asks for. */
export const hintNames = ["key", "uid", "generation", "rests", "wakeAt", "pruneAt", "updates"] as const;

/** Longer texts are packed: an item costs by the kB, and may have 400. */
const packedFrom = 4_096;
/** What a packed text may become, bytes. */
const unpackedMost = 16 << 20;

const textOf = (record: CheckpointRecord): Item => {
  const text = JSON.stringify(record);
  return text.length < packedFrom ? { record: { S: text } } : { packed: { B: gzipSync(text) } };
};

const number = (name: string, value: number | undefined): Item =>
  value === undefined ? {} : { [name]: { N: String(value) } };

const word = (name: string, value: string | undefined): Item => (value === undefined ? {} : { [name]: { S: value } });

/**
 * Until when an item is worth keeping, epoch ms: one that rests, owes nobody an update and waits for nothing is seeded
 * anew from its object, should there still be one. Everything else has no end.
 */
const endOf = (record: CheckpointRecord, now: number, keepMs: number): number | undefined => {
  const { rests, wakeAt, outbox, acknowledged, pruneAt = 0 } = record;
  const isOver = rests === true && wakeAt === undefined && outbox === undefined && acknowledged === undefined;
  return isOver && keepMs > 0 ? Math.max(now, pruneAt) + keepMs : undefined;
};

export type Making = {
  readonly key: Item;
  readonly version: Version;
  /** Epoch ms. */
  readonly now: number;
  /** How long a record that rests is kept; 0: for ever. */
  readonly keepMs: number;
};

/** The whole item. `expires` is what the table's time to live reads, epoch s. */
export const itemOf = (record: CheckpointRecord, { key, version, now, keepMs }: Making): Item => {
  const end = endOf(record, now, keepMs);
  return {
    ...key,
    version: { S: version },
    seal: { S: sealOf(record) },
    uid: { S: record.uid },
    ...number("generation", record.generation),
    ...(record.rests === true ? { rests: { BOOL: true } } : {}),
    ...number("wakeAt", record.wakeAt),
    ...number("pruneAt", record.pruneAt),
    ...word("updates", progressOf(record)),
    ...number("expires", end === undefined ? undefined : Math.ceil(end / 1_000)),
    ...textOf(record),
  };
};

/** What cannot be parsed is given as it is: the engine's door says what is wrong with it. */
const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return text;
  }
};

/** Bytes that cannot be unpacked were a record, too: they are told as one that cannot be read, not as none. */
const unpacked = (bytes: Uint8Array): string => {
  try {
    return gunzipSync(bytes, { maxOutputLength: unpackedMost }).toString("utf8");
  } catch (cause) {
    return `packed, and cannot be unpacked: ${String(cause)}`;
  }
};

/** The record of an item, and the version of its save. */
export const loadedOf = (item: Item): Loaded => {
  const { record: plain, packed, seal, version } = item;
  const record = parsed(packed?.B === undefined ? plain?.S : unpacked(packed.B));
  const loaded = { record, version: version?.S ?? "" };
  return seal?.S === undefined || seal.S === sealOf(record) ? loaded : { ...loaded, edited: true };
};

const numberIn = (value: AttributeValue | undefined): number | undefined =>
  value?.N === undefined ? undefined : Number(value.N);

/** The key of an item, as text; undefined when it is none of ours. */
export const placeOf = (item: Item): Omit<Key, "cluster"> | undefined => {
  const [, namespace, kind, name] = /^([^/]*)\/([^/]*)\/(.*)$/s.exec(item["key"]?.S ?? "") ?? [];
  return namespace === undefined || kind === undefined || name === undefined ? undefined : { namespace, kind, name };
};

/** Reads an item's hints. */
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

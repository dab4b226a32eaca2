/**
 * A table of records: the form of an item, and the DynamoDB client, which is loaded with the first request, and
 * limited in time and tries for each request. An error becomes one line that names the table and what to change.
 * Single records are read without a right to write.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import type { AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ApiError } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { AnyRecord, Checkpoints, Loaded, Version } from "../../engine/ports.ts";
import { type CheckpointHint, progressOf, type ShownRecord, sealOf } from "../checkpoints/kubernetes.ts";

export type Item = Record<string, AttributeValue>;

/** Builds partition key and sort key. Kinds and namespaces contain no slash. */
export const itemKey = (cluster: string, { namespace, kind, name }: Key): Item => ({
  cluster: { S: cluster },
  key: { S: `${namespace}/${kind}/${name}` },
});

/** The attributes of an item that a resync reads. */
export const hintNames = ["key", "uid", "generation", "rests", "marks", "wakeAt", "pruneAt", "updates"] as const;

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
  ...word("marks", record.marks),
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
  const { uid, generation, rests, marks, wakeAt, pruneAt, updates } = item;
  if (place === undefined || uid?.S === undefined) return undefined;
  return {
    ...place,
    uid: uid.S,
    generation: numberIn(generation),
    rests: rests?.BOOL === true,
    wakeAt: numberIn(wakeAt),
    pruneAt: numberIn(pruneAt),
    ...(updates?.S === undefined ? {} : { updates: updates.S }),
    ...(marks?.S === undefined ? {} : { marks: marks.S }),
  };
};

type Meaning = { readonly status: number; readonly reason: string; readonly text: (what: string) => string };

const missing: Meaning = {
  status: 404,
  reason: "StoreMissing",
  text: () => "there is no such table in this region: create it (infra/aws), or correct its name or region",
};
const forbidden: Meaning = {
  status: 403,
  reason: "StoreForbidden",
  text: (what) => `no permission: allow dynamodb:${what} on it to the role that this runs as`,
};
const unknown: Meaning = {
  status: 401,
  reason: "StoreForbidden",
  text: () =>
    "AWS does not accept the credentials: give this process a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or correct this machine's clock if it is wrong by minutes",
};
const throttled: Meaning = { status: 429, reason: "StoreThrottled", text: () => "too many requests for it" };
const silent: Meaning = { status: 0, reason: "StoreUnreachable", text: () => "no answer in time" };
const mismatch: Meaning = {
  status: 0,
  reason: "StoreMismatch",
  text: () => "it has other keys: the partition key `cluster` and the sort key `key` are needed, both strings",
};

/** By the error's name. */
const meanings: Readonly<Record<string, Meaning>> = {
  ResourceNotFoundException: missing,
  AccessDeniedException: forbidden,
  UnrecognizedClientException: unknown,
  InvalidSignatureException: unknown,
  MissingAuthenticationTokenException: unknown,
  IncompleteSignatureException: unknown,
  ExpiredTokenException: unknown,
  CredentialsProviderError: unknown,
  ProvisionedThroughputExceededException: throttled,
  RequestLimitExceeded: throttled,
  ThrottlingException: throttled,
  TimeoutError: silent,
  AbortError: silent,
};

const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 300) ?? "";

const elsewhere: Meaning = {
  status: 0,
  reason: "StoreElsewhere",
  text: () =>
    "the request went to another region than the one that it was signed for: correct AWS_REGION, or ?region= of the place",
};

const regionless: Meaning = {
  status: 0,
  reason: "StoreElsewhere",
  text: () => "no region: set AWS_REGION, or ?region= of the place",
};

const meaningOf = (name: string, text: string): Meaning | undefined => {
  if (text === "Region is missing") return regionless;
  if (/scoped to a valid region/.test(text)) return elsewhere;
  if (
    name === "ValidationException" &&
    /not match the schema|[Mm]issing the key|required keys was not given/.test(text)
  )
    return mismatch;
  return Object.hasOwn(meanings, name) ? meanings[name] : undefined;
};

/** Returns the error to throw. `what` is the DynamoDB action. The error contains nothing of a record. */
const refusalOf = (what: string, table: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const name = cause instanceof Error ? cause.name : "";
  const text = cause instanceof Error ? firstLine(cause.message) || name : firstLine(String(cause));
  const meaning = meaningOf(name, text);
  const { status, reason } = meaning ?? { status: 0, reason: "StoreUnreachable" };
  return new ApiError({ status, reason, message: `DynamoDB ${what} ${table}: ${meaning?.text(what) ?? text}`, cause });
};

type Sdk = typeof import("@aws-sdk/client-dynamodb");
type Open = { readonly client: DynamoDBClient; readonly sdk: Sdk };

/** Calls `ask` with the client and its commands; rejects with one line about the table. */
type Dynamo = <T>(
  what: string,
  ask: (open: Open, limits: { readonly abortSignal: AbortSignal }) => Promise<T>,
) => Promise<T>;

export type DynamoOptions = {
  readonly table: string;
  /** Absent: the region that every AWS client finds in its environment. */
  readonly region?: string | undefined;
  /** Time limit of one request with all its tries, ms. */
  readonly timeoutMs: number;
};

/** Number of tries of one request, and the shortest time limit of one of them, ms. */
const [tries, shortestTryMs] = [3, 2_000];

const loadSdk = async ({ region, timeoutMs }: Pick<DynamoOptions, "region" | "timeoutMs">): Promise<Open> => {
  const sdk = await import("@aws-sdk/client-dynamodb");
  const requestTimeout = Math.max(shortestTryMs, Math.floor(timeoutMs / tries));
  const client = new sdk.DynamoDBClient({
    maxAttempts: tries,
    requestHandler: { connectionTimeout: 1_000, requestTimeout, throwOnRequestTimeout: true },
    ...(region === undefined ? {} : { region }),
  });
  return { client, sdk };
};

/** Opens the client; nothing is loaded before the first request. */
export const openDynamo = ({ table, region, timeoutMs }: DynamoOptions): Dynamo => {
  let loading: Promise<Open> | undefined;
  return async (what, ask) => {
    loading ??= loadSdk({ region, timeoutMs });
    try {
      return await ask(await loading, { abortSignal: AbortSignal.timeout(timeoutMs) });
    } catch (cause) {
      throw refusalOf(what, table, cause);
    }
  };
};

export type Table = {
  readonly dynamo: Dynamo;
  readonly table: string;
  /** Alias of the cluster; it is the partition key. */
  readonly cluster: string;
};

/** Reads a record; undefined if there is none. Rejects with one line about the table. */
export const load = ({ dynamo, table, cluster }: Table, key: Key): Promise<Loaded | undefined> =>
  dynamo("GetItem", async ({ client, sdk }, limits) => {
    const ask = { TableName: table, Key: itemKey(cluster, key), ConsistentRead: true };
    const { Item } = await client.send(new sdk.GetItemCommand(ask), limits);
    return Item === undefined ? undefined : loadedOf(Item);
  });

/** Time limit of one request with all its tries, ms. */
export const timeLimitMs = 5_000;

/**
 * Opens the table for reading, without a request. `region` absent: the one that every AWS client finds in its
 * environment.
 */
export const openTableReader = (
  place: Pick<Table, "table" | "cluster"> & { readonly region?: string | undefined },
): Pick<Checkpoints, "load"> => {
  const table = { ...place, dynamo: openDynamo({ ...place, timeoutMs: timeLimitMs }) };
  return { load: (key) => load(table, key) };
};

/**
 * Checkpoints as items of a DynamoDB table, to reduce the load on the API server. Each save generates its version: a
 * save that was sent twice, because its first answer was lost, finds its own version and has won.
 */
import { randomUUID } from "node:crypto";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { ApiError } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { Checkpoints, Loaded, Version } from "../../engine/ports.ts";
import type { CheckpointHint } from "../checkpoints/kubernetes.ts";
import {
  type Table as ForReading,
  hintNames,
  hintOf,
  type Item,
  itemKey,
  itemOf,
  load,
  loadedOf,
  openDynamo,
  placeOf,
  timeLimitMs,
} from "./table.ts";

export type TableOptions = {
  readonly table: string;
  /** Alias of the cluster; it is the partition key. */
  readonly cluster: string;
  readonly region?: string | undefined;
  /** Time limit of one request with all its tries, ms. */
  readonly timeoutMs?: number;
  /** The time for which a resting record is kept, ms; 0: for ever. */
  readonly keepMs?: number;
  /** Epoch ms; absent: this machine's clock. */
  readonly now?: () => number;
};

export type FoundRecord = Loaded & { readonly key: Omit<Key, "cluster"> };

export type TableCheckpoints = Checkpoints & {
  /** The hints of the records in these namespaces, for a resync; empty: all. */
  hints(namespaces: readonly string[]): Promise<readonly CheckpointHint[]>;
  /** The records in these namespaces, page by page; empty: all. */
  all(namespaces: readonly string[]): AsyncGenerator<FoundRecord>;
};

type Table = Required<Omit<TableOptions, "region">> & ForReading;

const dayMs = 86_400_000;

/** The largest DynamoDB item, bytes, and the share that its key and its hints may take. */
const mostBytes = 400 * 1_024;
const besideBytes = 4_096;

const bytesOf = ({ record, packed }: Item): number =>
  packed?.B === undefined ? Buffer.byteLength(record?.S ?? "") : packed.B.length;

const tooLarge = (table: string, key: Key, bytes: number): ApiError =>
  new ApiError({
    status: 413,
    reason: "RecordTooLarge",
    message: `DynamoDB PutItem ${table}: the record of ${key.kind} ${key.namespace}/${key.name} has ${bytes} bytes when packed, an item may have ${mostBytes}; keep less (REKINDLE_KEEP_RUNS), or keep records in Kubernetes`,
  });

/** Returns the item that failed the condition; undefined for any other error. */
const existingItem = (cause: unknown): Item | undefined => {
  if (!(cause instanceof Error) || cause.name !== "ConditionalCheckFailedException") return undefined;
  return "Item" in cause && typeof cause.Item === "object" && cause.Item !== null ? { ...cause.Item } : {};
};

/** Returns the condition that no item exists, or that it has this version. */
const conditionOf = (version: Version | undefined) =>
  version === undefined
    ? { ConditionExpression: "attribute_not_exists(#key)", ExpressionAttributeNames: { "#key": "key" } }
    : {
        ConditionExpression: "#version = :version",
        ExpressionAttributeNames: { "#version": "version" },
        ExpressionAttributeValues: { ":version": { S: version } },
      };

const save = async (
  { dynamo, table, cluster, now, keepMs }: Table,
  key: Key,
  record: Parameters<Checkpoints["save"]>[1],
  version: Version | undefined,
): Promise<Version | "raced"> => {
  const mine = randomUUID();
  const Item = itemOf(record, { key: itemKey(cluster, key), version: mine, now: now(), keepMs });
  const bytes = bytesOf(Item);
  if (bytes > mostBytes - besideBytes) throw tooLarge(table, key, bytes);
  return await dynamo("PutItem", async ({ client, sdk }, limits) => {
    const put = { TableName: table, Item, ...conditionOf(version) };
    try {
      await client.send(new sdk.PutItemCommand({ ...put, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }), limits);
      return mine;
    } catch (cause) {
      const other = existingItem(cause);
      if (other === undefined) throw cause;
      return other["version"]?.S === mine ? mine : "raced";
    }
  });
};

const remove = ({ dynamo, table, cluster }: Table, key: Key, version: Version): Promise<"removed" | "raced"> =>
  dynamo("DeleteItem", async ({ client, sdk }, limits) => {
    const ask = { TableName: table, Key: itemKey(cluster, key), ...conditionOf(version) };
    try {
      await client.send(new sdk.DeleteItemCommand(ask), limits);
      return "removed";
    } catch (cause) {
      if (existingItem(cause) === undefined) throw cause;
      return "raced";
    }
  });

type Reading = { readonly names?: readonly string[]; readonly consistent: boolean };

const rangeOf = (cluster: string, namespace: string | undefined) => {
  const values: Record<string, AttributeValue> = { ":cluster": { S: cluster } };
  if (namespace === undefined) return { condition: "#cluster = :cluster", names: {}, values };
  const condition = "#cluster = :cluster and begins_with(#key, :prefix)";
  return { condition, names: { "#key": "key" }, values: { ...values, ":prefix": { S: `${namespace}/` } } };
};

/** Yields the items of a namespace, or of all, page by page. */
async function* items(
  { dynamo, table, cluster }: Table,
  namespace: string | undefined,
  { names, consistent }: Reading,
): AsyncGenerator<Item> {
  const { condition, names: ranged, values } = rangeOf(cluster, namespace);
  const placeholders = Object.fromEntries((names ?? []).map((name) => [`#${name}`, name]));
  let ExclusiveStartKey: Item | undefined;
  do {
    const from = ExclusiveStartKey;
    const page = await dynamo("Query", ({ client, sdk }, limits) =>
      client.send(
        new sdk.QueryCommand({
          TableName: table,
          KeyConditionExpression: condition,
          ExpressionAttributeNames: { "#cluster": "cluster", ...ranged, ...placeholders },
          ExpressionAttributeValues: values,
          ConsistentRead: consistent,
          ...(names === undefined ? {} : { ProjectionExpression: names.map((name) => `#${name}`).join(", ") }),
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
        limits,
      ),
    );
    yield* page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

const placesIn = (namespaces: readonly string[]): readonly (string | undefined)[] =>
  namespaces.length === 0 ? [undefined] : namespaces;

/** Reads hints eventually consistent, at half the cost: a superfluous message of a resync finds nothing to do. */
const hints = async (table: Table, namespaces: readonly string[]): Promise<readonly CheckpointHint[]> => {
  const found: CheckpointHint[] = [];
  for (const namespace of placesIn(namespaces)) {
    for await (const item of items(table, namespace, { names: hintNames, consistent: false })) {
      const hint = hintOf(item);
      if (hint !== undefined) found.push(hint);
    }
  }
  return found;
};

async function* all(table: Table, namespaces: readonly string[]): AsyncGenerator<FoundRecord> {
  for (const namespace of placesIn(namespaces)) {
    for await (const item of items(table, namespace, { consistent: true })) {
      const key = placeOf(item);
      if (key !== undefined) yield { ...loadedOf(item), key };
    }
  }
}

/** Opens the records of one cluster in a table with the partition key `cluster` and the sort key `key`. */
export const tableCheckpoints = (options: TableOptions): TableCheckpoints => {
  const settled = { timeoutMs: timeLimitMs, keepMs: 90 * dayMs, now: Date.now, ...options };
  const table: Table = { ...settled, dynamo: openDynamo(settled) };
  return {
    load: (key) => load(table, key),
    save: (key, record, version) => save(table, key, record, version),
    remove: (key, version) => remove(table, key, version),
    hints: (namespaces) => hints(table, namespaces),
    all: (namespaces) => all(table, namespaces),
  };
};

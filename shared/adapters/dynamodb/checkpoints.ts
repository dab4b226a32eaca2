/**
 * Checkpoints as items of a DynamoDB table, for when the API server is to be spared. A version is a word that the save
 * itself made up: a save that was sent twice, because its first answer was lost, knows its own word again and has won.
 */
import { randomUUID } from "node:crypto";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { ApiError } from "../../core/errors.ts";
import type { Key } from "../../core/key.ts";
import type { Checkpoints, Loaded, Version } from "../../engine/ports.ts";
import type { CheckpointHint } from "../checkpoints/object.ts";
import { openDynamo } from "./client.ts";
import { hintNames, hintOf, type Item, itemKey, itemOf, loadedOf, placeOf } from "./item.ts";
import { type Table as ForReading, load, patienceMs } from "./load.ts";

export type TableOptions = {
  readonly table: string;
  /** Alias of the cluster: records of one are a partition. */
  readonly cluster: string;
  readonly region?: string | undefined;
  /** One request with all its tries, ms. */
  readonly timeoutMs?: number;
  /** How long a record that rests is kept, ms; 0: for ever. */
  readonly keepMs?: number;
  /** Epoch ms; absent: this machine's. */
  readonly now?: () => number;
};

export type Found = Loaded & { readonly key: Omit<Key, "cluster"> };

export type TableCheckpoints = Checkpoints & {
  /** What a resync asks of the records of these namespaces; none: of all. */
  hints(namespaces: readonly string[]): Promise<readonly CheckpointHint[]>;
  /** The records of these namespaces, page by page; none: of all. */
  all(namespaces: readonly string[]): AsyncGenerator<Found>;
};

type Table = Required<Omit<TableOptions, "region">> & ForReading;

const dayMs = 86_400_000;

/** The most that DynamoDB takes as one item, bytes; beside the record stand its key and its hints. */
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

/** What stands in the way of a condition, if it did not hold; undefined for any other error. */
const standing = (cause: unknown): Item | undefined => {
  if (!(cause instanceof Error) || cause.name !== "ConditionalCheckFailedException") return undefined;
  return "Item" in cause && typeof cause.Item === "object" && cause.Item !== null ? { ...cause.Item } : {};
};

/** Holds only if there is none, or if this version stands. */
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
  return await dynamo("PutItem", async ({ client, sdk }, patience) => {
    const put = { TableName: table, Item, ...conditionOf(version) };
    try {
      await client.send(new sdk.PutItemCommand({ ...put, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }), patience);
      return mine;
    } catch (cause) {
      const other = standing(cause);
      if (other === undefined) throw cause;
      return other["version"]?.S === mine ? mine : "raced";
    }
  });
};

const remove = ({ dynamo, table, cluster }: Table, key: Key, version: Version): Promise<"removed" | "raced"> =>
  dynamo("DeleteItem", async ({ client, sdk }, patience) => {
    const ask = { TableName: table, Key: itemKey(cluster, key), ...conditionOf(version) };
    try {
      await client.send(new sdk.DeleteItemCommand(ask), patience);
      return "removed";
    } catch (cause) {
      if (standing(cause) === undefined) throw cause;
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

/** The items of a namespace, or of all, page by page. */
async function* items(
  { dynamo, table, cluster }: Table,
  namespace: string | undefined,
  { names, consistent }: Reading,
): AsyncGenerator<Item> {
  const { condition, names: ranged, values } = rangeOf(cluster, namespace);
  const asked = Object.fromEntries((names ?? []).map((name) => [`#${name}`, name]));
  let ExclusiveStartKey: Item | undefined;
  do {
    const from = ExclusiveStartKey;
    const page = await dynamo("Query", ({ client, sdk }, patience) =>
      client.send(
        new sdk.QueryCommand({
          TableName: table,
          KeyConditionExpression: condition,
          ExpressionAttributeNames: { "#cluster": "cluster", ...ranged, ...asked },
          ExpressionAttributeValues: values,
          ConsistentRead: consistent,
          ...(names === undefined ? {} : { ProjectionExpression: names.map((name) => `#${name}`).join(", ") }),
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
        patience,
      ),
    );
    yield* page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

const placesIn = (namespaces: readonly string[]): readonly (string | undefined)[] =>
  namespaces.length === 0 ? [undefined] : namespaces;

/** A resync may see what was a moment ago: it costs half, and what it sends for too much finds nothing to do. */
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

async function* all(table: Table, namespaces: readonly string[]): AsyncGenerator<Found> {
  for (const namespace of placesIn(namespaces)) {
    for await (const item of items(table, namespace, { consistent: true })) {
      const key = placeOf(item);
      if (key !== undefined) yield { ...loadedOf(item), key };
    }
  }
}

/** The records of one cluster in a table with the partition key `cluster` and the sort key `key`. */
export const tableCheckpoints = (options: TableOptions): TableCheckpoints => {
  const settled = { timeoutMs: patienceMs, keepMs: 90 * dayMs, now: Date.now, ...options };
  const table: Table = { ...settled, dynamo: openDynamo(settled) };
  return {
    load: (key) => load(table, key),
    save: (key, record, version) => save(table, key, record, version),
    remove: (key, version) => remove(table, key, version),
    hints: (namespaces) => hints(table, namespaces),
    all: (namespaces) => all(table, namespaces),
  };
};

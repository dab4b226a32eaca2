/** Reads single records of a table, so that a reader needs no right to write. */
import type { Key } from "../../core/key.ts";
import type { Checkpoints, Loaded } from "../../engine/ports.ts";
import { type Dynamo, openDynamo } from "./client.ts";
import { itemKey, loadedOf } from "./item.ts";

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

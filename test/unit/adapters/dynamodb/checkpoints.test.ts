/**
 * Checkpoints as items: the suite of all stores, lost answers, paging, sizes, expiry, and messages about bad tables.
 */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { type TableOptions, tableCheckpoints } from "../../../../shared/adapters/dynamodb/checkpoints.ts";
import { itemKey } from "../../../../shared/adapters/dynamodb/table.ts";
import { ApiError } from "../../../../shared/core/http.ts";
import { checkpointSuite, key, record } from "../checkpoints/suite.ts";
import { openTable } from "./table.ts";

const { table, wire } = await openTable();

const now = Date.UTC(2026, 10, 2, 9);
const dayMs = 86_400_000;

const open = (more: Partial<TableOptions> = {}) =>
  tableCheckpoints({ table, cluster: randomUUID(), now: () => now, ...more });

/** Returns a text that cannot be compressed. */
const noise = (bytes: number): string => randomBytes((bytes * 3) / 4).toString("base64");

const itemIn = async (cluster: string) => {
  const client = new DynamoDBClient({});
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: itemKey(cluster, key) }));
  return { client, Item };
};

checkpointSuite("items of a table", () => open());

describe("a checkpoint item", () => {
  it("is saved once, and its save wins, if the answer to the save was lost", async () => {
    const store = open();
    const before = wire.acts.length;
    wire.lose("PutItem", 1);
    const version = await store.save(key, record(1), undefined);
    assert.deepEqual(wire.acts.slice(before), ["PutItem", "PutItem"]);
    assert.notEqual(version, "raced");
    wire.lose("PutItem", 1);
    const next = await store.save(key, record(2), version);
    assert.deepEqual(await store.load(key), { record: record(2), version: next });
  });

  it("is removed if the answer to the removal was lost, and the second try reports raced", async () => {
    const store = open();
    const version = await store.save(key, record(1), undefined);
    wire.lose("DeleteItem", 1);
    assert.equal(await store.remove(key, version), "raced");
    assert.equal(await store.load(key), undefined);
  });

  it("describes its object to a resync without its record, for all namespaces or some", async () => {
    const store = open();
    const [wakeAt, pruneAt] = [now + 1, now + 2];
    await store.save(key, record(1, { generation: 3, rests: true, marks: "m1", wakeAt, pruneAt }), undefined);
    await store.save({ ...key, namespace: "team-ab" }, record(1), undefined);
    await store.save({ ...key, kind: "Queue", namespace: "", name: "root" }, record(1), undefined);
    const { kind, namespace, name } = key;
    assert.deepEqual(await store.hints(["team-a"]), [
      { kind, namespace, name, uid: "app-uid", generation: 3, rests: true, marks: "m1", wakeAt, pruneAt },
    ]);
    assert.deepEqual(
      (await store.hints([])).map((hint) => `${hint.namespace}/${hint.kind}/${hint.name} ${hint.rests}`),
      ["/Queue/root false", "team-a/SparkApplication/pi true", "team-ab/SparkApplication/pi false"],
    );
  });

  it("is found even if the records of its cluster exceed one answer", async () => {
    const store = open();
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    for (const name of names) await store.save({ ...key, name }, record(1, { memory: noise(400_000) }), undefined);
    assert.deepEqual(
      (await store.hints([])).map(({ name }) => name),
      names,
    );
    const before = wire.acts.length;
    const found: string[] = [];
    for await (const { key: one } of store.all(["team-a"])) found.push(one.name);
    assert.deepEqual(found, names);
    assert.ok(wire.acts.length - before > 1);
  });

  it("of another cluster in the same table is not found", async () => {
    await open().save(key, record(1), undefined);
    const store = open();
    assert.equal(await store.load(key), undefined);
    assert.deepEqual(await store.hints([]), []);
  });

  it("holds a large record compressed", async () => {
    const cluster = randomUUID();
    const store = open({ cluster });
    const large = record(1, { memory: { executors: Array.from({ length: 4_000 }, (_, id) => ({ id, lost: false })) } });
    const version = await store.save(key, large, undefined);
    assert.deepEqual(await store.load(key), { record: large, version });
    const { client, Item } = await itemIn(cluster);
    assert.ok((Item?.["packed"]?.B?.length ?? 0) < JSON.stringify(large).length / 5);
    client.destroy();
  });

  it("that is too large even when compressed is refused before the request, with its size and the repair", async () => {
    const store = open();
    const before = wire.acts.length;
    const refusal = await store.save(key, record(1, { memory: noise(600_000) }), undefined).catch((cause) => cause);
    assert.ok(refusal instanceof ApiError);
    assert.deepEqual([refusal.status, refusal.reason, wire.acts.length], [413, "RecordTooLarge", before]);
    assert.match(refusal.message, /SparkApplication team-a\/pi has \d+ bytes when packed.*keep less/);
  });

  it("that was edited is marked as edited, and an unreadable one is loaded as its text", async () => {
    const cluster = randomUUID();
    const store = open({ cluster });
    const version = await store.save(key, record(1), undefined);
    const { client, Item = {} } = await itemIn(cluster);
    const edited = JSON.stringify(record(7));
    await client.send(new PutItemCommand({ TableName: table, Item: { ...Item, record: { S: edited } } }));
    assert.deepEqual(await store.load(key), { record: record(7), version, edited: true });
    await client.send(new PutItemCommand({ TableName: table, Item: { ...Item, record: { S: "{" } } }));
    assert.deepEqual(await store.load(key), { record: "{", version, edited: true });
    client.destroy();
  });

  const ends: Record<string, { more: Parameters<typeof record>[1]; keepMs?: number; expected: string | undefined }> = {
    "90 days later if the record rests": { more: { rests: true }, expected: String((now + 90 * dayMs) / 1_000) },
    "after the configured time if the record rests": {
      more: { rests: true },
      keepMs: dayMs,
      expected: String((now + dayMs) / 1_000),
    },
    "after the last run's retention": {
      more: { rests: true, pruneAt: now + dayMs },
      keepMs: dayMs,
      expected: String((now + 2 * dayMs) / 1_000),
    },
    "never if the configured time is 0": { more: { rests: true }, keepMs: 0, expected: undefined },
    "never if the record is unfinished": { more: {}, expected: undefined },
    "never if the record has a timer": { more: { rests: true, wakeAt: now }, expected: undefined },
    "never if the record has acknowledged updates": {
      more: { rests: true, acknowledged: { stream: "s", sequence: 1 } },
      expected: undefined,
    },
  };
  for (const [what, { more, keepMs, expected }] of Object.entries(ends)) {
    it(`expires ${what}`, async () => {
      const cluster = randomUUID();
      await open({ cluster, ...(keepMs === undefined ? {} : { keepMs }) }).save(key, record(1, more), undefined);
      const { client, Item } = await itemIn(cluster);
      assert.equal(Item?.["expires"]?.N, expected);
      client.destroy();
    });
  }
});

describe("a table", () => {
  it("that does not exist is named in the error, with the repair", async () => {
    const store = open({ table: "nowhere" });
    await assert.rejects(store.load(key), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.reason, "StoreMissing");
      assert.match(error.message, /^DynamoDB GetItem nowhere: there is no such table in this region/);
      return true;
    });
  });

  it("with another key is named in the error, with the required key", async () => {
    const other = await openTable("id", "sort");
    const store = open({ table: other.table });
    await assert.rejects(store.load(key), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.reason, "StoreMismatch", error.message);
      assert.match(error.message, /partition key `cluster` and the sort key `key` are needed/);
      return true;
    });
  });
});

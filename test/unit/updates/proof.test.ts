/** Records that somebody else wrote: what they cannot make Rekindle send, and where it does not go. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { memoryCheckpoints } from "../../../shared/adapters/checkpoints/memory.ts";
import { isRecord } from "../../../shared/core/json.ts";
import type { Key } from "../../../shared/core/key.ts";
import { namespacesListener, type Outbox, operatorsListener, streamName } from "../../../shared/core/updates.ts";
import { provenRecords } from "../../../shared/deployments/common/proven-records.ts";
import { readRecord } from "../../../shared/engine/checkpoint/record.ts";
import type { CheckpointRecord } from "../../../shared/engine/ports.ts";
import { message, toy } from "../engine/fakes.ts";
import { openStreet, silence } from "./street.ts";

const own: Key = { cluster: "c", kind: "Toy", namespace: "evil", name: "ghost" };
const other: Key = { ...own, namespace: "team-b", name: "etl" };

const origin = "uid-1 0123456789abcdef";

const outboxOf = (key: Key, more: Partial<Outbox> = {}): Outbox => ({
  ...{ stream: streamName("cluster-1", key, origin), origin, to: "https://own.example/" },
  entries: [{ sequence: 1, uid: "uid-1", state: "FORGED", attempt: 1, terminal: true, at: 1_000 }],
  ...more,
});

const recordOf = (outbox: Outbox): CheckpointRecord => ({
  ...{ schema: 1, cluster: "cluster-1", uid: "uid-1", saves: 1, memory: {} },
  outbox,
});

const operators = { to: "https://operator.example/?token=t", secret: async () => "a secret of the operator" };

type Operators = Parameters<typeof provenRecords>[1];

/** Stores a record without proof; returns the outbox that a process loads, and the warnings. */
const loaded = async (record: CheckpointRecord, settings: Operators = operators) => {
  const store = memoryCheckpoints();
  await store.save(own, record, undefined);
  const warnings: string[] = [];
  const found = await provenRecords(store, settings, (_, text) => void warnings.push(text)).load(own);
  const read = readRecord(found?.record);
  return { outbox: read.ok ? read.record.outbox : "unread", warnings };
};

/** Returns a record as a process saves it under this key. */
const saved = async (key: Key, record: CheckpointRecord, settings = operators): Promise<CheckpointRecord> => {
  const store = memoryCheckpoints();
  await provenRecords(store, settings, () => {}).save(key, record, undefined);
  const { record: stored } = (await store.load(key)) ?? {};
  assert.ok(isRecord(stored));
  return { ...record, outbox: { ...record.outbox, ...JSON.parse(JSON.stringify(stored["outbox"])) } };
};

const changed = (record: CheckpointRecord, more: Partial<Outbox>): CheckpointRecord => ({
  ...record,
  outbox: { ...outboxOf(own), ...record.outbox, ...more },
});

describe("an outbox that a process has saved", () => {
  test("is loaded by it, and by others with its settings", async () => {
    const { outbox, warnings } = await loaded(await saved(own, recordOf(outboxOf(own))));
    assert.ok(typeof outbox === "object");
    assert.equal(outbox.entries[0]?.state, "FORGED");
    assert.deepEqual(warnings, []);
  });
});

describe("an outbox that somebody else has written is not loaded", () => {
  const forged: Readonly<Record<string, () => Promise<CheckpointRecord>>> = {
    "without a proof": async () => recordOf(outboxOf(own)),
    "with a proof of nothing": async () => recordOf(outboxOf(own, { proof: "" })),
    "with a proof of the right length": async () => recordOf(outboxOf(own, { proof: "0".repeat(64) })),
    "by a record of an earlier version": async () => recordOf({ ...outboxOf(own), origin: undefined, stream: "s" }),
    "copied from another namespace": async () => await saved(other, recordOf(outboxOf(other))),
    "with the stream of another namespace": async () =>
      changed(await saved(own, recordOf(outboxOf(own))), { stream: outboxOf(other).stream }),
    "with another destination": async () =>
      changed(await saved(own, recordOf(outboxOf(own))), { to: operatorsListener }),
    "with another state": async () =>
      changed(await saved(own, recordOf(outboxOf(own))), {
        entries: [{ sequence: 1, uid: "uid-1", state: "COMPLETED", attempt: 1, terminal: true, at: 1_000 }],
      }),
    "with another sequence": async () =>
      changed(await saved(own, recordOf(outboxOf(own))), {
        entries: [{ sequence: 9, uid: "uid-1", state: "FORGED", attempt: 1, terminal: true, at: 1_000 }],
      }),
    "of another object": async () => ({ ...(await saved(own, recordOf(outboxOf(own)))), uid: "uid-2" }),
    "of another cluster": async () => ({ ...(await saved(own, recordOf(outboxOf(own)))), cluster: "cluster-2" }),
    "with another secret": async () =>
      await saved(own, recordOf(outboxOf(own)), { ...operators, secret: async () => "a secret of somebody else" }),
    "with another listener of the operator": async () =>
      await saved(own, recordOf(outboxOf(own)), { ...operators, to: "https://operator.example/" }),
  };
  for (const [name, record] of Object.entries(forged))
    test(name, async () => {
      const { outbox, warnings } = await loaded(await record());
      assert.equal(outbox, undefined);
      assert.match(warnings.join(), /^the updates in a record are not sent: they were not written with the settings/);
    });

  test("where it is damaged: it stays damage, of which nothing is read", async () => {
    const damaged = recordOf(outboxOf(own, { to: "x", entries: [] }));
    assert.equal((await loaded(damaged)).outbox, "unread");
  });

  test("under another object's ids, where the operator has set nothing", async () => {
    const stolen = recordOf(outboxOf(own, { stream: outboxOf(other).stream }));
    assert.equal((await loaded(stolen, { to: "" })).outbox, undefined);
    assert.notEqual((await loaded(recordOf(outboxOf(own)), { to: "" })).outbox, undefined);
  });
});

describe("a delivery", () => {
  /** A street in which the object is gone, and its updates have not been delivered. */
  const left = async (to: string) => {
    const street = openStreet({ to });
    street.answer = () => silence;
    await street.enter("RUNNING");
    street.fixture.objects.delete("toys bear");
    return street;
  };

  test("of a deleted object's updates goes to the listener of the operator", async () => {
    const street = await left("https://operator.example/");
    street.answer = () => ({ did: "acknowledged" });
    await street.resync();
    await street.pass(3_600_000);
    assert.deepEqual(
      street.heard.filter(({ answered }) => answered === "acknowledged").map(({ to, state }) => [to, state]),
      [
        ["https://operator.example/", "RUNNING"],
        ["https://operator.example/", "DELETED"],
      ],
    );
  });

  for (const to of [
    "sqs:https://sqs.eu-west-1.amazonaws.com/000000000000/listed",
    operatorsListener,
    namespacesListener("https://listener.example/"),
  ])
    test(`of a deleted object goes to ${to.slice(0, 8)} only if its namespace or the operator names it`, async () => {
      const street = openStreet({ to: "none" });
      const forged = recordOf(outboxOf(message, { to }));
      await street.fixture.checkpoints.save(message, forged, undefined);
      street.fixture.objects.delete("toys bear");
      await street.resync();
      await street.pass(3_600_000);
      assert.deepEqual(street.heard, []);
    });

  test("of a distrusted outbox asks for a step, which tells the present state", async () => {
    const street = openStreet({ to: "https://operator.example/" });
    street.answer = () => silence;
    await street.enter("RUNNING");
    const record = street.fixture.record();
    assert.ok(record?.outbox !== undefined);
    const { proof: _, origin: __, ...older } = record.outbox;
    const loadedBefore = await street.fixture.checkpoints.load(message);
    await street.fixture.checkpoints.save(
      message,
      { ...record, outbox: { ...older, stream: "s" } },
      loadedBefore?.version,
    );
    street.answer = () => ({ did: "acknowledged" });
    street.fixture.put(toy({}));
    await street.pass(60_000);
    const { to, state, sequence, answered } = street.heard.at(-1) ?? {};
    assert.deepEqual([to, state, sequence, answered], ["https://operator.example/", "RUNNING", 1, "acknowledged"]);
  });
});

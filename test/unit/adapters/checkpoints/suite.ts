/** The tests that every store of checkpoints passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Key } from "../../../../shared/core/key.ts";
import type { CheckpointRecord, Checkpoints, DeliveryRecord } from "../../../../shared/engine/ports.ts";

export const key: Key = { cluster: "c1", kind: "SparkApplication", namespace: "team-a", name: "pi" };

export const record = (saves: number, more: Partial<CheckpointRecord & DeliveryRecord> = {}): CheckpointRecord => ({
  schema: 1,
  cluster: "cluster-uid",
  uid: "app-uid",
  saves,
  memory: { attempt: 1, text: "grün 🐘", list: [1, { deep: null }] },
  ...more,
});

/** Returns the version of a save that must have won. */
const won = (saved: string): string => {
  assert.notEqual(saved, "raced");
  return saved;
};

export const checkpointSuite = (name: string, open: () => Checkpoints): void => {
  describe(`checkpoints: ${name}`, () => {
    it("loads the saved record with the version of its save", async () => {
      const store = open();
      assert.equal(await store.load(key), undefined);
      const version = won(await store.save(key, record(1, { wakeAt: 5, rests: false }), undefined));
      assert.deepEqual(await store.load(key), { record: record(1, { wakeAt: 5, rests: false }), version });
      const next = won(await store.save(key, record(2), version));
      assert.notEqual(next, version);
      assert.deepEqual(await store.load(key), { record: record(2), version: next });
    });

    it("let one of two saves on the same version win, and the loser changes nothing", async () => {
      const store = open();
      const version = won(await store.save(key, record(1), undefined));
      const next = won(await store.save(key, record(2), version));
      assert.equal(await store.save(key, record(3), version), "raced");
      assert.equal(await store.remove(key, version), "raced");
      assert.deepEqual(await store.load(key), { record: record(2), version: next });
    });

    it("let one of two first saves win", async () => {
      const store = open();
      const saves = await Promise.all([store.save(key, record(1), undefined), store.save(key, record(1), undefined)]);
      assert.equal(saves.filter((saved) => saved === "raced").length, 1);
    });

    it("remove a record of the given version once, and never its successor", async () => {
      const store = open();
      const version = won(await store.save(key, record(1), undefined));
      assert.equal(await store.remove(key, version), "removed");
      assert.equal(await store.load(key), undefined);
      assert.equal(await store.remove(key, version), "raced");
      assert.equal(await store.save(key, record(2), version), "raced");
      won(await store.save(key, record(1), undefined));
      assert.equal(await store.remove(key, version), "raced");
      assert.equal(await store.save(key, record(2), version), "raced");
    });

    it("keep records of different keys apart, also with long and unusual names", async () => {
      const store = open();
      const long = "x".repeat(245);
      const keys: readonly Key[] = [
        key,
        { ...key, namespace: "team-b" },
        { ...key, kind: "ScheduledSparkApplication" },
        { ...key, name: `${long}-1` },
        { ...key, name: `${long}-2` },
        { ...key, name: "Pi" },
        { ...key, kind: "gang", namespace: "", name: "C_1" },
      ];
      for (const [at, one] of keys.entries()) won(await store.save(one, record(at + 1), undefined));
      for (const [at, one] of keys.entries()) assert.deepEqual((await store.load(one))?.record, record(at + 1));
    });
  });
};

/** Parsing of records: a stored record is read back unchanged, and anything else is refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { readAny, readDelivery, readRecord } from "../../../../shared/engine/checkpoint/record.ts";
import type { CheckpointRecord } from "../../../../shared/engine/ports.ts";

const text = fc.string();
/** Names of labels and settings begin with a letter or a digit. */
const named = fc.stringMatching(/^[A-Za-z0-9][-A-Za-z0-9._/]*$/);
const at = fc.integer();
const records: fc.Arbitrary<CheckpointRecord> = fc.record(
  {
    schema: fc.constant(1 as const),
    cluster: fc.string({ minLength: 1 }),
    uid: fc.string({ minLength: 1 }),
    saves: fc.integer({ min: 1 }),
    generation: at,
    labels: fc.dictionary(named, text, { noNullPrototype: true }),
    rests: fc.boolean(),
    wakeAt: at,
    waitsFor: text,
    status: fc.record({ wished: text, answered: text }),
    trouble: fc.record({ reason: text, message: text, since: at }),
    made: fc.dictionary(named, fc.oneof(text, at, fc.boolean(), fc.array(text)), { noNullPrototype: true }),
    returning: fc.record({ since: at, until: at, ends: fc.boolean() }),
    cleanup: fc.record({ since: at, graceSeconds: fc.nat(), forceAt: at, done: at }),
    recovered: fc.record({ at, how: fc.constant("fresh" as const), why: text, was: fc.jsonValue() }),
    runs: fc.array(fc.record({ attempt: at, endedAt: at, outcome: fc.constant("failed" as const), error: text })),
    pruneAt: at,
    memory: fc.jsonValue(),
  },
  { requiredKeys: ["schema", "cluster", "uid", "saves", "memory"] },
);

describe("the record of a delivery", () => {
  const stored = {
    ...{ schema: 1, cluster: "c", uid: "u", saves: 3, wakeAt: 5 },
    ...{ acknowledged: { stream: "s", sequence: 2 }, memory: { stream: "s", acknowledged: 2, closed: false } },
  };

  test("is read back from the store byte for byte", () => {
    const read = readDelivery(stored);
    assert.equal(JSON.stringify(read.ok ? read.record : read.error), JSON.stringify(stored));
    assert.equal(readAny(stored), read);
  });

  test("is refused when its position is damaged", () => {
    const read = readAny({ ...stored, acknowledged: { stream: "s", sequence: "2" } });
    assert.match(read.ok ? "" : read.error, /^checkpoint cannot be read \(acknowledged\.sequence: /);
  });
});

describe("a record", () => {
  test("is read back from the store unchanged", () => {
    fc.assert(
      fc.property(records, (record) => {
        const stored: unknown = JSON.parse(JSON.stringify(record));
        assert.deepEqual(readRecord(stored), { ok: true, record: stored });
      }),
    );
  });

  test("never makes the parser throw, whatever is stored", () => {
    fc.assert(fc.property(fc.anything(), (stored) => typeof readRecord(stored).ok === "boolean"));
  });

  const good = { schema: 1, cluster: "c", uid: "u", saves: 1, memory: {} };
  const cases = [
    {
      name: "is refused with the name of every damaged field",
      stored: { ...good, uid: "", saves: 0 },
      told: ["uid: ", "saves: "],
    },
    { name: "is refused if its schema is of another version", stored: { ...good, schema: 2 }, told: ["schema: "] },
    {
      name: "is refused if it has the digest of a desired status without that of the answer",
      stored: { ...good, status: { wished: "w" } },
      told: ["status.answered: "],
    },
    { name: "is refused if it is no object", stored: undefined, told: ["record: "] },
  ];
  for (const { name, stored, told } of cases) {
    test(name, () => {
      const read = readRecord(stored);
      assert.equal(read.ok, false);
      for (const word of told) assert.ok(!read.ok && read.error.includes(word), JSON.stringify(read));
    });
  }

  test("keeps a field of a later version, and is read", () => {
    assert.deepEqual(readRecord({ ...good, later: true }), { ok: true, record: { ...good, later: true } });
  });
});

/**
 * The contents of a record: runs until their retention ends, fields of later versions, and a bounded size; also after
 * an upgrade and a rollback.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { subjectOf } from "../../../../shared/core/key.ts";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { bounded, broughtForward, keptRuns, readRecord, schema } from "../../../../shared/engine/checkpoint/record.ts";
import type { CheckpointRecord } from "../../../../shared/engine/ports.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { recovery, timing } from "../../../../shared/engine/settings.ts";
import { readCursor } from "../../../../shared/updates/cursor.ts";
import { eight, message, writesIn } from "../fakes.ts";
import { good, stored, toyBox } from "./toys.ts";

const day = 86_400_000;
const run = (attempt: number, endedAt = eight) => ({ attempt, endedAt, outcome: "failed" as const });

describe("runs that have ended", () => {
  const limits = { runs: 3, retentionMs: 7 * day };
  const rows = [
    { name: "are kept, the oldest first", runs: [run(1)], over: run(2), want: [1, 2] },
    { name: "stay the same while no run ends", runs: [run(1)], over: undefined, want: [1] },
    { name: "are kept up to a bounded number", runs: [run(1), run(2), run(3)], over: run(4), want: [2, 3, 4] },
    { name: "are kept once each", runs: [run(1), run(2)], over: run(2), want: [1, 2] },
    {
      name: "are removed when their retention ends",
      runs: [run(1, eight - 7 * day), run(2)],
      over: undefined,
      want: [2],
    },
    { name: "are not removed before", runs: [run(1, eight - 7 * day + 1)], over: undefined, want: [1] },
  ];
  for (const { name, runs, over, want } of rows)
    test(name, () =>
      assert.deepEqual(
        keptRuns(runs, over, eight, limits).map(({ attempt }) => attempt),
        want,
      ),
    );

  test("are kept by the step that ends them, and removed by the first step after their retention", async () => {
    let count = 3;
    const box = toyBox({}, () => ({ memory: { count }, stages: [], next: { do: "rest" } }));
    await step(box.toyWorld(await stored(box, good)), message);
    count = 4;
    await step(box.toyWorld(), message);
    const { runs = [], pruneAt } = box.record() ?? {};
    assert.deepEqual([runs.map(({ attempt }) => attempt), pruneAt], [[3], eight + 7 * day]);
    box.time.now = eight + 7 * day - 1;
    box.calls.length = 0;
    await step(box.toyWorld(), message);
    assert.deepEqual(writesIn(box.calls), []);
    box.time.now = eight + 7 * day;
    await step(box.toyWorld(), message);
    assert.deepEqual([box.record()?.runs, box.record()?.pruneAt, box.record()?.rests], [undefined, undefined, true]);
  });
});

describe("the fields of a later version", () => {
  const { fenceMs, requestTimeoutMs } = timing;
  const later = { ...good, generation: 1, invented: { a: [1] }, memory: { count: 3, more: "x" } };

  test("cause no write", async () => {
    const box = toyBox();
    await step(box.toyWorld(await stored(box, { ...later, made: { fenceMs, requestTimeoutMs } })), message);
    assert.deepEqual(box.counts, [3]);
  });

  test("survive a save unchanged, in the record and in the memory", async () => {
    const box = toyBox({}, () => ({ memory: { count: 4 }, stages: [] }));
    await step(box.toyWorld(await stored(box, later)), message);
    const text = box.checkpoints.text(message) ?? "";
    const { invented, memory } = JSON.parse(text);
    assert.deepEqual([invented, memory], [{ a: [1] }, { count: 4, more: "x" }]);
  });
});

describe("a record that would be too large", () => {
  const [operator] = operatorsFor(timing);
  const toy = toyBox().world.operatorOf("Toy");
  const long = "ü".repeat(5_000);
  const large: CheckpointRecord = {
    ...good,
    labels: { team: long },
    waitsFor: long,
    trouble: { reason: "Quota", message: long, since: 1 },
    recovered: { at: 1, how: "fresh", why: "", was: long },
    runs: [1, 2, 3, 4].map((attempt) => ({ ...run(attempt), error: long })),
  };
  for (const maxBytes of [81_000, 60_000, 40_000, 30_000, 20_000, 12_000, 2_000])
    test(`is reduced until it fits into ${maxBytes} bytes`, () => {
      assert.ok(toy !== undefined && operator !== undefined);
      const small = bounded(large, toy, maxBytes);
      assert.ok(Buffer.byteLength(JSON.stringify(small)) <= maxBytes);
      assert.equal(readRecord(JSON.parse(JSON.stringify(small))).ok, true);
      assert.deepEqual([small.uid, small.saves, small.cluster], [good.uid, good.saves, good.cluster]);
    });

  test("loses its least needed fields first", () => {
    assert.ok(toy !== undefined);
    const sizes = [81_000, 75_000, 15_000, 12_000, 2_000].map((maxBytes) => bounded(large, toy, maxBytes));
    assert.deepEqual(
      sizes.map(({ recovered, runs, waitsFor = "", labels }) => [
        recovered?.was !== undefined,
        runs?.length,
        waitsFor.length,
        labels !== undefined,
      ]),
      [
        [true, 4, 5_000, true],
        [false, 4, 5_000, true],
        [false, undefined, 200, true],
        [false, undefined, 200, true],
        [false, undefined, 200, false],
      ],
    );
  });

  test("loses its specs before anything else, and then its timeline", () => {
    assert.ok(toy !== undefined);
    const record: CheckpointRecord = { ...large, timeline: { waiting: ["a", 1], saves: [1, 2] } };
    const whole: CheckpointRecord = { ...record, specs: { generation: 2, spec: "{}", changes: [[1, "{}"]] } };
    const all = Buffer.byteLength(JSON.stringify(whole));
    assert.deepEqual(bounded(whole, toy, all), whole);
    assert.deepEqual(bounded(whole, toy, all - 1), record);
    const bytes = Buffer.byteLength(JSON.stringify(record));
    assert.deepEqual(bounded(record, toy, bytes), record);
    assert.deepEqual(bounded(record, toy, bytes - 1), large);
  });

  test("is saved at its reduced size", async () => {
    const box = toyBox({}, ({ memory }) => ({
      memory: memory ?? { count: 0 },
      stages: [],
      next: { do: "wait", waitsFor: { on: "trouble", message: long } },
    }));
    const world = { ...(await stored(box, large)), recovery: { ...recovery, maxBytes: 4_000 } };
    assert.equal((await step(box.toyWorld(world), message)).did, "step");
    assert.ok(Buffer.byteLength(box.checkpoints.text(message) ?? "") <= 4_000);
  });
});

describe("records of released schemas", () => {
  const folder = new URL("released/", import.meta.url);
  const files = readdirSync(folder).sort();
  const parsers = new Map(operatorsFor(timing).map(({ kind, parse }) => [kind, parse]));
  const fixtures = files.map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), "utf8")) }));
  /** Returns the memory as its reader parses it: a delivery has a record of its own, which no operator parses. */
  const memoryIn = (kind: string, memory: unknown): unknown => {
    if (subjectOf({ cluster: "c", kind, namespace: "ns", name: "pi" }) !== undefined) return readCursor(memory);
    const read = parsers.get(kind)?.(memory);
    return read?.ok === true ? read.memory : read;
  };

  test("have a fixture for each schema, and for every kind that has a memory", () => {
    const schemas = new Set(files.map((file) => Number(file.split(".")[0])));
    assert.deepEqual(
      [...schemas],
      Array.from({ length: schema }, (_, at) => at + 1),
    );
    const kinds = new Set(fixtures.map(({ kind }) => kind));
    assert.deepEqual(
      [...parsers.keys()].filter((kind) => !kinds.has(kind) && parsers.get(kind)?.({ nothing: "known" }).ok !== true),
      [],
    );
  });

  for (const { file, kind, spec } of fixtures)
    test(`are read from ${file} with all fields and the whole memory`, () => {
      const forward = broughtForward(spec);
      assert.deepEqual(readRecord(forward), { ok: true, record: forward });
      assert.deepEqual(memoryIn(kind, spec.memory), spec.memory);
    });

  const steps = {
    1: (record: object) => ({ ...record, second: true }),
    2: (record: object) => ({ ...record, third: true }),
  };

  const rows = [
    {
      name: "from one schema to the next up to the newest",
      from: { schema: 1, a: 1 },
      to: { schema: 3, a: 1, second: true, third: true },
    },
    { name: "from their own schema on", from: { schema: 2 }, to: { schema: 3, third: true } },
    { name: "not if they have the newest schema", from: { schema: 3 }, to: { schema: 3 } },
    { name: "not if they have a later schema", from: { schema: 9 }, to: { schema: 9 } },
    { name: "not if they have no schema", from: { schema: "1" }, to: { schema: "1" } },
    { name: "not if they are no record", from: "text", to: "text" },
  ];
  for (const { name, from, to } of rows)
    test(`are migrated: ${name}`, () => assert.deepEqual(broughtForward(from, steps), to));
});

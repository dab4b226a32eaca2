/**
 * Records in every state, in strict mode and not: without a run id, of a newer schema, corrupted, empty and missing, as
 * in Mesos' tests of agent recovery.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { recovery } from "../../../../shared/engine/settings.ts";
import { message, part, toy, writesIn } from "../fakes.ts";
import { good, stored, toyBox } from "./toys.ts";

const lenient = { recovery: { ...recovery, strict: false } };
const { memory: _, ...half } = good;

type Row = {
  readonly name: string;
  readonly record: unknown;
  readonly edited?: true;
  readonly why: RegExp;
  /**
   * The count that the next decision gets if the mode is not strict; undefined: the record is refused in both modes.
   */
  readonly count: number | undefined;
  readonly errors: number;
  /** The number of messages that the step sends to come back. */
  readonly sent?: number;
};

const rows: readonly Row[] = [
  { name: "a text in place of a record", record: "rubbish", why: /record: /, count: 2, errors: 1 },
  { name: "a number", record: 7, why: /record: /, count: 2, errors: 1 },
  { name: "a list", record: [good], why: /record: /, count: 2, errors: 1 },
  { name: "half written: no memory", record: half, why: /memory: /, count: 2, errors: 1 },
  { name: "half written: no UID", record: { ...good, uid: undefined }, why: /uid: /, count: 3, errors: 1 },
  { name: "a field of another type", record: { ...good, saves: "many" }, why: /saves: /, count: 3, errors: 1 },
  { name: "two fields", record: { ...good, saves: 0, rests: 1 }, why: /saves: .*rests: /, count: 3, errors: 2 },
  {
    name: "a run without its fields",
    record: { ...good, runs: [{ attempt: "1" }] },
    why: /runs.0/,
    count: 3,
    errors: 3,
  },
  { name: "a memory that its kind cannot read", record: { ...good, memory: {} }, why: /no toy/, count: 2, errors: 1 },
  { name: "edited by hand", record: good, edited: true, why: /edited by hand/, count: 3, errors: 1 },
  {
    name: "a later schema",
    record: { ...good, schema: 2 },
    why: /written by a newer Rekindle, schema 2; this one reads schemas up to 1: .* rekindle recover toy\/ns\/bear --fresh$/,
    count: undefined,
    errors: 1,
    // Two versions may be active: the message is kept for the version that reads the record.
    sent: 1,
  },
];

const opened = async ({ record, edited }: Pick<Row, "record" | "edited">) => {
  const box = toyBox();
  box.put(part("arm"));
  box.put(part("leg"));
  const more = await stored(box, record, edited === undefined ? {} : { edited });
  const measured: number[] = [];
  const meter = (measures: readonly { readonly value: number }[]): void =>
    void measured.push(...measures.map(({ value }) => value));
  box.calls.length = 0;
  return { box, more: { ...more, meter }, measured };
};

describe("strict: a record that cannot be used stops every write for its key but an Event", () => {
  for (const { name, why, errors, sent = 0, ...row } of rows) {
    test(name, async () => {
      const { box, more, measured } = await opened(row);
      const ending = await step(box.toyWorld(more), message);
      assert.equal(ending.did, "stopped");
      assert.match("why" in ending ? ending.why : "", why);
      assert.deepEqual([box.counts, box.sent.length, measured], [[], sent, [errors]]);
      assert.deepEqual(
        writesIn(box.calls).map((call) => call.replace(/bear\.\w+/, "bear")),
        ["create events bear"],
      );
      const [event] = [...box.objects.values()].filter(({ kind }) => kind === "Event");
      assert.equal(event?.["reason"], "RecoveryFailed");
      assert.match(String(event?.["message"]), why);
    });

    test(`${name}: one Event reports it, however often a step reads it`, async () => {
      const { box, more } = await opened(row);
      await step(box.toyWorld(more), message);
      const there = box.objects.size;
      await step(box.toyWorld(more), message);
      assert.equal(box.objects.size, there);
    });

    test(`${name}: shadow mode writes no Event`, async () => {
      const { box, more } = await opened(row);
      const ending = await step(box.toyWorld({ ...more, shadow: () => assert.fail("there is no plan") }), message);
      assert.deepEqual([ending.did, writesIn(box.calls)], ["stopped", []]);
    });
  }

  test("and its key continues as soon as the record is repaired", async () => {
    const { box, more } = await opened({ record: "rubbish" });
    await step(box.toyWorld(more), message);
    const mended = await stored(box, good);
    assert.equal((await step(box.toyWorld(mended), message)).did, "step");
    assert.deepEqual(box.counts, [3]);
  });
});

describe("not strict: the readable part is kept, the rest is made anew, and every error is counted", () => {
  for (const { name, why, count, errors, ...row } of rows.filter((one) => one.count !== undefined)) {
    test(name, async () => {
      const { box, more, measured } = await opened(row);
      assert.equal((await step(box.toyWorld({ ...more, ...lenient }), message)).did, "step");
      assert.deepEqual([box.counts, measured], [[count], [errors]]);
      const { recovered, returning, uid, cluster } = box.record() ?? {};
      assert.deepEqual([recovered?.how, uid, cluster, returning], ["salvaged", "toy-1", "cluster-1", undefined]);
      assert.match(recovered?.why ?? "", why);
      const [event] = [...box.objects.values()].filter(({ kind }) => kind === "Event");
      assert.equal(event?.["reason"], "RekindleRecovered");
      await step(box.toyWorld({ ...more, ...lenient }), message);
      assert.deepEqual([box.counts, measured], [[count, count], [errors]]);
    });

    test(`${name}: shadow mode decides the same, and writes nothing`, async () => {
      const { box, more } = await opened(row);
      await step(box.toyWorld({ ...more, ...lenient, shadow: () => {} }), message);
      assert.deepEqual([box.counts, writesIn(box.calls)], [[count], []]);
    });
  }

  test("a later schema is refused nevertheless", async () => {
    const { box, more } = await opened({ record: { ...good, schema: 9 } });
    assert.equal((await step(box.toyWorld({ ...more, ...lenient }), message)).did, "stopped");
  });

  test("the record of a deleted object ends its parts by what can still be read", async () => {
    const { box, more } = await opened({ record: { ...good, saves: "many" } });
    box.objects.delete("toys bear");
    const seen: unknown[] = [];
    const decided = toyBox({}, ({ object, uid, memory }) => {
      seen.push([object, uid, memory]);
      return { memory: memory ?? { count: 0 }, stages: [], next: { do: "forget" } };
    });
    const world = decided.toyWorld({ ...more, ...lenient, cluster: box.world.cluster });
    await step(world, message);
    assert.deepEqual(seen, [[undefined, "toy-1", { count: 3 }]]);
  });

  test("the record of an older object is not used for the new object of the same name", async () => {
    const { box, more } = await opened({ record: { ...good, uid: "toy-0", saves: "many" } });
    const seen: unknown[] = [];
    const decided = toyBox({}, ({ object, uid }) => {
      seen.push([object, uid]);
      return { memory: { count: 0 }, stages: [], next: { do: "forget" } };
    });
    await step(decided.toyWorld({ ...more, ...lenient, cluster: box.world.cluster }), message);
    assert.deepEqual(seen, [[undefined, "toy-0"]]);
  });
});

describe("a missing or empty record is never an error", () => {
  const empties = [undefined, null, {}, ""];
  for (const settings of [{ recovery }, lenient])
    for (const record of empties) {
      test(`${JSON.stringify(record)}, ${settings.recovery.strict ? "strict" : "not strict"}`, async () => {
        const { box, more, measured } = await opened({ record });
        assert.equal((await step(box.toyWorld({ ...more, ...settings }), message)).did, "step");
        assert.deepEqual([box.counts, measured, box.record()?.memory], [[undefined], [], { count: 0 }]);
      });
    }

  test("a missing record of an object with a status opens a recovery window", async () => {
    const windows: unknown[] = [];
    const box = toyBox({}, ({ returning, now }) => {
      windows.push(returning === undefined ? undefined : returning.until - now);
      return { memory: { count: 0 }, stages: [] };
    });
    box.put(toy({}, { count: 1 }));
    await step(box.toyWorld(), message);
    await step(box.toyWorld(), message);
    assert.deepEqual(windows, [30_000, undefined]);
  });
});

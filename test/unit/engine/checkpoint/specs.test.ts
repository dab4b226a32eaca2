/** The spec in a record, and its latest changes: bounded, without secrets, and derived from the record alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { specsAfter } from "../../../../shared/engine/checkpoint/specs.ts";
import type { Specs } from "../../../../shared/engine/ports.ts";

const object = (generation: number, spec: unknown): Stored => ({
  ...{ apiVersion: "v1", kind: "Toy", spec },
  metadata: { name: "bear", uid: "u", resourceVersion: "1", generation },
});

/** The specs after saves with these specs, ten seconds apart, each with the next generation. */
const after = (...specs: readonly unknown[]): Specs | undefined =>
  specs.reduce<Specs | undefined>((kept, spec, at) => specsAfter(kept, object(at + 1, spec), at * 10_000), undefined);

describe("the specs of a record", () => {
  test("hold the present spec, and of each change the patch that leads back", () => {
    assert.deepEqual(after({ image: "a:1", cores: 1 }, { image: "a:2", cores: 1 }, { image: "a:2" }), {
      generation: 3,
      spec: '{"image":"a:2"}',
      changes: [
        [10, '{"image":"a:1"}'],
        [20, '{"cores":1}'],
      ],
    });
  });

  test("are as before while the generation is, without an object, and where only the generation changed", () => {
    const kept = after({ a: 1 }, { a: 2 });
    assert.equal(specsAfter(kept, object(2, { a: 9 }), 90_000), kept);
    assert.equal(specsAfter(kept, undefined, 90_000), kept);
    assert.deepEqual(specsAfter(kept, object(3, { a: 2 }), 90_000), { ...kept, generation: 3 });
  });

  test("hold no secret, neither in the spec nor in a change", () => {
    const env = (value: string) => [{ name: "DB_PASSWORD", value }];
    const specs = after(
      { sparkConf: { "spark.jdbc.url": "hush-1" }, env: env("hush-2"), arguments: ["hush-3"] },
      { sparkConf: { "spark.jdbc.url": "hush-4" }, env: env("hush-5"), image: "b" },
      { sparkConf: { image: "hush-6", type: "hush-7" }, env: env("hush-8"), image: "c" },
    );
    assert.doesNotMatch(JSON.stringify(specs), /hush|PASSWORD/);
    assert.match(JSON.stringify(specs), /"spark.jdbc.url\\":\\"#[0-9a-f]{4}\\"/);
  });

  test("tell that a hidden text changed, each object's otherwise", () => {
    const [one, other] = ["u", "v"].map((uid) => {
      const metadata = { name: "bear", uid, resourceVersion: "1", generation: 1 };
      return specsAfter(undefined, { ...object(1, { a: "same text" }), metadata }, 0)?.spec;
    });
    assert.notEqual(one, other);
    assert.equal(after({ a: "x" }, { a: "y" })?.changes?.length, 1);
    assert.equal(after({ a: "x" }, { a: "x" })?.changes, undefined);
  });

  test("say only that a change is too large, also one from or to a spec that is", () => {
    const listOf = (count: number) => ({ text: Array.from({ length: count }, (_, at) => 10_000 + at) });
    const long = listOf(700);
    const huge = listOf(3_000);
    assert.deepEqual(
      after(long, { text: [] }, huge, { text: [] })?.changes?.map(([, back]) => back),
      ["", "", ""],
    );
    assert.equal(after(huge)?.spec, "");
  });

  test("say only that a spec is too large that nests too deep to be read", () => {
    const deep = JSON.parse(`${"[".repeat(3_000)}${"]".repeat(3_000)}`);
    assert.equal(after({ deep })?.spec, "");
  });

  test("hold the latest ten changes, in at most 12 KiB", () => {
    const numbers = Array.from({ length: 30 }, (_, at) => ({ at }));
    assert.deepEqual(
      after(...numbers)?.changes?.map(([at]) => at),
      Array.from({ length: 10 }, (_, at) => 200 + at * 10),
    );
    const texts = Array.from({ length: 10 }, (_, at) => ({ list: Array.from({ length: 1_000 }, () => 100 + at) }));
    const { changes = [] } = after(...texts) ?? {};
    assert.equal(changes.length, 3);
    assert.ok(JSON.stringify(after(...texts)).length < 17_000);
  });
});

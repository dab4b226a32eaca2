/** The writes of an admission round: namespaces take turns, and a large group takes the work of many small ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Verdict } from "../../../../shared/volcano/gang/admission.ts";
import { mostAtOnce, roundWrites } from "../../../../shared/volcano/gang/admission-writes.ts";
import { groupOutline } from "../../../../shared/volcano/gang/outlines.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const group = (namespace: string, name: string, size?: number, queue = "q"): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", ...(size === undefined ? {} : { size }) },
  metadata: { name, namespace, uid: name, resourceVersion: "1" },
  spec: { queue },
});

const enters = (one: Stored): Verdict => ({ group: one, enters: true, places: [] });

const many = (count: number, make: (at: number) => Stored): readonly Verdict[] =>
  Array.from({ length: count }, (_, at) => enters(make(at)));

const queue = (spec: Readonly<Record<string, unknown>>): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", spec },
  metadata: { name: "q", uid: "q", resourceVersion: "1" },
});

const namesOf = ({ verdicts }: Pick<ReturnType<typeof roundWrites>, "verdicts">): readonly string[] =>
  verdicts.map((one) => one.group.metadata.name);

test("the groups of two tenants are written in turns, each tenant's in their order", () => {
  const verdicts = [...many(3, (at) => group("a", `a${at}`)), ...many(2, (at) => group("b", `b${at}`))];
  assert.deepEqual(namesOf(roundWrites({ verdicts: verdicts, growths: [] }, [queue({})], eight)), [
    "a0",
    "b0",
    "a1",
    "b1",
    "a2",
  ]);
});

test("a round without time for all of one tenant's groups still admits the newest group of another tenant", () => {
  const verdicts = [...many(2_000, (at) => group("a", `a${at}`)), enters(group("b", "b"))];
  const round = roundWrites({ verdicts: verdicts, growths: [] }, [queue({})], eight);
  assert.deepEqual(namesOf(round).slice(0, 2), ["a0", "b"]);
  assert.equal(round.effects.length, mostAtOnce);
  assert.equal(round.left, "writes");
});

test("groups of a fifo queue are written in their order, of all tenants", () => {
  const verdicts = [...many(3, (at) => group("a", `a${at}`)), enters(group("b", "b"))];
  const round = roundWrites({ verdicts: verdicts, growths: [] }, [queue({ dequeueStrategy: "fifo" })], eight);
  assert.deepEqual(namesOf(round), ["a0", "a1", "a2", "b"]);
});

test("few large groups fill a round, and one that is larger than a round is written alone", () => {
  const large = many(60, (at) => group("a", `a${at}`, 1_048_576));
  assert.equal(roundWrites({ verdicts: large, growths: [] }, [queue({})], eight).effects.length, 4);
  assert.deepEqual(namesOf(roundWrites({ verdicts: large, growths: [] }, [queue({})], eight, 1)), ["a0"]);
  assert.deepEqual(namesOf(roundWrites({ verdicts: large, growths: [] }, [queue({})], eight, 0)), []);
});

test("what a round has left tells whether it is only why large groups wait", () => {
  const waits = (one: Verdict): Verdict => ({ group: one.group, enters: false, why: "no room" });
  const large = many(60, (at) => group("a", `a${at}`, 1_048_576)).map(waits);
  const leftOf = (verdicts: readonly Verdict[]) => roundWrites({ verdicts, growths: [] }, [queue({})], eight).left;
  assert.equal(leftOf(large), "large reasons");
  const entering = many(9, (at) => group("a", `b${at}`, 1_048_576));
  assert.equal(leftOf([...large, ...entering]), "writes");
  assert.equal(leftOf(many(2_000, (at) => group("a", `a${at}`)).map(waits)), "writes");
});

test("beside groups that enter, one large group is told why it waits", () => {
  const waits = (one: Verdict): Verdict => ({ group: one.group, enters: false, why: "no room" });
  const large = many(60, (at) => group("a", `a${at}`, 200_000)).map(waits);
  const small = many(2, (at) => group("a", `s${at}`)).map(waits);
  const round = roundWrites(
    { verdicts: [...large, ...small, enters(group("b", "b"))], growths: [] },
    [queue({})],
    eight,
  );
  assert.deepEqual(namesOf(round), ["a0", "b", "s0", "s1"]);
  assert.equal(round.left, "large reasons");
});

test("the outline of a group states its size, at most a megabyte", () => {
  const sizeOf = (text: number): unknown =>
    groupOutline(new Set())({ ...group("a", "a"), spec: { minResources: { cpu: "x".repeat(text) } } })?.["size"];
  assert.equal(Number(sizeOf(100_000)) - Number(sizeOf(0)), 100_000);
  assert.equal(sizeOf(5_000_000), 1_048_576);
});

test("a group whose status gives the reason already is not written", () => {
  const told = enters(group("a", "a"));
  const waits: Verdict = { group: group("b", "b"), enters: false, why: "no room", isReported: true };
  const round = roundWrites({ verdicts: [told, waits], growths: [] }, [queue({})], eight);
  assert.deepEqual(namesOf(round), ["a"]);
  assert.equal(round.left, "nothing");
});

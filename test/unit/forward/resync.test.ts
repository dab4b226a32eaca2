/** Keys that a resync sends: each that a lost event or timer could have left behind, and none that rests. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { logsAged } from "../../../shared/core/kept-log.ts";
import {
  agedLogsOf,
  type Due,
  dueOf,
  type Hint,
  type ListedKind,
  type ListedObject,
} from "../../../shared/forward/resync.ts";
import { hint } from "../../support/hint.ts";

const object = (more: Partial<ListedObject> = {}): ListedObject => ({
  name: "pi",
  marks: "m1",
  namespace: "ns",
  uid: "u1",
  generation: 2,
  ...more,
});

const allOf = (census: ListedKind, name: string): readonly Due[] =>
  [...dueOf(census, name)].flatMap((one) => one ?? []);

const sweep = (objects: readonly ListedObject[], hints: readonly Hint[], name = "s1") =>
  allOf({ cluster: "here", kind: "SparkApplication", objects, hints, now: 1_000 }, name);

describe("a resync", () => {
  test("sends the key of a missing object that every cluster needs, or of its record if there is one", () => {
    const queue = (name: string): ListedObject => ({ name, uid: name, generation: 1, marks: "m1" });
    const record = (name: string): Hint => hint({ kind: "Queue", namespace: "", name, uid: name, generation: 1 });
    const due = (objects: readonly ListedObject[], hints: readonly Hint[]): readonly string[] =>
      allOf({ cluster: "here", kind: "Queue", objects, hints, founds: ["root", "default"], now: 1_000 }, "s1").map(
        ({ message: { namespace, name, reason } }) => `${namespace}/${name} ${reason}`,
      );
    assert.deepEqual(due([], []), ["/root resync: missing", "/default resync: missing"]);
    assert.deepEqual(due([queue("root")], [record("root")]), ["/default resync: missing"]);
    assert.deepEqual(due([queue("root")], [record("root"), record("default")]), ["/default resync: orphaned"]);
  });

  test("gives way to other work while it looks through many objects and records", () => {
    const many = Array.from({ length: 2_500 }, (_, at) => `pi-${at}`);
    const objects = many.map((name) => object({ name }));
    const hints = many.map((name) => hint({ name }));
    const all = [...dueOf({ cluster: "here", kind: "SparkApplication", objects, hints, now: 1_000 }, "s1")];
    assert.deepEqual(all, [undefined, undefined, undefined, undefined]);
  });

  const told: readonly (readonly [
    what: string,
    objects: readonly ListedObject[],
    hints: readonly Hint[],
    unheard: boolean,
  ])[] = [
    ["a new object", [object()], [], true],
    ["an object in the place of another", [object({ uid: "u2" })], [hint()], true],
    ["a changed spec", [object({ generation: 3 })], [hint()], true],
    ["changed labels", [object({ marks: "m2" })], [hint({ marks: "m1" })], true],
    ["a deleted object", [], [hint()], false],
    ["a new object of a minute", [object({ creationTimestamp: "1969-12-31T23:59:01Z" })], [], true],
    ["a new object whose message may be under way", [object({ creationTimestamp: "1969-12-31T23:59:02Z" })], [], false],
    ["an object under way", [object()], [hint({ rests: false })], false],
    ["an object that is being deleted", [object({ deletionTimestamp: "2026-11-02T08:00:00Z" })], [hint()], false],
    ["the end of a retention", [object()], [hint({ pruneAt: 1 })], false],
  ];
  for (const [what, objects, hints, unheard] of told) {
    test(`${unheard ? "counts" : "does not count"} ${what} as a change that no message had told`, () => {
      assert.deepEqual(
        sweep(objects, hints).map((due) => due.unheard?.isYoung === false),
        [unheard],
      );
    });
  }

  test("marks each change of an object apart, and the same change always alike", () => {
    const marks = [
      [object({ generation: 3 })],
      [object({ generation: 3 })],
      [object({ generation: 4 })],
      [object({ generation: 3, marks: "m2" })],
      [object({ uid: "u2" })],
    ].map((objects) => sweep(objects, [hint()])[0]?.unheard?.mark);
    assert.equal(marks[0], marks[1]);
    assert.equal(new Set(marks).size, 4);
    const others = ["pi", "po"].map((name) => sweep([object({ name })], [])[0]?.unheard?.mark);
    assert.equal(new Set(others).size, 2);
  });

  const cases = [
    { name: "sends no key of an object that rests", objects: [object()], hints: [hint()], want: [] },
    { name: "sends the key of an object without a record", objects: [object()], hints: [], want: ["pi: unrecorded"] },
    {
      name: "sends the key of an unfinished object, whose timer or event may be lost",
      objects: [object()],
      hints: [hint({ rests: false })],
      want: ["pi: unfinished"],
    },
    {
      name: "sends the key of an unfinished object whose timer is due much later",
      objects: [object()],
      hints: [hint({ rests: false, wakeAt: 9e15 })],
      want: ["pi: unfinished"],
    },
    {
      name: "sends no key of a resting object whose next instant is further away than a queue's longest delay",
      objects: [object()],
      hints: [hint({ wakeAt: 901_001 })],
      want: [],
    },
    {
      name: "sends the key of a resting object whose next instant a timer can reach, or which has passed",
      objects: [object(), object({ name: "po" })],
      hints: [hint({ wakeAt: 901_000 }), hint({ name: "po", wakeAt: 1 })],
      want: ["pi: timer", "po: timer"],
    },
    {
      name: "sends no key of a resting object before the retention of its runs ends",
      objects: [object()],
      hints: [hint({ pruneAt: 1_001 })],
      want: [],
    },
    {
      name: "sends the key of a resting object when the retention of a run has ended",
      objects: [object()],
      hints: [hint({ pruneAt: 1_000 })],
      want: ["pi: retention"],
    },
    {
      name: "sends the key of an object that has changed since its record",
      objects: [object({ generation: 3 })],
      hints: [hint()],
      want: ["pi: drifted"],
    },
    {
      name: "sends the key of a resting object whose labels or annotations have changed since its record",
      objects: [object({ marks: "m2" })],
      hints: [hint({ marks: "m1" })],
      want: ["pi: marked"],
    },
    {
      name: "sends no key of a resting object with the labels and annotations of its record",
      objects: [object()],
      hints: [hint({ marks: "m1" })],
      want: [],
    },
    {
      name: "sends no key of a resting object whose record is of a version without a digest of them",
      objects: [object({ marks: "m2" })],
      hints: [hint()],
      want: [],
    },
    {
      name: "sends the key of an object whose record has no generation",
      objects: [object()],
      hints: [hint({ generation: undefined })],
      want: ["pi: drifted"],
    },
    {
      name: "sends the key of a record that another object of the name left",
      objects: [object({ uid: "u2" })],
      hints: [hint()],
      want: ["pi: replaced"],
    },
    {
      name: "sends the key of an object that is being deleted",
      objects: [object({ deletionTimestamp: "2026-11-02T08:00:00Z" })],
      hints: [hint()],
      want: ["pi: ending"],
    },
    {
      name: "sends the key of a record whose object is gone, even if it rests",
      objects: [],
      hints: [hint()],
      want: ["pi: orphaned"],
    },
    {
      name: "does not confuse objects of the same name in two namespaces",
      objects: [object({ namespace: "other" })],
      hints: [hint()],
      want: ["pi: unrecorded", "pi: orphaned"],
    },
    {
      name: "sends no key of a resting object without a generation",
      objects: [{ name: "pi", namespace: "ns", uid: "u1", marks: "m1" }],
      hints: [hint({ generation: undefined })],
      want: [],
    },
    { name: "sends nothing for an empty cluster", objects: [], hints: [], want: [] },
  ];
  for (const { name, objects, hints, want } of cases) {
    test(name, () => {
      const sent = sweep(objects, hints).map(({ message }) => `${message.name}${message.reason.replace("resync", "")}`);
      assert.deepEqual(sent, want);
    });
  }

  test("sends the key of a resting object for which an errand waits in its namespace", () => {
    const errands = new Set(["ns/pi", "other/pi", "ns/gone"]);
    const census = { cluster: "here", kind: "SparkApplication", objects: [object()], hints: [hint()], now: 1_000 };
    const due = allOf({ ...census, errands }, "s1");
    assert.deepEqual(
      due.map(({ message }) => `${message.namespace}/${message.name} ${message.reason}`),
      ["ns/pi resync: errand"],
    );
  });

  test("sends one message for each key, with the whole key", () => {
    const [due, ...more] = sweep([object()], []);
    assert.deepEqual(due?.message, {
      cluster: "here",
      kind: "SparkApplication",
      namespace: "ns",
      name: "pi",
      reason: "resync: unrecorded",
    });
    assert.deepEqual(more, []);
  });

  test("gives its messages ids that differ from another resync's, and are equal within one", () => {
    const ids = ["s1", "s1", "s2"].flatMap((name) => sweep([object()], [], name).map(({ dedupeId }) => dedupeId));
    assert.deepEqual([ids.length, new Set(ids).size, ids[0] === ids[1]], [3, 2, true]);
  });
});

describe("kept logs", () => {
  const recordOf = (kind: string, name: string, more: Partial<Hint> = {}): Hint =>
    hint({ ...{ kind, namespace: "a", name, uid: `${name}-1`, generation: undefined, rests: false }, ...more });
  const hints = [
    recordOf("Toy", "lives"),
    recordOf("logs.Toy", "lives", { pruneAt: 2_000 }),
    recordOf("Toy", "aged"),
    recordOf("logs.Toy", "aged", { pruneAt: 1_000 }),
    recordOf("logs.Toy", "left", { pruneAt: 2_000 }),
    recordOf("logs.Toy", "outlives", { pruneAt: 2_000, rests: true }),
    recordOf("logs.Other", "foreign", { pruneAt: 1_000 }),
  ];

  test("are sent when their retention is over or nothing is left beside them, under the key of their object", () => {
    const due = agedLogsOf({ cluster: "here", kinds: new Set(["Toy"]), hints, now: 1_000 }, "sweep-1");
    assert.deepEqual(
      due.map(({ message }) => message),
      ["aged", "left"].map((name) => ({ ...{ cluster: "here", kind: "Toy", namespace: "a", name }, reason: logsAged })),
    );
  });

  test("that outlive their object are sent at the end of their retention", () => {
    const due = agedLogsOf({ cluster: "here", kinds: new Set(["Toy"]), hints, now: 2_000 }, "sweep-1");
    assert.ok(due.some(({ message }) => message.name === "outlives"));
  });
});

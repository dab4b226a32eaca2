/** Keys that a resync sends: each that a lost event or timer could have left behind, and none that rests. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Metadata } from "../../../shared/core/object.ts";
import { dueOf, type Hint } from "../../../shared/forward/resync.ts";

const object = (more: Partial<Metadata> = {}): Metadata => ({
  name: "pi",
  namespace: "ns",
  uid: "u1",
  generation: 2,
  ...more,
});

const hint = (more: Partial<Hint> = {}): Hint => ({
  kind: "SparkApplication",
  namespace: "ns",
  name: "pi",
  uid: "u1",
  generation: 2,
  rests: true,
  wakeAt: undefined,
  pruneAt: undefined,
  ...more,
});

const sweep = (objects: readonly Metadata[], hints: readonly Hint[], name = "s1") => [
  ...dueOf({ cluster: "here", kind: "SparkApplication", objects, hints, now: 1_000 }, name),
];

describe("a resync", () => {
  test("asks for what every cluster has and this one has not, unless its record is to be looked at anyway", () => {
    const queue = (name: string): Metadata => ({ name, uid: name, generation: 1 });
    const record = (name: string): Hint => hint({ kind: "Queue", namespace: "", name, uid: name, generation: 1 });
    const due = (objects: readonly Metadata[], hints: readonly Hint[]): readonly string[] =>
      [...dueOf({ cluster: "here", kind: "Queue", objects, hints, founds: ["root", "default"], now: 1_000 }, "s1")].map(
        ({ message: { namespace, name, reason } }) => `${namespace}/${name} ${reason}`,
      );
    assert.deepEqual(due([], []), ["/root resync: missing", "/default resync: missing"]);
    assert.deepEqual(due([queue("root")], [record("root")]), ["/default resync: missing"]);
    assert.deepEqual(due([queue("root")], [record("root"), record("default")]), ["/default resync: orphaned"]);
  });

  const cases = [
    { name: "passes by what rests", objects: [object()], hints: [hint()], want: [] },
    { name: "sends what has no record", objects: [object()], hints: [], want: ["pi: unrecorded"] },
    {
      name: "sends what is not finished, for its timer or event may be lost",
      objects: [object()],
      hints: [hint({ rests: false })],
      want: ["pi: unfinished"],
    },
    {
      name: "also when its timer is far away",
      objects: [object()],
      hints: [hint({ rests: false, wakeAt: 9e15 })],
      want: ["pi: unfinished"],
    },
    {
      name: "passes by what rests and keeps runs whose retention has not passed",
      objects: [object()],
      hints: [hint({ pruneAt: 1_001 })],
      want: [],
    },
    {
      name: "sends what rests when the retention of one of its runs has passed",
      objects: [object()],
      hints: [hint({ pruneAt: 1_000 })],
      want: ["pi: retention"],
    },
    {
      name: "sends what has changed since its record",
      objects: [object({ generation: 3 })],
      hints: [hint()],
      want: ["pi: drifted"],
    },
    {
      name: "also when the record does not know its generation",
      objects: [object()],
      hints: [hint({ generation: undefined })],
      want: ["pi: drifted"],
    },
    {
      name: "sends what another object of the name left",
      objects: [object({ uid: "u2" })],
      hints: [hint()],
      want: ["pi: replaced"],
    },
    {
      name: "sends what is being deleted",
      objects: [object({ deletionTimestamp: "2026-11-02T08:00:00Z" })],
      hints: [hint()],
      want: ["pi: ending"],
    },
    {
      name: "sends records whose object is gone, even if they rest",
      objects: [],
      hints: [hint()],
      want: ["pi: orphaned"],
    },
    {
      name: "does not take the same name elsewhere for it",
      objects: [object({ namespace: "other" })],
      hints: [hint()],
      want: ["pi: unrecorded", "pi: orphaned"],
    },
    {
      name: "knows objects that no generation counts",
      objects: [{ name: "pi", namespace: "ns", uid: "u1" }],
      hints: [hint({ generation: undefined })],
      want: [],
    },
    { name: "sends nothing of nothing", objects: [], hints: [], want: [] },
  ];
  for (const { name, objects, hints, want } of cases) {
    test(name, () => {
      const sent = sweep(objects, hints).map(({ message }) => `${message.name}${message.reason.replace("resync", "")}`);
      assert.deepEqual(sent, want);
    });
  }

  test("sends what rests and for which something waits to be taken up, in its namespace", () => {
    const errands = new Set(["ns/pi", "other/pi", "ns/gone"]);
    const census = { cluster: "here", kind: "SparkApplication", objects: [object()], hints: [hint()], now: 1_000 };
    const due = [...dueOf({ ...census, errands }, "s1")];
    assert.deepEqual(
      due.map(({ message }) => `${message.namespace}/${message.name} ${message.reason}`),
      ["ns/pi resync: errand"],
    );
  });

  test("sends whole keys, one message each", () => {
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

  test("cannot be taken for another one, but for a copy of itself", () => {
    const ids = ["s1", "s1", "s2"].flatMap((name) => sweep([object()], [], name).map(({ dedupeId }) => dedupeId));
    assert.deepEqual([ids.length, new Set(ids).size, ids[0] === ids[1]], [3, 2, true]);
  });
});

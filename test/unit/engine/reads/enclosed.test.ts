/**
 * A step that begins with what a dispatcher's call encloses: it reads neither object nor lists, carries out only plans
 * that are safe on a look of some seconds ago, and reads live wherever the enclosure may not be believed.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { list } from "../../../../shared/core/decision.ts";
import type { Message } from "../../../../shared/core/key.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Listing, Safety } from "../../../../shared/core/plan.ts";
import type { World } from "../../../../shared/engine/context/world.ts";
import type { Enclosure } from "../../../../shared/engine/ports.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, eight, type Fixture, message, openFixture, part, parts, toy } from "../fakes.ts";

const limbs: Listing = { do: "list", resource: parts, namespace: "ns", labels: { "rekindle.dev/attempt": "1" } };
const arm: Stored = { ...part("arm"), metadata: { ...part("arm").metadata, uid: "arm-1", resourceVersion: "5" } };
const safe: Safety = {};
const live: Safety = { live: true };

const enclosure: Enclosure = { date: eight - 3_000, object: toy({ resourceVersion: "2" }), lists: [[arm]] };

/** A toy that counts its limbs into the status. */
const counting = (safety: Safety): Fixture =>
  openFixture(function* ({ memory }) {
    const found = yield* list(limbs);
    const count = (memory?.count ?? 0) + 1;
    return { memory: { count }, stages: [[creation("leg")]], status: { limbs: found.length }, safety };
  });

/** The world of a function that a dispatcher has called with this enclosure. */
const called = (fixture: Fixture, enclosed: Enclosure | undefined, more: Partial<World> = {}): World => {
  const { world } = fixture;
  const operatorOf: World["operatorOf"] = (kind) => {
    const operator = world.operatorOf(kind);
    return operator === undefined ? undefined : { ...operator, encloses: () => [limbs], watched: () => [limbs] };
  };
  return { ...world, operatorOf, enclosed: () => enclosed, serverTime: () => ({ date: eight, at: 1_000 }), ...more };
};

const fresh: Message = { ...message, fresh: true };

/** A fixture whose toy has a record of one step, whose calls are forgotten. */
const recorded = async (safety: Safety): Promise<Fixture> => {
  const fixture = counting({});
  await step(fixture.world, message);
  fixture.objects.delete("parts leg");
  fixture.decide = counting(safety).decide;
  fixture.calls.length = 0;
  return fixture;
};

const liveReads = ["get toys bear", "list parts"] as const;

/** The reads of live objects among the calls. */
const readsIn = ({ calls }: Fixture): readonly string[] =>
  calls.filter((call) => liveReads.some((read) => read === call));

describe("a step of a function that a dispatcher called", () => {
  test("for a new object reads nothing: neither object nor record nor list", async () => {
    const fixture = counting(safe);
    await step(called(fixture, enclosure), fresh);
    assert.deepEqual(fixture.calls, ["save 1", "create parts leg", "patch toys bear"]);
    assert.deepEqual(fixture.objects.get("toys bear")?.["status"], { limbs: 1 });
  });

  test("for a known object reads its record alone", async () => {
    const fixture = await recorded(safe);
    const object = fixture.objects.get("toys bear") ?? assert.fail("no toy");
    await step(called(fixture, { ...enclosure, object }), message);
    assert.deepEqual(fixture.calls, ["load", "save 2", "create parts leg", "patch toys bear"]);
  });

  test("decides again on live reads if its plan needs them", async () => {
    const fixture = counting(live);
    await step(called(fixture, enclosure), fresh);
    assert.deepEqual(readsIn(fixture), liveReads);
    assert.ok(fixture.calls.indexOf("list parts") < fixture.calls.indexOf("save 1"));
    assert.deepEqual(fixture.objects.get("toys bear")?.["status"], { limbs: 0 });
  });

  test("decides again on live reads if it loses its save, before any effect", async () => {
    const fixture = await recorded(safe);
    await step(called(fixture, enclosure), fresh);
    assert.deepEqual(fixture.calls.slice(0, 3), ["save 1", "load", "get toys bear"]);
  });

  test("comes again if the server refuses its status because the enclosed object has changed", async () => {
    const fixture = counting(safe);
    const object = toy({ resourceVersion: "1" });
    assert.equal((await step(called(fixture, { ...enclosure, object }), fresh)).did, "troubled");
    assert.equal(fixture.sent.length, 1);
  });

  const other = (more: object): Stored => ({ ...arm, metadata: { ...arm.metadata, ...more } });
  const far = { ...enclosure, date: eight - 4_001 };
  const refused: readonly {
    readonly name: string;
    readonly enclosed: Enclosure | undefined;
    readonly message?: Message;
    readonly more?: Partial<World>;
  }[] = [
    { name: "nothing is enclosed", enclosed: undefined },
    { name: "the dispatcher read more than four seconds ago", enclosed: far },
    { name: "the dispatcher's clock is far ahead", enclosed: { ...enclosure, date: eight + 2_001 } },
    {
      name: "the function does not know the server's clock",
      enclosed: enclosure,
      more: { serverTime: () => undefined },
    },
    {
      name: "the function last noted the server's clock more than a minute ago",
      enclosed: enclosure,
      more: { serverTime: () => ({ date: eight - 61_000, at: -60_001 }) },
    },
    {
      name: "the object has another name",
      enclosed: { ...enclosure, object: toy({ name: "wolf", resourceVersion: "2" }) },
    },
    {
      name: "the object is of another namespace",
      enclosed: { ...enclosure, object: toy({ namespace: "elsewhere", resourceVersion: "2" }) },
    },
    { name: "the object is of another kind", enclosed: { ...enclosure, object: { ...toy(), kind: "Doll" } } },
    {
      name: "the object is being deleted",
      enclosed: { ...enclosure, object: toy({ deletionTimestamp: "2026-11-02T08:00:00Z" }) },
    },
    { name: "a list is missing", enclosed: { ...enclosure, lists: [] } },
    {
      name: "a list holds an object of another namespace",
      enclosed: { ...enclosure, lists: [[other({ namespace: "elsewhere" })]] },
    },
    {
      name: "a list holds an object with other labels",
      enclosed: { ...enclosure, lists: [[other({ labels: { "rekindle.dev/attempt": "2" } })]] },
    },
    {
      name: "a list holds an object of another kind",
      enclosed: { ...enclosure, lists: [[{ ...arm, kind: "Whole" }]] },
    },
    { name: "the message is a retry", enclosed: enclosure, message: { ...fresh, tries: 1 } },
  ];
  for (const { name, enclosed, message: given = fresh, more = {} } of refused)
    test(`reads live where ${name}`, async () => {
      const fixture = counting(safe);
      await step(called(fixture, enclosed, more), given);
      assert.deepEqual(readsIn(fixture), liveReads);
    });

  const unfit = [
    { name: "is about an older object of the name", object: { uid: "toy-0" }, record: {} },
    { name: "has seen a newer generation", object: { generation: 0 }, record: {} },
    {
      name: "has a recovery window",
      object: {},
      record: { returning: { since: eight, until: eight } },
    },
    {
      name: "has an order to end everything",
      object: {},
      record: { cleanup: { since: eight, graceSeconds: 1, forceAt: eight } },
    },
  ];
  for (const { name, object, record } of unfit)
    test(`reads live where the record ${name}`, async () => {
      const fixture = await recorded(safe);
      const kept = fixture.record() ?? assert.fail("no record");
      const loaded = await fixture.checkpoints.load(message);
      await fixture.checkpoints.save(message, { ...kept, ...record }, loaded?.version);
      await step(called(fixture, { ...enclosure, object: toy({ resourceVersion: "2", ...object }) }), message);
      assert.ok(fixture.calls.includes("get toys bear"));
    });

  test("reads live if the key has no record, unless the watch has just shown the object", async () => {
    const fixture = counting(safe);
    await step(called(fixture, enclosure), message);
    assert.deepEqual(readsIn(fixture), liveReads);
  });

  test("counts its fence from the dispatcher's read", async () => {
    const late = counting(safe);
    const early = counting(safe);
    const savedAfter = (fixture: Fixture, ms: number): void => {
      fixture.after = (call) => {
        if (call === "save 1") fixture.time.monotonic += ms;
      };
    };
    savedAfter(early, 6_900);
    savedAfter(late, 7_100);
    await step(called(early, enclosure), fresh);
    await step(called(late, enclosure), fresh);
    assert.deepEqual(
      [early, late].map(({ calls }) => calls.includes("create parts leg")),
      [true, false],
    );
  });
});

/** A creation whose name is taken: by the step's own object, by another attempt's, or by another owner's. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../../shared/core/object.ts";
import type { Effect } from "../../../../shared/core/plan.ts";
import { apply } from "../../../../shared/engine/cluster/apply.ts";
import { pods } from "../../../../shared/kube/resources.ts";
import { answering, creation, exists, failing, handsOf, openFixture, part, short } from "../fakes.ts";

const earlier = part("arm", "toy-1", "0");
const theirs = part("arm", "toy-9");
const ending = (object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: "2026-11-02T08:00:00Z" },
});
const leaving = ending(theirs);
const unmarked = (object: Obj): Obj => ({ ...object, metadata: { ...object.metadata, labels: {} } });
const pod: Obj = { ...part("arm"), kind: "Pod" };

describe("a creation of an object whose name is taken", () => {
  const cases: readonly { name: string; there: Obj; want: string; effect?: Effect }[] = [
    { name: "counts as done if the object is the step's own, of the same attempt", there: part("arm"), want: "done" },
    {
      name: "waits if the object is the step's own, of a later attempt, and leaves the object alone",
      there: part("arm", "toy-1", "2"),
      want: "troubled StillThere",
    },
    {
      name: "waits if the object is the step's own, of an earlier attempt that is being deleted",
      there: ending(earlier),
      want: "troubled StillThere",
    },
    {
      name: "counts as done if the object is the step's own, of an earlier release that marked no attempts",
      there: unmarked(part("arm")),
      want: "done",
    },
    {
      name: "waits if the object is a pod of the step's own that no attempt created",
      there: unmarked(pod),
      effect: { do: "create", object: pod, resource: pods, owner: "toy-1" },
      want: "troubled StillThere",
    },
    {
      name: "is refused if the object has another owner, and leaves the object alone",
      there: theirs,
      want: "refused 409 NameTaken",
    },
    { name: "waits if the object has another owner and is being deleted", there: leaving, want: "troubled StillThere" },
    {
      name: "is refused if the object has the label but no owner",
      there: { ...part("arm"), metadata: { ...part("arm").metadata, ownerReferences: [] } },
      want: "refused 409 NameTaken",
    },
  ];
  for (const { name, there, want, effect = creation("arm") } of cases) {
    test(name, async () => {
      const world = openFixture();
      world.put(there);
      const before = [...world.objects];
      assert.equal(short(await apply(handsOf(world), effect)), want);
      assert.deepEqual([...world.objects], before);
    });
  }

  test("deletes the step's own object of an earlier attempt, and creates it in the next step", async () => {
    const world = openFixture();
    world.put(earlier);
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "troubled StillThere");
    assert.equal(world.objects.get("parts arm"), undefined);
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "done");
    assert.deepEqual(world.objects.get("parts arm")?.metadata.labels, part("arm").metadata.labels);
  });

  test("leaves the step's own object of an earlier attempt alone once its fence has passed", async () => {
    const world = openFixture();
    const stored = world.put(earlier);
    const until = world.world.clock.monotonic();
    world.after = () => {
      world.time.monotonic += 1_000;
    };
    assert.equal(short(await apply(handsOf(world, until), creation("arm"))), "troubled StillThere");
    assert.deepEqual(world.objects.get("parts arm"), stored);
  });

  test("ends in trouble if the name is free again when the object is read", async () => {
    const world = openFixture();
    answering(world, "create parts arm", exists());
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "troubled Vanishing");
  });

  test("adopts the object that it created before, when the answer to that creation was lost", async () => {
    const world = openFixture();
    world.after = () => {
      world.after = () => {};
      throw failing(0, "Timeout");
    };
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "troubled Timeout");
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "done");
    assert.equal([...world.objects.keys()].filter((key) => key === "parts arm").length, 1);
  });
});

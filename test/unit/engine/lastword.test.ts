/**
 * A deletion with a last status: the status is written on the version that was read, and then the object is deleted.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "../../../shared/core/http.ts";
import { apply } from "../../../shared/engine/cluster/apply.ts";
import { eight, type Fixture, failing, openFixture, part, parts, refOf } from "./fakes.ts";

const prepared = (): { readonly world: Fixture; readonly version: string; readonly said: unknown[] } => {
  const world = openFixture();
  const said: unknown[] = [];
  const { resourceVersion } = world.put(part("arm")).metadata;
  world.keeps = (status) => {
    said.push(status);
    return status;
  };
  return { world, version: resourceVersion, said };
};

const ended = async (world: Fixture, resourceVersion: string, until = Number.POSITIVE_INFINITY) => {
  const { uid } = [...world.objects.values()].find(({ kind }) => kind === "Part")?.metadata ?? { uid: "" };
  const context = { cluster: world.world.cluster, clock: world.world.clock, until, now: eight };
  const lastWord = { phase: "Failed", reason: "NodeLost" };
  return apply(context, { do: "delete", ref: refOf(parts, "arm"), uid, resourceVersion, graceSeconds: 0, lastWord });
};

const refusing = (world: Fixture, error: ApiError): void => {
  world.before = (name) => {
    if (name === "patch parts arm") throw error;
  };
};

test("a deletion with a last status writes the status and deletes the object", async () => {
  const { world, version, said } = prepared();
  assert.deepEqual(await ended(world, version), { did: "done" });
  assert.deepEqual(said, [{ phase: "Failed", reason: "NodeLost" }]);
  assert.equal(world.objects.has("parts arm"), false);
});

test("a deletion with a last status neither writes nor deletes an object that changed since it was read", async () => {
  const { world, said } = prepared();
  const { did } = await ended(world, "of before");
  assert.deepEqual([did, said, world.objects.has("parts arm")], ["troubled", [], true]);
});

for (const status of [403, 404])
  test(`a deletion whose last status is answered with ${status} deletes the object without the status`, async () => {
    const { world, version, said } = prepared();
    refusing(world, failing(status, "Denied"));
    assert.deepEqual(await ended(world, version), { did: "done" });
    assert.deepEqual([said, world.objects.has("parts arm")], [[], false]);
  });

test("a deletion whose last status took longer than the fence does not delete the object", async () => {
  const { world, version } = prepared();
  world.after = (name) => {
    if (name === "patch parts arm") world.time.monotonic += 60_000;
  };
  const done = await ended(world, version, world.time.monotonic + 10_000);
  assert.deepEqual([done.did, world.objects.has("parts arm")], ["troubled", true]);
});

/** The server's clock is noted with each read: from before the request, or from after its answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openServerTime } from "../../../shared/engine/server-time.ts";
import { eight, openFixture, refOf, toys } from "./fakes.ts";

for (const { from, at } of [
  { from: "sent", at: 1_000 },
  { from: "answered", at: 1_700 },
] as const)
  test(`the server's clock can count from the instant at which a read was ${from}`, async () => {
    const { world, time, ...fixture } = openFixture();
    const { cluster, latest } = openServerTime(world.cluster, world.clock, from);
    assert.equal(latest(), undefined);
    const slow = { ...world.cluster, get: world.cluster.get };
    assert.deepEqual(Object.keys(cluster), Object.keys(slow));
    time.now = eight + 5_000;
    const answered = cluster.get(refOf(toys, "bear"));
    time.monotonic = 1_700;
    assert.equal((await answered).value, fixture.objects.get("toys bear"));
    assert.deepEqual(latest(), { date: eight + 5_000, at });
  });

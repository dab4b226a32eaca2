/** The lease of dispatchers on the simulator: one holder at a time, by clocks that the tests turn. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { openLease } from "../../../shared/forward/lease.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";

const open = () => {
  const simulator = openSimulator();
  const { clock } = simulator;
  const start = clock.now();
  const time = {
    get now() {
      return clock.now() - start;
    },
    set now(ms: number) {
      clock.advanceTo(start + ms);
    },
  };
  const cluster = openCluster(simulator.transport);
  const of = (holder: string) =>
    openLease({ cluster, namespace: "default", name: "rekindle-dispatcher", holder, now: () => time.now });
  return { time, cluster, first: of("first"), second: of("second") };
};

describe("the lease of dispatchers", () => {
  test("belongs to the first dispatcher, and not to a second one while the first renews it", async () => {
    const { time, first, second } = open();
    assert.deepEqual([await first.attempt(), await second.attempt()], [true, false]);
    for (let round = 0; round < 20; round += 1) {
      time.now += 2_000;
      assert.deepEqual([await first.attempt(), await second.attempt()], [true, false]);
    }
  });

  test("passes to the second dispatcher 15 s after its last renewal, and the first stops 5 s before", async () => {
    const { time, first, second } = open();
    await first.attempt();
    await second.attempt();
    time.now = 9_999;
    assert.deepEqual([first.held(), await second.attempt()], [true, false]);
    time.now = 10_000;
    assert.deepEqual([first.held(), await second.attempt()], [false, false]);
    time.now = 15_000;
    assert.deepEqual([first.held(), await second.attempt()], [false, true]);
    assert.equal(await first.attempt(), false);
  });

  test("counts from before a renewal is sent, so that a slow answer gives no more time", async () => {
    const { time, cluster } = open();
    const slow = openLease({
      cluster: {
        ...cluster,
        create: async (...asked) => {
          const made = await cluster.create(...asked);
          time.now += 9_000;
          return made;
        },
      },
      ...{ namespace: "default", name: "rekindle-dispatcher", holder: "slow", now: () => time.now },
    });
    assert.equal(await slow.attempt(), true);
    time.now += 1_000;
    assert.equal(slow.held(), false);
  });

  test("belongs to one of two dispatchers that attempt to take it at the same time", async () => {
    const { first, second } = open();
    assert.deepEqual((await Promise.all([first.attempt(), second.attempt()])).filter(Boolean).length, 1);
  });

  test("passes to the second dispatcher at once when the first releases it", async () => {
    const { first, second } = open();
    await first.attempt();
    await first.release();
    assert.deepEqual([first.held(), await second.attempt()], [false, true]);
  });

  test("is held until its end while the server does not answer", async () => {
    const { time, cluster } = open();
    const away = { is: false };
    const lease = openLease({
      cluster: {
        ...cluster,
        get: (ref) => (away.is ? Promise.reject(new Error("away")) : cluster.get(ref)),
      },
      ...{ namespace: "default", name: "rekindle-dispatcher", holder: "one", now: () => time.now },
    });
    await lease.attempt();
    away.is = true;
    time.now = 9_000;
    assert.equal(await lease.attempt(), true);
    time.now = 10_000;
    assert.equal(await lease.attempt(), false);
  });
});

/** Quotas in admission: read live, once for a burst, and again after a failure. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { quotasOf } from "../../../../shared/deployments/admission/surroundings.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";

const open = async () => {
  const { transport } = openSimulator();
  const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small" }, spec: { hard: { cpu: "1" } } };
  await request(transport, "POST", "/api/v1/namespaces/default/resourcequotas", body);
  const world = { asked: 0, fails: false, now: 0 };
  const counting: Transport = {
    ...transport,
    send: (one) => {
      world.asked += 1;
      return world.fails ? Promise.reject(new Error("away")) : transport.send(one);
    },
  };
  return { world, quotas: quotasOf(counting, () => world.now) };
};

describe("quotas", () => {
  test("are read once in a second for each namespace", async () => {
    const { world, quotas } = await open();
    const found = await Promise.all([quotas("default"), quotas("default"), quotas("kube-system")]);
    assert.deepEqual(
      found.map(({ length }) => length),
      [1, 1, 0],
    );
    assert.equal(world.asked, 2);
    world.now = 1_000;
    await quotas("default");
    assert.equal(world.asked, 3);
  });

  test("are read again after a failed read", async () => {
    const { world, quotas } = await open();
    world.fails = true;
    await assert.rejects(quotas("default"));
    world.fails = false;
    assert.equal((await quotas("default")).length, 1);
  });
});

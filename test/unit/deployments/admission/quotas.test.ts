/** Quotas in admission: read live, once for a burst, and again after a failure. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { admissionApp } from "../../../../shared/deployments/admission/app.ts";
import { quotasOf } from "../../../../shared/deployments/admission/surroundings.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { creating, good } from "../../spark/admission/reviews.ts";

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

describe("an application of small pods in a quota of four cores", () => {
  const roomy = { metadata: { name: "small" }, spec: { hard: { cpu: "4" } }, status: { hard: { cpu: "4" }, used: {} } };
  const driver = { cores: 1, coreRequest: "100m", memory: "1g" };
  const review = {
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    request: creating("SparkApplication", { ...good, driver, executor: { ...driver, cores: 4, instances: 5 } }),
  };
  const verdict = async (estimate: boolean): Promise<string> => {
    const app = admissionApp({ quotas: async () => [roomy], estimate });
    return (await app.request("/validate", { method: "POST", body: JSON.stringify(review) })).text();
  };

  test("is admitted by its planned pods", async () => assert.match(await verdict(false), /"allowed":true/));

  test("is refused by upstream's estimate, where the deployment asks for it", async () =>
    assert.match(await verdict(true), /cpu: 21 more than the 0 in use exceed 4/));
});

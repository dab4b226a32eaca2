/** Quotas in admission: read live, once for a burst, and again after a failure. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { admissionApp } from "../../../../shared/deployments/admission/app.ts";
import { quotasOf } from "../../../../shared/deployments/admission/surroundings.ts";
import { noPodDefaults } from "../../../../shared/kube/pod-defaults.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { creating, good } from "../../spark/admission/reviews.ts";

const open = async () => {
  const { transport } = openSimulator();
  const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small" }, spec: { hard: { cpu: "1" } } };
  await request(transport, "POST", "/api/v1/namespaces/default/resourcequotas", body);
  const world = { asked: 0, fails: false, denies: /^$/, lacks: /^$/, now: 0 };
  const counting: Transport = {
    ...transport,
    send: (one) => {
      world.asked += 1;
      if (world.lacks.test(one.path)) return transport.send({ ...one, path: "/apis/absent.k8s.io/v1/absents" });
      return world.fails || world.denies.test(one.path) ? Promise.reject(new Error("away")) : transport.send(one);
    },
  };
  return { world, transport, quotas: quotasOf(counting, () => world.now) };
};

describe("quotas", () => {
  test("are read once in a second for each namespace", async () => {
    const { world, quotas } = await open();
    const found = await Promise.all([quotas("default"), quotas("default"), quotas("kube-system")]);
    assert.deepEqual(
      found.map(({ quotas: { length } }) => length),
      [1, 1, 0],
    );
    assert.equal(world.asked, 4, "where there is no quota, what is added to pods does not matter");
    world.now = 1_000;
    await quotas("default");
    assert.equal(world.asked, 7);
  });

  test("are read again after a failed read", async () => {
    const { world, quotas } = await open();
    world.fails = true;
    await assert.rejects(quotas("default"));
    world.fails = false;
    assert.equal((await quotas("default")).quotas.length, 1);
  });

  test("come with the LimitRanges of their namespace and the cluster's RuntimeClasses", async () => {
    const { quotas, transport } = await open();
    const made = (path: string, body: object) =>
      request(transport, "POST", path, { metadata: { name: "one" }, ...body });
    const item = { type: "Container", default: { cpu: "2" } };
    const range = { apiVersion: "v1", kind: "LimitRange", spec: { limits: [item] } };
    const runtime = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", handler: "kata" };
    await made("/api/v1/namespaces/default/limitranges", range);
    await made("/api/v1/namespaces/kube-system/limitranges", range);
    await made("/apis/node.k8s.io/v1/runtimeclasses", { ...runtime, overhead: { podFixed: { cpu: "1" } } });
    const { defaults } = await quotas("default");
    assert.deepEqual([...defaults.limitRanges.keys()], ["default"]);
    assert.deepEqual([...defaults.runtimeClasses.keys()], ["one"]);
  });

  const unreadable = [
    ["limitranges", "the LimitRanges of its namespace could not be read, so its pods count without them: away"],
    ["runtimeclasses", "RuntimeClasses could not be read, so its pods count without them: away"],
  ] as const;

  for (const [plural, warning] of unreadable)
    for (const estimate of [false, true])
      test(`come with a warning while ${plural} cannot be read, ${estimate ? "by upstream's estimate, too" : "and not after it"}`, async () => {
        const { world, quotas } = await open();
        world.denies = new RegExp(plural);
        const app = admissionApp({ quotas, estimate });
        const small = { cores: 1, coreRequest: "1m", memory: "1g" };
        const review = {
          ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
          request: {
            ...creating("SparkApplication", { ...good, driver: small, executor: { ...small, instances: 1 } }),
            namespace: "default",
          },
        };
        const answer = async (): Promise<string> =>
          (await app.request("/validate", { method: "POST", body: JSON.stringify(review) })).text();
        const first = await answer();
        assert.match(first, /"allowed":true/);
        assert.ok(first.includes(warning), first);
        world.denies = /^$/;
        assert.ok(!(await answer()).includes("could not be read"), "a failed read is not reused");
      });

  test("count without RuntimeClasses where the API server has none", async () => {
    const { world, quotas } = await open();
    world.lacks = /runtimeclasses/;
    const { unread, defaults } = await quotas("default");
    assert.deepEqual([unread, defaults.runtimeClasses.size], [[], 0]);
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
    const app = admissionApp({ quotas: async () => ({ quotas: [roomy], defaults: noPodDefaults }), estimate });
    return (await app.request("/validate", { method: "POST", body: JSON.stringify(review) })).text();
  };

  test("is admitted by its planned pods", async () => assert.match(await verdict(false), /"allowed":true/));

  test("is refused by upstream's estimate, where the deployment asks for it", async () =>
    assert.match(await verdict(true), /cpu: 21 more than the 0 in use exceed 4/));
});

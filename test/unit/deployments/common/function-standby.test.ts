/** Functions beside another controller: a read of its leases holds for ten seconds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../../../shared/core/http.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { openStandby } from "../../../../shared/deployments/common/standby.ts";
import type { Cluster } from "../../../../shared/engine/ports.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const never = (): Promise<never> => Promise.reject(new Error("not asked for"));

const leaseIn = (namespace: string, name: string): Stored => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace, uid: "u", resourceVersion: "1" },
  spec: { holderIdentity: "x", leaseDurationSeconds: 15, renewTime: "2026-11-02T07:59:59Z" },
});

const operators = [
  { kind: "SparkApplication", resource: { group: "sparkoperator.k8s.io", version: "v1", plural: "s", kind: "S" } },
  { kind: "Job", resource: { group: "batch.volcano.sh", version: "v1alpha1", plural: "jobs", kind: "Job" } },
  { kind: "Toy", resource: { group: "toys.example", version: "v1", plural: "toys", kind: "Toy" } },
];

const noError = (): ApiError | undefined => undefined;

const open = (leases: readonly string[] = ["spark-operator-lock"]) => {
  const world = { held: ["spark-operator-lock"], place: "kube-system", now: 0, asked: 0, error: noError() };
  const lines: string[] = [];
  const cluster: Cluster = {
    ...{
      proxyGet: never,
      logEnd: never,
      get: never,
      create: never,
      remove: never,
      evict: never,
      patch: never,
      patchStatus: never,
    },
    list: async ({ field }) => {
      world.asked += 1;
      if (world.error !== undefined) throw world.error;
      const value = world.held
        .map((name) => leaseIn(world.place, name))
        .filter(({ metadata }) => field === `metadata.name=${metadata.name}`);
      return { value, date: eight };
    },
  };
  const report = (_: string, message: string): void => void lines.push(message);
  const lookout = { leases, namespaces: ["kube-system"] };
  const { signs } = openStandby({ cluster, lookout, operators, report, now: () => world.now });
  const aside = async (kind: string): Promise<boolean> => (await signs(kind)).length > 0;
  return { world, lines, standing: { aside, signs } };
};

describe("a function beside another controller's leader", () => {
  test("stands aside for the leader's kinds only, reads two leases in ten seconds, and logs that once", async () => {
    const { world, lines, standing } = open();
    const kinds = ["SparkApplication", "SparkApplication", "Toy"];
    assert.deepEqual(await Promise.all(kinds.map((kind) => standing.aside(kind))), [true, true, false]);
    world.now = 9_999;
    assert.equal(await standing.aside("SparkApplication"), true);
    assert.equal(world.asked, 2);
    assert.deepEqual(lines, [
      "standby: kubeflow spark-operator holds the lease kube-system/spark-operator-lock; Rekindle writes nothing for these kinds meanwhile. Take its work over with `rekindle migrate`; set coexist if it looks after other namespaces only; if it is none, remove it, or take its namespace out of controllerNamespaces",
    ]);
  });

  test("reads the lease of Volcano's controller only for Volcano's kinds, and none for kinds that no controller has", async () => {
    const { world, standing } = open();
    assert.deepEqual([await standing.aside("Toy"), world.asked], [false, 0]);
    assert.deepEqual([await standing.aside("SparkApplication"), world.asked], [true, 2]);
    assert.deepEqual([await standing.aside("Job"), world.asked], [false, 3]);
  });

  test("continues when its read is ten seconds old and the leader has gone", async () => {
    const { world, standing } = open();
    assert.equal(await standing.aside("SparkApplication"), true);
    world.held = [];
    world.now = 10_000;
    assert.equal(await standing.aside("SparkApplication"), false);
  });

  test("does not stand aside for a lease in a tenant's namespace", async () => {
    const { world, lines, standing } = open();
    world.place = "tenant";
    assert.deepEqual([await standing.signs("SparkApplication"), lines], [[], []]);
  });

  test("reads no lease if no lease is configured", async () => {
    const { world, standing } = open([]);
    assert.deepEqual([await standing.aside("SparkApplication"), world.asked], [false, 0]);
  });

  test("logs that it may not read leases, and continues", async () => {
    const { world, lines, standing } = open();
    world.error = new ApiError({ status: 403, reason: "Forbidden", message: "list leases: no" });
    assert.equal(await standing.aside("SparkApplication"), false);
    assert.deepEqual(lines, ["cannot see whether another controller is alive: list leases: no"]);
  });

  test("throws if the server is in trouble, and reads again at the next call", async () => {
    const { world, standing } = open();
    world.error = new ApiError({ status: 503, reason: "ServiceUnavailable", message: "busy" });
    await assert.rejects(standing.aside("SparkApplication"), /busy/);
    world.error = undefined;
    assert.equal(await standing.aside("SparkApplication"), true);
  });
});

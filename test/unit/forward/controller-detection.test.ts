/** Detection of other controllers before the first write, and resources that may not be read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import type { Cluster } from "../../../shared/engine/ports.ts";
import { findOtherControllers } from "../../../shared/forward/controller-detection.ts";

const date = Date.UTC(2026, 10, 2, 8, 0, 0);
const lease = (name: string): Stored => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace: "ops", uid: "u", resourceVersion: "1" },
  spec: { holderIdentity: "x", leaseDurationSeconds: 15, renewTime: "2026-11-02T07:59:59Z" },
});

const never = (): Promise<never> => Promise.reject(new Error("not asked for"));
const clusterOf = (answers: Readonly<Record<string, readonly Stored[] | ApiError>>): Cluster => ({
  ...{ proxyGet: never, logEnd: never, create: never, remove: never, evict: never, patch: never, patchStatus: never },
  get: async () => ({ value: undefined, date }),
  list: async ({ resource, namespace }) => {
    assert.equal(namespace, "");
    const answer = answers[resource.plural] ?? [];
    if (answer instanceof ApiError) throw answer;
    return { value: answer, date };
  },
});

/** Returns an application whose status this manager wrote `secondsAgo`. */
const written = (manager: string, secondsAgo: number, subresource = "status"): Stored => {
  const time = new Date(date - secondsAgo * 1_000).toISOString();
  const metadata = { name: manager, namespace: "ns", uid: "u", resourceVersion: "1" };
  const managedFields = [
    { manager: "kubectl", time, subresource: "" },
    { manager, time, subresource },
  ];
  return { apiVersion: "v1", kind: "Job", metadata: Object.assign(metadata, { managedFields }) };
};

const refused = (status: number): ApiError => new ApiError({ status, reason: "Forbidden", message: "list leases: no" });

describe("the detection of other controllers", () => {
  it("finds known leases in any namespace, and leases that the settings name", async () => {
    const cluster = clusterOf({ leases: [lease("spark-operator-lock"), lease("mine"), lease("other")] });
    const signs = ["kubeflow spark-operator holds the lease ops/spark-operator-lock"];
    assert.deepEqual(await findOtherControllers(cluster), { signs, blind: [] });
    const named = await findOtherControllers(cluster, ["mine", "spark-operator-lock"]);
    assert.deepEqual(named.signs, [...signs, "another controller holds the lease ops/mine"]);
  });

  it("reports a resource that it may not read, and reads the others", async () => {
    const blind = await findOtherControllers(clusterOf({ leases: refused(403) }));
    assert.deepEqual(blind, { signs: [], blind: ["list leases: no"] });
  });

  it("throws if the server is in trouble", async () => {
    for (const status of [0, 409, 410, 429, 500]) {
      await assert.rejects(findOtherControllers(clusterOf({ deployments: refused(status) })), { status });
    }
  });

  const objects: readonly { name: string; pages: readonly (readonly Stored[])[]; signs: readonly string[] }[] = [
    {
      name: "a status that another controller has just written",
      pages: [[written("operator", 9)]],
      signs: ["operator wrote the status of Job ns/operator 9 s ago"],
    },
    {
      name: "several of them, of which it names the newest of all pages",
      pages: [
        [written("a", 50), written("b", 40)],
        [written("c", 30), written("d", 45)],
      ],
      signs: ["c wrote the status of Job ns/c 30 s ago (and of 3 more)"],
    },
    { name: "no controller by a status that was written long ago", pages: [[written("operator", 61)]], signs: [] },
    {
      name: "no controller by a status that Rekindle wrote",
      pages: [[written("rekindle", 1), written("rekindle-reconcile", 1)]],
      signs: [],
    },
    {
      name: "no controller by a status that a person wrote with kubectl",
      pages: [[written("kubectl-patch", 1), written("kubectl", 1)]],
      signs: [],
    },
    {
      name: "no controller by a spec that was just written",
      pages: [[written("argocd-controller", 1, "")]],
      signs: [],
    },
    { name: "no controller by objects without managed fields", pages: [[lease("mine")], []], signs: [] },
  ];
  for (const { name, pages, signs } of objects) {
    it(`finds by the objects: ${name}`, async () => {
      const found = await findOtherControllers(clusterOf({}), [], async function* () {
        yield* pages;
      });
      assert.deepEqual(found, { signs, blind: [] });
    });
  }

  it("reports objects that it may not read, and ignores kinds that are not served", async () => {
    const refusing = (status: number) =>
      findOtherControllers(clusterOf({}), [], async function* () {
        yield [written("operator", 9)];
        throw refused(status);
      });
    assert.deepEqual(await refusing(403), { signs: [], blind: ["list leases: no"] });
    assert.deepEqual(await refusing(404), { signs: [], blind: [] });
    await assert.rejects(refusing(503), { status: 503 });
  });
});

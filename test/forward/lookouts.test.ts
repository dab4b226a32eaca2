/** The look around before anything is written, and what may not be looked at. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../shared/core/errors.ts";
import type { Stored } from "../../shared/core/object.ts";
import type { Cluster } from "../../shared/engine/ports.ts";
import { findOtherControllers } from "../../shared/forward/lookouts.ts";

const date = Date.UTC(2026, 10, 2, 8, 0, 0);
const lease = (name: string): Stored => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace: "ops", uid: "u", resourceVersion: "1" },
  spec: { holderIdentity: "x", leaseDurationSeconds: 15, renewTime: "2026-11-02T07:59:59Z" },
});

const never = (): Promise<never> => Promise.reject(new Error("not asked for"));
const clusterOf = (answers: Readonly<Record<string, readonly Stored[] | ApiError>>): Cluster => ({
  ...{ get: never, create: never, remove: never, patchStatus: never },
  list: async ({ resource, namespace }) => {
    assert.equal(namespace, "");
    const answer = answers[resource.plural] ?? [];
    if (answer instanceof ApiError) throw answer;
    return { value: answer, date };
  },
});

const refused = (status: number): ApiError => new ApiError({ status, reason: "Forbidden", message: "list leases: no" });

describe("looking for other controllers", () => {
  it("finds known leases in any namespace, and those that are named", async () => {
    const cluster = clusterOf({ leases: [lease("spark-operator-lock"), lease("mine"), lease("other")] });
    const signs = ["kubeflow spark-operator holds the lease ops/spark-operator-lock"];
    assert.deepEqual(await findOtherControllers(cluster), { signs, blind: [] });
    const named = await findOtherControllers(cluster, ["mine", "spark-operator-lock"]);
    assert.deepEqual(named.signs, [...signs, "another controller holds the lease ops/mine"]);
  });

  it("tells where it may not look, and looks at the rest", async () => {
    const blind = await findOtherControllers(clusterOf({ leases: refused(403) }));
    assert.deepEqual(blind, { signs: [], blind: ["list leases: no"] });
  });

  it("does not take a server in trouble for an empty one", async () => {
    for (const status of [0, 500]) {
      await assert.rejects(findOtherControllers(clusterOf({ deployments: refused(status) })), { status });
    }
  });
});

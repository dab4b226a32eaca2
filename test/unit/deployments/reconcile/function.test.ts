/** The reconcile function over HTTP: an unreachable cluster blocks no message group, and a reachable one is served. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mergeObject, request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { openReconcile } from "../../../../shared/deployments/reconcile/function.ts";
import { functionGrants } from "../../../../shared/installation/function-rights.ts";
import { namespaces } from "../../../../shared/kube/resources.ts";
import type { Simulator } from "../../../../shared/simulator/open.ts";
import { tokenFor } from "../../../../shared/simulator/verbs/request.ts";
import { apiServer } from "../../../bench/fakes.ts";
import { administrators, deploymentOf } from "../../../support/beside.ts";
import { taken } from "../../adapters/sqs/fake.ts";
import { onCluster, record, withQueue } from "../surroundings.ts";

const trace = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

/** No server listens at this address. */
const nowhere = "http://127.0.0.1:9";

/** Grants the account of reconcile its rights in one namespace; returns the simulator as this account sees it. */
const grantedIn = async (simulator: Simulator, place: string): Promise<Simulator> => {
  const { transport, store } = simulator;
  for (const name of ["rekindle", "elsewhere"])
    await request(transport, "POST", "/api/v1/namespaces", { metadata: { name } });
  const grants = functionGrants({ namespace: "rekindle", functions: ["reconcile"], namespaces: [place] });
  for (const object of grants) {
    const group = object.kind === "ServiceAccount" ? "/api/v1" : "/apis/rbac.authorization.k8s.io/v1";
    const path = `${group}/namespaces/${object.metadata.namespace}/${object.kind.toLowerCase()}s`;
    await request(transport, "POST", path, object);
  }
  const account = store.get("serviceaccounts", "rekindle/rekindle-reconcile") ?? assert.fail("no account");
  const authorization = `Bearer ${tokenFor(account, Date.UTC(2040, 0, 1) / 1_000)}`;
  const send: Transport["send"] = (asked) => transport.send({ ...asked, headers: { ...asked.headers, authorization } });
  return { ...simulator, transport: { ...transport, send } };
};

describe("the reconcile function", () => {
  test("whose cluster is unreachable sends each key once for later, and acknowledges the batch", async () => {
    await withQueue(taken, async (queues, bodies) => {
      const reconcile = await openReconcile({
        ...queues,
        REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: nowhere }),
      });
      const answer = await reconcile({ Records: [record("pi"), record("pi", { tries: 2 }), record("pi", { trace })] });
      assert.deepEqual(answer, { batchItemFailures: [] });
      const [later] = bodies();
      assert.equal(bodies().length, 1);
      assert.deepEqual(later?.["message"], {
        ...{ cluster: "default", kind: "SparkApplication", namespace: "default", name: "pi" },
        ...{ reason: "retry", tries: 1, trace },
      });
    });
  });

  test("whose cluster and queue are unreachable returns the whole batch", async () => {
    await withQueue(
      () => ({ error: "AccessDenied" }),
      async (queues) => {
        const reconcile = await openReconcile({
          ...queues,
          REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: nowhere }),
        });
        const answer = await reconcile({ Records: [record("pi"), record("e")] });
        assert.ok("batchItemFailures" in answer);
        assert.deepEqual(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).sort(), ["e", "pi"]);
      },
    );
  });

  test("takes a step for each key of its cluster, and none for other messages", async () => {
    await onCluster(["pi", "e"], async (env, podsNow) => {
      await withQueue(taken, async (queues) => {
        const reconcile = await openReconcile({ ...queues, ...env });
        const Records = [
          record("pi"),
          record("e", { cluster: "another" }),
          { messageId: "nonsense", body: "nonsense" },
          { messageId: "another version's", body: JSON.stringify({ v: 2, keys: ["default/e"] }) },
          { messageId: "a megabyte", body: JSON.stringify({ name: "e", more: "x".repeat(1_000_000) }) },
        ];
        const context = { getRemainingTimeInMillis: () => 30_000 };
        assert.deepEqual(await reconcile({ Records }, context), { batchItemFailures: [] });
        assert.deepEqual(await podsNow(), ["pi-driver"]);
      });
    });
  });

  const leader = (renewTime: string) => ({
    ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "spark-operator-lock" } },
    spec: { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime },
  });
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${administrators}/leases`;
  const micros = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");
  const leaders: readonly { name: string; renewed: number; env: object; want: readonly string[] }[] = [
    { name: "writes nothing beside a leader", renewed: 0, env: {}, want: [] },
    { name: "continues after a leader whose lease has expired", renewed: -60_000, env: {}, want: ["pi-driver"] },
    {
      name: "looks for no leader if the leases are set to none",
      renewed: 0,
      env: { REKINDLE_LEASES: "" },
      want: ["pi-driver"],
    },
    {
      name: "looks for upstream's leases beside the configured ones",
      renewed: 0,
      env: { REKINDLE_LEASES: "mine" },
      want: [],
    },
  ];
  for (const { name, renewed, env: own, want } of leaders) {
    test(name, async () => {
      await onCluster(["pi"], async (env, podsNow, simulator) => {
        const lease = leader(micros(simulator.clock.now() + renewed));
        await request(simulator.transport, "POST", leases, lease);
        await withQueue(taken, async (queues) => {
          const reconcile = await openReconcile({ ...queues, ...env, ...own });
          assert.deepEqual(await reconcile({ Records: [record("pi")] }), { batchItemFailures: [] });
          assert.deepEqual(await podsNow(), want);
        });
      });
    });
  }

  test("writes nothing beside a controller without leader election until its Deployment is gone", async () => {
    await onCluster(["pi"], async (env, podsNow, { transport }) => {
      await withQueue(taken, async (queues) => {
        const path = `/apis/apps/v1/namespaces/${administrators}/deployments`;
        await request(transport, "POST", path, deploymentOf("ghcr.io/kubeflow/spark-operator/controller:2.3.0"));
        const settings = { ...queues, ...env };
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), { batchItemFailures: [] });
        assert.deepEqual(await podsNow(), []);
        await request(transport, "DELETE", `${path}/controllers`);
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), { batchItemFailures: [] });
        assert.deepEqual(await podsNow(), ["pi-driver"]);
      });
    });
  });

  test("whose namespaces a selector chooses leaves other namespaces alone", async () => {
    await onCluster(["pi"], async (env, podsNow, { transport }) => {
      await withQueue(taken, async (queues) => {
        const settings = { ...queues, ...env, REKINDLE_NAMESPACE_SELECTOR: "spark=enabled" };
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), { batchItemFailures: [] });
        assert.deepEqual(await podsNow(), []);
        await mergeObject(
          transport,
          { ref: { resource: namespaces, name: "default" } },
          { metadata: { labels: { spark: "enabled" } } },
        );
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), { batchItemFailures: [] });
        assert.deepEqual(await podsNow(), ["pi-driver"]);
      });
    });
  });

  for (const [place, pods] of [
    ["default", ["pi-driver"]],
    ["elsewhere", []],
  ] as const)
    test(`with Roles in the namespace ${place} alone submits there, and in no other namespace`, async () => {
      await onCluster(["pi"], async (_, podsNow, simulator) => {
        const api = await apiServer(await grantedIn(simulator, place));
        const cluster = JSON.stringify({ server: api.url });
        try {
          await withQueue(taken, async (queues) => {
            const settings = { ...queues, REKINDLE_CLUSTER_RECORD: cluster, REKINDLE_NAMESPACES: "default" };
            await (await openReconcile(settings))({ Records: [record("pi")] });
            assert.deepEqual(await podsNow(), pods);
          });
        } finally {
          api.close();
        }
      });
    });

  test("that has hardly any time left starts no step, and retries the key", async () => {
    await onCluster(["pi"], async (env, podsNow) => {
      await withQueue(taken, async (queues, bodies) => {
        const reconcile = await openReconcile({ ...queues, ...env });
        const context = { getRemainingTimeInMillis: () => 3_000 };
        assert.deepEqual(await reconcile({ Records: [record("pi")] }, context), { batchItemFailures: [] });
        assert.deepEqual(await podsNow(), []);
        assert.ok(bodies().some((body) => JSON.stringify(body).includes('"reason":"retry"')));
      });
    });
  });
});

/** Detection of other controllers before the first write, and resources that may not be read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import type { Cluster } from "../../../shared/engine/ports.ts";
import { findController, findWorkers } from "../../../shared/forward/controller-workloads.ts";
import { upstreams } from "../../../shared/kube/upstream-controllers.ts";

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
  get: async ({ resource, name }) => {
    const answer = answers[resource.plural] ?? [];
    if (answer instanceof ApiError) throw answer;
    return { value: answer.find(({ metadata }) => metadata.name === name), date };
  },
  list: async ({ resource, namespace, field, projecting }) => {
    assert.equal(namespace, "");
    const answer = answers[resource.plural] ?? [];
    if (answer instanceof ApiError) throw answer;
    const named = answer.filter(({ metadata }) => field === undefined || field === `metadata.name=${metadata.name}`);
    const project = projecting?.() ?? ((object: Stored) => object);
    return { value: named.flatMap((object) => project(object) ?? []), date };
  },
});

const [kubeflow] = upstreams;
assert.ok(kubeflow !== undefined);

const account = { name: "controller", namespace: "ops" };

const deployment = (namespace: string, serviceAccountName = account.name): Stored => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "controller", namespace, uid: "u", resourceVersion: "1" },
  spec: { template: { spec: { serviceAccountName, containers: [{ image: "mirror.example/spark-operator:2" }] } } },
});

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

const rule = (resources: readonly string[], verbs = ["update"], apiGroups = ["sparkoperator.k8s.io"]): Rule => ({
  ...{ apiGroups, resources, verbs },
});

const named = (kind: string, more: object): Stored => ({
  ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind },
  metadata: { name: "granted", uid: "u", resourceVersion: "1" },
  ...more,
});

const bound = (...subjects: readonly object[]): Stored =>
  named("ClusterRoleBinding", { subjects, roleRef: { kind: "ClusterRole", name: "granted" } });

const self = { kind: "ServiceAccount", ...account };
const lookout = { namespaces: ["spark-operator"], leases: ["mine"] };

const refused = (status: number): ApiError => new ApiError({ status, reason: "Forbidden", message: "list leases: no" });

describe("the detection of other controllers", () => {
  it("finds known leases, and those that the settings name, in namespaces of administrators alone", async () => {
    const held = ["spark-operator-lock", "mine", "other"];
    const signs = ["kubeflow spark-operator holds the lease ops/spark-operator-lock"];
    const found = async (namespaces: readonly string[]) => {
      const leases = held.map(lease);
      return (await findController(clusterOf({ leases }), kubeflow, { ...lookout, namespaces })).signs;
    };
    assert.deepEqual(await found(["ops"]), [...signs, "another controller holds the lease ops/mine"]);
    assert.deepEqual(await found(["spark-operator"]), []);
  });

  it("reports a resource that it may not read, and reads the others", async () => {
    const { signs, blind } = await findController(clusterOf({ leases: refused(403) }), kubeflow, lookout);
    assert.deepEqual([signs, blind], [[], ["list leases: no", "list leases: no", "list leases: no"]]);
  });

  it("believes a refusal that comes twice alone: a single one hides no controller", async () => {
    const cluster = clusterOf({ leases: [lease("spark-operator-lock")] });
    let refusals = 0;
    const first: typeof cluster.list = async (query) => {
      refusals += 1;
      if (refusals === 1) throw refused(403);
      return await cluster.list(query);
    };
    const { signs, blind } = await findController({ ...cluster, list: first }, kubeflow, {
      ...lookout,
      namespaces: ["ops"],
    });
    assert.deepEqual([signs.length, blind], [1, []]);
  });

  it("throws if the server is in trouble", async () => {
    for (const status of [0, 409, 410, 429, 500]) {
      const cluster = clusterOf({ deployments: refused(status) });
      await assert.rejects(findController(cluster, kubeflow, lookout), { status });
    }
  });

  const everywhere = named("ClusterRole", { rules: [rule(["sparkapplications/status"])] });
  const grants: Readonly<Record<string, readonly [binding: Stored, role: Stored, counts: boolean]>> = {
    itself: [bound(self), everywhere, true],
    "its user's name": [bound({ kind: "User", name: "system:serviceaccount:ops:controller" }), everywhere, true],
    "all accounts of its namespace": [bound({ kind: "Group", name: "system:serviceaccounts:ops" }), everywhere, true],
    everybody: [bound({ kind: "Group", name: "system:authenticated" }), everywhere, true],
    "an account of its name elsewhere": [bound({ ...self, namespace: "other" }), everywhere, false],
    "another account beside it": [bound({ ...self, name: "other" }), everywhere, false],
    "itself, with every right": [bound(self), named("ClusterRole", { rules: [rule(["*"], ["*"], ["*"])] }), true],
    "itself, with every status": [bound(self), named("ClusterRole", { rules: [rule(["*/status"])] }), true],
    "itself, to patch": [
      bound(self),
      named("ClusterRole", { rules: [rule(["sparkapplications/status"], ["patch"])] }),
      true,
    ],
    "itself, to read": [
      bound(self),
      named("ClusterRole", { rules: [rule(["sparkapplications/status"], ["get"])] }),
      false,
    ],
    "itself, for specs": [bound(self), named("ClusterRole", { rules: [rule(["sparkapplications"])] }), false],
    "itself, of another group": [
      bound(self),
      named("ClusterRole", { rules: [rule(["sparkapplications/status"], ["update"], ["example.com"])] }),
      false,
    ],
    "itself, for one object": [
      bound(self),
      named("ClusterRole", { rules: [{ ...rule(["sparkapplications/status"]), resourceNames: ["mine"] }] }),
      false,
    ],
    "itself, by a role without rules": [bound(self), named("ClusterRole", { rules: null }), false],
  };
  for (const [to, [binding, role, counts]] of Object.entries(grants))
    it(`${counts ? "finds" : "does not find"} a Deployment elsewhere whose account has a right by a binding to ${to}`, async () => {
      const cluster = clusterOf({
        deployments: [deployment("ops")],
        clusterrolebindings: [binding],
        clusterroles: [role],
      });
      const { signs, places, ignored } = await findController(cluster, kubeflow, lookout);
      assert.deepEqual(places, counts ? ["ops"] : []);
      assert.deepEqual(signs, counts ? ["kubeflow spark-operator runs as the deployment ops/controller"] : []);
      assert.equal(ignored.length, counts ? 0 : 1);
    });

  it("believes the leases of a namespace in which a Deployment counts, also one that is scaled to zero", async () => {
    const rights = { clusterrolebindings: [bound(self)], clusterroles: [everywhere] };
    const stopped = { ...deployment("ops"), spec: { ...Object(deployment("ops")["spec"]), replicas: 0 } };
    const held = { ...rights, deployments: [stopped], leases: [lease("spark-operator-lock")] };
    const { signs } = await findController(clusterOf(held), kubeflow, lookout);
    assert.deepEqual(signs, ["kubeflow spark-operator holds the lease ops/spark-operator-lock"]);
  });

  it("says of a Deployment that counts for nothing what would make it count", async () => {
    const { ignored } = await findWorkers(clusterOf({ deployments: [deployment("evil")] }), kubeflow, lookout);
    assert.deepEqual(ignored, [
      "Deployment evil/controller looks like kubeflow spark-operator and counts for nothing, because its account evil/controller may not write sparkapplications/status in all namespaces: if an administrator has installed it, add evil to the setting controllerNamespaces",
    ]);
  });

  it("believes no account where it may not read bindings or roles, and reports that", async () => {
    const deployments = [deployment("ops")];
    const unbound = await findWorkers(clusterOf({ deployments, clusterrolebindings: refused(403) }), kubeflow, lookout);
    assert.deepEqual([unbound.signs, unbound.blind], [[], ["list leases: no"]]);
    const rights = { clusterrolebindings: [bound(self)], clusterroles: refused(403) };
    const unread = await findWorkers(clusterOf({ deployments, ...rights }), kubeflow, lookout);
    assert.deepEqual([unread.signs, unread.blind], [[], ["list leases: no"]]);
  });

  it("reads no binding while every workload is in a namespace of administrators", async () => {
    const cluster = clusterOf({ deployments: [deployment("spark-operator")], clusterrolebindings: refused(500) });
    assert.equal((await findWorkers(cluster, kubeflow, lookout)).signs.length, 1);
  });
});

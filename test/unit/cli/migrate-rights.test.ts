/** A migration uses exactly the rights that its documentation lists. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../shared/core/http.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { reviewOf } from "../../../shared/simulator/api/authorization.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { deploymentOf, grantedEverywhere } from "../../support/beside.ts";
import { migratorRules, moverRules } from "../../support/migrator.ts";
import { install as installApache } from "./apache.ts";
import { install as installKubeflow } from "./kubeflow.ts";
import { application, installed, make, onTerminal } from "./terminal.ts";
import { groups, openMoving, otherOf } from "./two-hosts.ts";
import { install as installVolcano } from "./volcanic.ts";

/** Without leader election of the Deployments, the migration creates and removes a lease. */
const leases = ["chart-lock", false] as const;

const checkpoint = (kind: string, name: string): Obj => ({
  apiVersion: "rekindle.dev/v1alpha1",
  kind: "Checkpoint",
  metadata: { name, namespace: "default", labels: { "rekindle.dev/kind": kind } },
  spec: { schema: 1, cluster: "c", uid: "u", saves: 1, memory: {} },
});

/** Objects of an application of each kind that a move hands over and the others of this test lack. */
const owned: Readonly<Record<string, object>> = {
  "/api/v1/namespaces/default/persistentvolumeclaims": {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies": {
    ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", spec: { podSelector: {} } },
  },
  "/apis/networking.k8s.io/v1/namespaces/default/ingresses": {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } },
  },
  "/apis/policy/v1/namespaces/default/poddisruptionbudgets": {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
  },
};

/** A transport that notes the right that each request needs. */
const noting = ({ transport }: Simulator) => {
  const wishes = new Set<string>();
  const send: Transport["send"] = (request) => {
    const { verb, group, resource, sub, name } = reviewOf(request);
    const what = `${[resource, sub].filter((part) => part !== "").join("/")}.${group}`;
    wishes.add([verb, what, resource === "namespaces" ? name : ""].join(" ").trim());
    return transport.send(request);
  };
  return { wishes, transport: { ...transport, send } };
};

const rightsIn = (rules: typeof migratorRules | typeof moverRules): readonly string[] =>
  rules.flatMap(({ apiGroups: [group = ""], resources, verbs, ...rest }) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => {
        const names = "resourceNames" in rest ? rest.resourceNames : [];
        return [verb, `${resource}.${group}`, ...names].join(" ");
      }),
    ),
  );

const asked = async (lease: string | false): Promise<readonly string[]> => {
  const simulator = openSimulator({ crds: installed([""]) });
  await make(simulator, application("a", { applicationState: { state: "RUNNING" } }));
  await make(simulator, checkpoint("SparkApplication", "sparkapplication.a"), checkpoint("Job", "job.a"));
  await installKubeflow(simulator, { lease });
  await installApache(simulator);
  await installVolcano(simulator, lease === false ? { lease } : {});
  // Whoever may forge a controller makes the migration read who may write everywhere.
  const forged = deploymentOf("mallory.example/spark-operator:1", "default");
  const [role, binding] = grantedEverywhere("sparkoperator.k8s.io", "sparkapplications", "default");
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await request(simulator.transport, "POST", "/apis/apps/v1/namespaces/default/deployments", forged);
  await request(simulator.transport, "POST", `${rbac}/clusterroles`, role);
  await request(simulator.transport, "POST", `${rbac}/clusterrolebindings`, binding);
  const { wishes, transport } = noting(simulator);
  const terminal = onTerminal(simulator, { transport });
  for (const way of [[], ["--apply"], ["--undo"]]) {
    const { code, err } = await terminal.run("migrate", ...way, "--yes", "--force");
    assert.equal(code, 0, err);
  }
  return [...wishes];
};

it("the report, --apply and --undo need exactly the documented rights", async () => {
  const all = new Set((await Promise.all(leases.map(asked))).flat());
  assert.deepEqual([...all].sort(), [...rightsIn(migratorRules)].sort());
});

it("moves between both APIs need exactly the documented rights beside these", async () => {
  const all = new Set<string>();
  for (const from of groups) {
    const { simulator } = await openMoving(from);
    const owner = JSON.parse(JSON.stringify(simulator.store.get(`sparkapplications.${from}`, "default/pi")));
    const { apiVersion, kind, metadata } = owner;
    const ownerReferences = [{ apiVersion, kind, name: "pi", uid: metadata.uid }];
    for (const [path, more] of Object.entries(owned))
      await request(simulator.transport, "POST", path, {
        ...more,
        metadata: { name: "owned", namespace: "default", ownerReferences },
      });
    const { wishes, transport } = noting(simulator);
    const { code, err } = await onTerminal(simulator, { transport }).run(
      ...["migrate", "pi", "--to", otherOf(from), "--apply", "--yes"],
    );
    assert.equal(code, 0, err);
    for (const wish of wishes) all.add(wish);
  }
  // The simulator serves no Gateway API: its routes are listed, and there is none to patch.
  all.add("patch httproutes.gateway.networking.k8s.io");
  const known = new Set(rightsIn(migratorRules));
  assert.deepEqual([...all].filter((wish) => !known.has(wish)).sort(), [...rightsIn(moverRules)].sort());
});

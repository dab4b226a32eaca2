/** A migration uses exactly the rights that its documentation lists. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { reviewOf } from "../../../shared/simulator/api/authorization.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";
import { deploymentOf, grantedEverywhere } from "../../support/beside.ts";
import { migratorRules } from "../../support/migrator.ts";
import { install as installApache } from "./apache.ts";
import { install as installKubeflow } from "./kubeflow.ts";
import { application, installed, make, onTerminal } from "./terminal.ts";
import { install as installVolcano } from "./volcanic.ts";

/** Without leader election of the Deployments, the migration creates and removes a lease. */
const leases = ["chart-lock", false] as const;

const checkpoint = (kind: string, name: string): Obj => ({
  apiVersion: "rekindle.dev/v1alpha1",
  kind: "Checkpoint",
  metadata: { name, namespace: "default", labels: { "rekindle.dev/kind": kind } },
  spec: { schema: 1, cluster: "c", uid: "u", saves: 1, memory: {} },
});

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
  const wishes = new Set<string>();
  const { transport } = simulator;
  const send: typeof transport.send = (request) => {
    const { verb, group, resource, name } = reviewOf(request);
    wishes.add([verb, `${resource}.${group}`, resource === "namespaces" ? name : ""].join(" ").trim());
    return transport.send(request);
  };
  const terminal = onTerminal(simulator, { transport: { ...transport, send } });
  for (const way of [[], ["--apply"], ["--undo"]]) {
    const { code, err } = await terminal.run("migrate", ...way, "--yes", "--force");
    assert.equal(code, 0, err);
  }
  return [...wishes];
};

it("the report, --apply and --undo need exactly the documented rights", async () => {
  const all = new Set((await Promise.all(leases.map(asked))).flat());
  const told = migratorRules.flatMap(({ apiGroups: [group = ""], resources, verbs, ...rest }) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => {
        const names = "resourceNames" in rest ? rest.resourceNames : [];
        return [verb, `${resource}.${group}`, ...names].join(" ");
      }),
    ),
  );
  assert.deepEqual([...all].sort(), told.sort());
});

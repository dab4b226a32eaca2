/**
 * The tenant of the attacks on a real API server: an account that owns its namespaces. It has Kubernetes' role `edit` there,
 * and all rights on the kinds, their statuses, and roles; nothing beyond.
 */

import { openApi } from "../../real/cluster/api.ts";
import type { Cluster } from "../../real/cluster/cluster.ts";
import { must } from "./attack.ts";
import { answerOf, type Obj } from "./objects.ts";
import { attackers, type Hands, pathOf } from "./stand.ts";

const account = "tenant";
const group = "rbac.authorization.k8s.io";
const apiVersion = `${group}/v1`;

/** The ClusterRole of a namespace's owner, beside `edit`. */
export const ownersRole = "rekindle-attack-owner";

const role = {
  ...{ apiVersion, kind: "ClusterRole", metadata: { name: ownersRole } },
  rules: [
    {
      apiGroups: ["sparkoperator.k8s.io", "batch.volcano.sh", "flow.volcano.sh", "bus.volcano.sh", "rekindle.dev"],
      ...{ resources: ["*"], verbs: ["*"] },
    },
    { apiGroups: ["scheduling.volcano.sh"], resources: ["*"], verbs: ["*"] },
    { apiGroups: [""], resources: ["pods/status", "pods/binding"], verbs: ["*"] },
    { apiGroups: [group], resources: ["roles", "rolebindings"], verbs: ["*"] },
  ],
};

const bindings = (namespace: string): readonly Obj[] =>
  ["edit", ownersRole].map((name) => ({
    ...{ apiVersion, kind: "RoleBinding", metadata: { name: `tenant-${name}`, namespace } },
    roleRef: { apiGroup: group, kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: attackers }],
  }));

const put = async ({ call }: Hands, object: Obj): Promise<void> => {
  const made = await call("POST", pathOf(object.kind, object.metadata.namespace), object);
  must(made.status === 201 || made.status === 409, `${object.kind}: ${answerOf(made)}`);
};

/** Creates a namespace that the tenant owns. */
export const owned = async (administrator: Hands, name: string): Promise<void> => {
  await put(administrator, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  for (const binding of bindings(name)) await put(administrator, binding);
};

/** Creates the tenant and its first namespace. Returns its requests. */
export const openTenant = async ({ api, kubeconfigOf }: Cluster): Promise<Hands> => {
  const metadata = { name: account, namespace: attackers };
  await put(api, role);
  await owned(api, attackers);
  await put(api, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  const { call } = await openApi(await kubeconfigOf(attackers, account));
  return { call };
};

/** Installs manifests, and an account with every right for a subject that ships none. */
import type { ControlPlane } from "../real/cluster/controlplane.ts";
import type { Accounts } from "./subject.ts";

export const apply = async (plane: ControlPlane, text: string): Promise<void> => {
  const { code, stderr } = await plane.kubectl(["apply", "--server-side", "-f", "-"], { input: text });
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
};

export const administrator = async (plane: ControlPlane, account: string): Promise<Accounts> => {
  const namespace = "default";
  const bound = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: account },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", namespace, name: account }],
  };
  await apply(
    plane,
    JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account, namespace } }),
  );
  await apply(plane, JSON.stringify(bound));
  return { namespace, accounts: [account] };
};

/** The overlays of `infra/kubernetes`, as `kubectl kustomize` prints them, for processes in place of pods. */
import * as z from "zod";
import type { ControlPlane } from "../cluster/controlplane.ts";
import { objectsIn } from "./accepted.ts";

export type Overlaid = ReturnType<typeof objectsIn>;

export const overlayOf = async (cluster: Pick<ControlPlane, "kubectl">, name: string): Promise<Overlaid> => {
  const { stdout } = await cluster.kubectl(["kustomize", `infra/kubernetes/overlays/${name}`]);
  return objectsIn(stdout);
};

const ofAccounts: ReadonlySet<string> = new Set([
  ...["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
]);

/** Returns the manifests of accounts and roles. */
export const accountsIn = (overlay: Overlaid): string =>
  overlay
    .filter(({ kind }) => ofAccounts.has(kind))
    .map((one) => JSON.stringify(one))
    .join("\n---\n");

const map = z.object({
  kind: z.literal("ConfigMap"),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()),
});

/** Returns the data of a ConfigMap: of the functions' settings, unless named. */
export const dataIn = (overlay: Overlaid, name = "rekindle-functions"): Readonly<Record<string, string>> => {
  const found = overlay.map((one) => map.safeParse(one).data).find((one) => one?.metadata.name === name);
  if (found === undefined) throw new Error(`the overlay has no ConfigMap ${name}`);
  return found.data;
};

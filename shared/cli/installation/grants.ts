/** Roles and their bindings, with Rekindle's names and labels. */
import type { Obj } from "../../core/object.ts";
import { ours } from "./marks.ts";
import type { Rule } from "./roles.ts";

const rbac = "rbac.authorization.k8s.io/v1";
/** Name of the host's service account. */
export const account = "rekindle";

export const named = (name: string, namespace?: string) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  labels: ours,
});

/** An account of the cluster, or a group that its logins name. */
export type Grantee = { readonly name: string; readonly namespace: string } | { readonly group: string };

const subject = (to: Grantee) =>
  "group" in to
    ? { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: to.group }
    : { kind: "ServiceAccount", name: to.name, namespace: to.namespace };

type Grant = {
  readonly name: string;
  /** Namespace; undefined: the whole cluster. */
  readonly within: string | undefined;
  readonly rules: readonly Rule[];
  readonly to: readonly Grantee[];
};

/** A role and its binding. */
export const grant = ({ name, within, rules, to }: Grant): readonly Obj[] => {
  const kind = within === undefined ? "ClusterRole" : "Role";
  return [
    { apiVersion: rbac, kind, metadata: named(name, within), rules },
    {
      apiVersion: rbac,
      kind: `${kind}Binding`,
      metadata: named(name, within),
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
      subjects: to.map(subject),
    },
  ];
};

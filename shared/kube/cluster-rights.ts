/**
 * Finds the service accounts that may write a kind in all namespaces, by the ClusterRoleBindings and ClusterRoles of
 * the cluster. Only an administrator grants such a right: the owner of a namespace grants rights in it alone.
 */
import { all, getIfAllowed, list, type Reads } from "../core/decision.ts";
import { isRecord } from "../core/json.ts";
import type { Obj, Resource, Stored } from "../core/object.ts";
import type { Projection } from "../core/plan.ts";
import type { Account, ClusterRight } from "./accounts.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const bindings: Resource = { ...rbac, plural: "clusterrolebindings", kind: "ClusterRoleBinding" };
const roles: Resource = { ...rbac, plural: "clusterroles", kind: "ClusterRole" };

const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

/** A subject of a binding as one text, so that many accounts are compared in one look at each. */
const subjectText = ({ kind, name, namespace }: Readonly<Record<string, unknown>>): string =>
  kind === "ServiceAccount" ? `ServiceAccount ${namespace}/${name}` : `${kind} ${name}`;

/** The subjects by which a binding may mean an account: itself, and the groups that every account of its namespace is in. */
const subjectsOf = ({ namespace, name }: Account): readonly string[] => [
  `ServiceAccount ${namespace}/${name}`,
  `User system:serviceaccount:${namespace}:${name}`,
  `Group system:serviceaccounts:${namespace}`,
  "Group system:serviceaccounts",
  "Group system:authenticated",
];

/** The name of the role that a binding grants. */
const roleOf = (binding: Obj): string => {
  const role = binding["roleRef"];
  return isRecord(role) ? String(role["name"] ?? "") : "";
};

/** Keeps the bindings of these subjects, without their other subjects. */
const ofSubjects =
  (wanted: ReadonlySet<string>): Projection =>
  ({ apiVersion, kind, metadata: { name, uid, resourceVersion }, ...binding }) => {
    const subjects = recordsIn(binding["subjects"]).filter((one) => wanted.has(subjectText(one)));
    if (subjects.length === 0) return undefined;
    return { apiVersion, kind, metadata: { name, uid, resourceVersion }, subjects, roleRef: binding["roleRef"] };
  };

const includes = (granted: readonly string[], wanted: readonly string[]): boolean =>
  granted.includes("*") || wanted.some((one) => granted.includes(one));

/** Adds the form that grants a subresource of every resource, as `*` + `/status`. */
const withEvery = (resources: readonly string[]): readonly string[] => [
  ...resources,
  ...resources.flatMap((one) => (one.includes("/") ? [`*/${one.split("/")[1] ?? ""}`] : [])),
];

const grants = (role: unknown, { group, resources, verbs }: ClusterRight): boolean =>
  isRecord(role) &&
  recordsIn(role["rules"]).some(
    (rule) =>
      textsIn(rule["resourceNames"]).length === 0 &&
      includes(textsIn(rule["apiGroups"]), [group]) &&
      includes(textsIn(rule["resources"]), withEvery(resources)) &&
      includes(textsIn(rule["verbs"]), verbs),
  );

/** Returns those of the accounts that have the right; none where this caller may not read bindings and roles. */
export function* withRight(accounts: readonly Account[], right: ClusterRight): Reads<readonly Account[]> {
  if (accounts.length === 0) return [];
  const wanted = new Set(accounts.flatMap(subjectsOf));
  const projecting = (): Projection => ofSubjects(wanted);
  const bound: readonly Stored[] = yield* list({
    ...{ do: "list", resource: bindings, namespace: "", labels: {}, spared: true, optional: true, projecting },
  });
  const names = [...new Set(bound.map(roleOf))];
  const answers = yield* all(names.map((name) => getIfAllowed({ resource: roles, name })));
  const granting = new Set(
    names.filter((_, at) => {
      const answer = answers[at];
      return answer?.heard === true && grants(answer.value, right);
    }),
  );
  const granted = new Set(
    bound
      .filter((one) => granting.has(roleOf(one)))
      .flatMap((one) => recordsIn(one["subjects"]).map((subject) => subjectText(subject))),
  );
  return accounts.filter((account) => subjectsOf(account).some((subject) => granted.has(subject)));
}

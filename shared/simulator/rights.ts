/** Role-based access control: decides by the stored roles and bindings. */
import { type Fields, fieldsAt, itemsAt, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import type { User } from "./people.ts";
import { keyOf, type Store } from "./store.ts";

/** An attempted action: on a resource, or on a path that is no resource. */
export type Wish = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly sub: string;
  readonly namespace: string;
  readonly name: string;
  /** Set for a path that is no resource. */
  readonly path?: string;
};

export type Decision = { readonly allowed: boolean; readonly reason: string };

const api = "rbac.authorization.k8s.io";

const listed = (rule: Fields, field: string, ...wanted: readonly string[]): boolean =>
  itemsAt(rule, field).some((item) => item === "*" || wanted.some((each) => each === item));

const pathMatches = (rule: Fields, path: string): boolean =>
  itemsAt(rule, "nonResourceURLs").some(
    (item) =>
      typeof item === "string" &&
      (item === "*" || item === path || (item.endsWith("*") && path.startsWith(item.slice(0, -1)))),
  );

const grants = (rule: Fields, { verb, group, resource, sub, name, path }: Wish): boolean => {
  if (!listed(rule, "verbs", verb)) return false;
  if (path !== undefined) return pathMatches(rule, path);
  const names = itemsAt(rule, "resourceNames");
  const wanted = sub === "" ? [resource] : [`${resource}/${sub}`, `*/${sub}`];
  return (
    listed(rule, "apiGroups", group) &&
    listed(rule, "resources", ...wanted) &&
    (names.length === 0 || names.includes(name))
  );
};

const names = (subject: unknown, { username, groups }: User, home: string): boolean => {
  const name = textAt(subject, "name") ?? "";
  const kind = textAt(subject, "kind");
  if (kind === "ServiceAccount")
    return username === `system:serviceaccount:${textAt(subject, "namespace") ?? home}:${name}`;
  return kind === "Group" ? groups.includes(name) : username === name;
};

const subjectText = (subject: unknown): string => {
  const space = textAt(subject, "namespace");
  return `${textAt(subject, "kind")} "${textAt(subject, "name")}${space === undefined ? "" : `/${space}`}"`;
};

type Bound = { readonly rules: readonly Fields[]; readonly reason: string; readonly missing: string | undefined };

const ruleList = (role: Item | undefined): readonly Fields[] => itemsAt(role, "rules").map((rule) => fieldsAt(rule));

const boundBy = (store: Store, binding: Item, user: User): Bound | undefined => {
  const { namespace = "", name } = binding.metadata;
  const subject = itemsAt(binding, "subjects").find((each) => names(each, user, namespace));
  if (subject === undefined) return undefined;
  const kind = textAt(binding, "roleRef", "kind") ?? "";
  const role = textAt(binding, "roleRef", "name") ?? "";
  const found =
    kind === "Role" ? store.get(`roles.${api}`, keyOf(namespace, role)) : store.get(`clusterroles.${api}`, role);
  const label = namespace === "" ? name : `${name}/${namespace}`;
  return {
    rules: ruleList(found),
    reason: `RBAC: allowed by ${binding.kind} "${label}" of ${kind} "${role}" to ${subjectText(subject)}`,
    missing: found === undefined ? `${kind.toLowerCase()}.${api} "${role}" not found` : undefined,
  };
};

const isBound = (bound: Bound | undefined): bound is Bound => bound !== undefined;

/** The rules that apply to a user in a namespace, cluster-wide ones first. */
export const boundTo = (store: Store, user: User, namespace: string): readonly Bound[] =>
  [
    ...store.list(`clusterrolebindings.${api}`),
    ...(namespace === ""
      ? []
      : store.list(`rolebindings.${api}`).filter(({ metadata }) => metadata.namespace === namespace)),
  ]
    .map((binding) => boundBy(store, binding, user))
    .filter(isBound);

const refusedFor = (all: readonly Bound[]): string => {
  const missing = all.flatMap((bound) => (bound.missing === undefined ? [] : [bound.missing]));
  if (missing.length === 0) return "";
  return `RBAC: ${missing.length === 1 ? missing[0] : `[${missing.join(", ")}]`}`;
};

/** Decides whether a user may do the action, and gives the reason. */
export const decide = (store: Store, user: User, wish: Wish): Decision => {
  if (user.groups.includes("system:masters")) return { allowed: true, reason: "" };
  const all = boundTo(store, user, wish.namespace);
  const found = all.find(({ rules }) => rules.some((rule) => grants(rule, wish)));
  return found === undefined ? { allowed: false, reason: refusedFor(all) } : { allowed: true, reason: found.reason };
};

/** Authentication and role-based access control in front of each request, where rights are kept; and reviews of rights and
 * identity. */

import { kindNamed } from "../schema/kinds.ts";
import { at, type Fields, fieldsAt, itemsAt, parsed, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { cause, forbidden, invalid, Refusal } from "../storage/refusal.ts";
import { keyOf, type Store } from "../storage/store.ts";
import {
  type ApiRequest,
  bearerOf,
  type Place,
  placeOf,
  type Server,
  targetOf,
  type User,
  userOf,
} from "../verbs/request.ts";
import type { Result } from "./answer.ts";

/** An attempted action: on a resource, or on a path that is no resource. */
export type AccessReview = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly sub: string;
  readonly namespace: string;
  readonly name: string;
  /** Set for a path that is no resource. */
  readonly path?: string;
};

type Decision = { readonly allowed: boolean; readonly reason: string };

const api = "rbac.authorization.k8s.io";

const listed = (rule: Fields, field: string, ...wanted: readonly string[]): boolean =>
  itemsAt(rule, field).some((item) => item === "*" || wanted.some((each) => each === item));

const pathMatches = (rule: Fields, path: string): boolean =>
  itemsAt(rule, "nonResourceURLs").some(
    (item) =>
      typeof item === "string" &&
      (item === "*" || item === path || (item.endsWith("*") && path.startsWith(item.slice(0, -1)))),
  );

const grants = (rule: Fields, { verb, group, resource, sub, name, path }: AccessReview): boolean => {
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
const boundTo = (store: Store, user: User, namespace: string): readonly Bound[] =>
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
const decide = (store: Store, user: User, access: AccessReview): Decision => {
  if (user.groups.includes("system:masters")) return { allowed: true, reason: "" };
  const all = boundTo(store, user, access.namespace);
  const found = all.find(({ rules }) => rules.some((rule) => grants(rule, access)));
  return found === undefined ? { allowed: false, reason: refusedFor(all) } : { allowed: true, reason: found.reason };
};

/** The reason why a user may not make an owner wait; undefined: it may. */
const whyNot = ({ store }: Server, user: User, owner: unknown, within: string): string | undefined => {
  const version = textAt(owner, "apiVersion") ?? "";
  const name = textAt(owner, "kind") ?? "";
  const kind = kindNamed(store, version, name);
  if (kind === undefined)
    return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${version} Kind ${name}: no matches for kind "${name}" in version "${version}"`;
  const { group, plural, namespaced } = kind;
  const access = { verb: "update", group, resource: plural, sub: "finalizers", name: textAt(owner, "name") ?? "" };
  const { allowed, reason } = decide(store, user, { ...access, namespace: namespaced ? within : "" });
  return allowed
    ? undefined
    : `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`;
};

/** Throws when a new object blocks the deletion of an owner whose finalizers its creator may not set. */
const guardOwners = (server: Server, user: User, request: ApiRequest, access: AccessReview): void => {
  if (request.method !== "POST" || access.sub !== "" || access.path !== undefined) return;
  const body = parsed(request.body ?? "");
  const { group, resource } = access;
  for (const owner of itemsAt(body, "metadata", "ownerReferences")) {
    if (at(owner, "blockOwnerDeletion") !== true) continue;
    const why = whyNot(server, user, owner, access.namespace);
    if (why !== undefined)
      throw forbidden({ group, plural: resource, kind: "" }, textAt(body, "metadata", "name") ?? "", why);
  }
};

/** Throws when a request may not pass. */
export type Gate = (request: ApiRequest) => void;

const onOne: Readonly<Record<string, string>> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
const onMany: Readonly<Record<string, string>> = { GET: "list", POST: "create", DELETE: "deletecollection" };

const isTrue = (text: string | null): boolean => text === "true" || text === "1";

/** A list that selects one name counts as a request for that name. */
const selectedName = (query: URLSearchParams): string =>
  /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1] ?? "";

const verbOf = (method: string, { name }: Place, query: URLSearchParams): string => {
  if (name === undefined && method === "GET" && isTrue(query.get("watch"))) return "watch";
  return (name === undefined ? onMany : { ...onOne, POST: "create" })[method] ?? method.toLowerCase();
};

/** The verb and the resource or path of a request. */
export const reviewOf = ({ method, path }: ApiRequest): AccessReview => {
  const [bare = "", search] = path.split("?");
  const place = placeOf(bare);
  const none = { group: "", resource: "", sub: "", namespace: "", name: "" };
  if (place === undefined) return { ...none, verb: method.toLowerCase(), path: bare };
  const query = new URLSearchParams(search);
  const { group, plural, name, sub = "", namespace } = place;
  const isSpace = group === "" && plural === "namespaces";
  return {
    verb: verbOf(method, place, query),
    group,
    resource: plural,
    sub,
    namespace: namespace ?? (isSpace ? (name ?? "") : ""),
    name: name ?? (method === "POST" ? "" : selectedName(query)),
  };
};

const words = ({ verb, group, resource, sub, namespace, path }: AccessReview, { username }: User): string => {
  if (path !== undefined) return `User "${username}" cannot ${verb} path "${path}"`;
  const what = sub === "" ? resource : `${resource}/${sub}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return `User "${username}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
};

const refusalOf = (access: AccessReview, user: User, reason: string): Refusal => {
  const said = `${words(access, user)}${reason === "" ? "" : `: ${reason}`}`;
  if (access.path !== undefined) return new Refusal(403, "Forbidden", `forbidden: ${said}`, {});
  return forbidden({ group: access.group, plural: access.resource, kind: "" }, access.name, said);
};

const demand = ({ store }: Server, user: User, access: AccessReview): void => {
  const { allowed, reason } = decide(store, user, access);
  if (!allowed) throw refusalOf(access, user, reason);
};

/** A PUT or an apply that creates its object needs the right to create, too. */
const demandCreation = (server: Server, user: User, request: ApiRequest, access: AccessReview): void => {
  const applies = request.method === "PATCH" && (request.headers["content-type"] ?? "").includes("apply-patch");
  if ((request.method !== "PUT" && !applies) || access.sub !== "") return;
  const target = targetOf(server.store, request.path.split("?")[0] ?? "");
  if (target === undefined || (!applies && !target.kind.createdByPut)) return;
  if (server.store.get(target.kind.table, keyOf(target.namespace, target.name ?? "")) === undefined)
    demand(server, user, { ...access, verb: "create" });
};

/** The gate of a cluster that keeps rights. */
export const gateOf =
  (server: Server, guardsOwners: boolean): Gate =>
  (request) => {
    const user = userOf(server, request);
    if (user.groups.includes("system:masters")) return;
    const access = reviewOf(request);
    demand(server, user, access);
    demandCreation(server, user, request, access);
    if (guardsOwners) guardOwners(server, user, request, access);
  };

type Review = (server: Server, spec: Fields, user: User) => { readonly status: unknown; readonly spec?: unknown };

const text = (spec: Fields, ...path: readonly string[]): string => textAt(spec, ...path) ?? "";

/** The verb and the resource or path that a review asks about. */
const reviewIn = (spec: Fields): AccessReview => {
  const resource = at(spec, "resourceAttributes");
  const other = at(spec, "nonResourceAttributes");
  if ((resource === undefined) === (other === undefined))
    throw invalid({ group: "authorization.k8s.io", plural: "", kind: "" }, "", [
      cause.invalid(
        resource === undefined ? "spec.resourceAttributes" : "spec.nonResourceAttributes",
        resource === undefined ? null : other,
        resource === undefined
          ? "exactly one of nonResourceAttributes or resourceAttributes must be specified"
          : "cannot be specified in combination with resourceAttributes",
      ),
    ]);
  const none = { group: "", resource: "", sub: "", namespace: "", name: "" };
  if (resource === undefined)
    return {
      ...none,
      verb: text(spec, "nonResourceAttributes", "verb"),
      path: text(spec, "nonResourceAttributes", "path"),
    };
  const field = (name: string): string => text(spec, "resourceAttributes", name);
  return {
    verb: field("verb"),
    group: field("group"),
    resource: field("resource"),
    sub: field("subresource"),
    namespace: field("namespace"),
    name: field("name"),
  };
};

const shown = ({ allowed, reason }: Decision) => ({ allowed, ...(reason !== "" && { reason }) });

const decided = (server: Server, user: User, access: AccessReview) =>
  shown(server.rbac ? decide(server.store, user, access) : { allowed: true, reason: "" });

const named = (spec: Fields): User => ({
  username: text(spec, "user"),
  groups: itemsAt(spec, "groups").filter((item): item is string => typeof item === "string"),
});

const everything = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
const everywhere = [{ verbs: ["*"], nonResourceURLs: ["*"] }];

const rulesOf = (server: Server, user: User, namespace: string) => {
  if (!server.rbac || user.groups.includes("system:masters"))
    return { resourceRules: everything, nonResourceRules: everywhere, incomplete: false };
  const rules = boundTo(server.store, user, namespace).flatMap((bound) => bound.rules);
  return {
    resourceRules: rules.filter((rule) => itemsAt(rule, "resources").length > 0),
    nonResourceRules: rules.filter((rule) => itemsAt(rule, "nonResourceURLs").length > 0),
    incomplete: false,
  };
};

const userInfo = (user: User) => ({ userInfo: user });

const reviews: Readonly<Record<string, Review>> = {
  "authorization.k8s.io/v1/selfsubjectaccessreviews": (server, spec, user) => ({
    status: decided(server, user, reviewIn(spec)),
  }),
  "authorization.k8s.io/v1/subjectaccessreviews": (server, spec) => ({
    status: decided(server, named(spec), reviewIn(spec)),
  }),
  "authorization.k8s.io/v1/selfsubjectrulesreviews": (server, spec, user) => ({
    status: rulesOf(server, user, text(spec, "namespace")),
    spec: {},
  }),
  "authentication.k8s.io/v1/selfsubjectreviews": (_server, _spec, user) => ({ status: userInfo(user) }),
  "authentication.k8s.io/v1/tokenreviews": (server, spec) => {
    const user = bearerOf(server, text(spec, "token"));
    return {
      status:
        user === undefined
          ? { authenticated: false, user: {}, error: "invalid bearer token" }
          : { authenticated: true, user },
    };
  },
};

/** The answer to a review; undefined when the request is none. */
export const review = (server: Server, request: ApiRequest, path: string): Result | undefined => {
  const key = path.replace("/apis/", "");
  const act = request.method === "POST" && Object.hasOwn(reviews, key) ? reviews[key] : undefined;
  if (act === undefined) return undefined;
  const body = parsed(request.body ?? "");
  const given = fieldsAt(body, "spec");
  const { status, spec = given } = act(server, given, userOf(server, request));
  const { kind, apiVersion } = fieldsAt(body);
  const about = Object.keys(fieldsAt(spec)).length > 0 || key.startsWith("authorization") ? { spec } : {};
  return { status: 201, text: JSON.stringify({ kind, apiVersion, metadata: {}, ...about, status }) };
};

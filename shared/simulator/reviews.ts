/** Reviews of rights and identity: answered by roles and bindings where rights are kept, else all is allowed. */

import type { Ask } from "./ask.ts";
import type { Result } from "./call.ts";
import { at, type Fields, fieldsAt, itemsAt, parsed, textAt } from "./json.ts";
import { bearerOf, type User, userOf } from "./people.ts";
import { cause, invalid } from "./refusal.ts";
import { boundTo, type Decision, decide, type Wish } from "./rights.ts";
import type { Server } from "./server.ts";

type Review = (server: Server, spec: Fields, user: User) => { readonly status: unknown; readonly spec?: unknown };

const text = (spec: Fields, ...path: readonly string[]): string => textAt(spec, ...path) ?? "";

/** The verb and the resource or path that a review asks about. */
const wishIn = (spec: Fields): Wish => {
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

const decided = (server: Server, user: User, wish: Wish) =>
  shown(server.rbac ? decide(server.store, user, wish) : { allowed: true, reason: "" });

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
    status: decided(server, user, wishIn(spec)),
  }),
  "authorization.k8s.io/v1/subjectaccessreviews": (server, spec) => ({
    status: decided(server, named(spec), wishIn(spec)),
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
export const review = (server: Server, ask: Ask, path: string): Result | undefined => {
  const key = path.replace("/apis/", "");
  const act = ask.method === "POST" && Object.hasOwn(reviews, key) ? reviews[key] : undefined;
  if (act === undefined) return undefined;
  const asked = parsed(ask.body ?? "");
  const given = fieldsAt(asked, "spec");
  const { status, spec = given } = act(server, given, userOf(server, ask));
  const { kind, apiVersion } = fieldsAt(asked);
  const about = Object.keys(fieldsAt(spec)).length > 0 || key.startsWith("authorization") ? { spec } : {};
  return { status: 201, text: JSON.stringify({ kind, apiVersion, metadata: {}, ...about, status }) };
};

/** The gate in front of the door where rights are kept: authentication, authorisation, and the check of owners. */
import type { Ask } from "./ask.ts";
import { guardOwners } from "./owners.ts";
import { type User, userOf } from "./people.ts";
import { forbidden, Refusal } from "./refusal.ts";
import { decide, type Wish } from "./rights.ts";
import { type Place, placeOf, targetOf } from "./route.ts";
import type { Server } from "./server.ts";
import { keyOf } from "./store.ts";

/** Throws when a request may not pass. */
export type Gate = (ask: Ask) => void;

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
export const wishOf = ({ method, path }: Ask): Wish => {
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

const words = ({ verb, group, resource, sub, namespace, path }: Wish, { username }: User): string => {
  if (path !== undefined) return `User "${username}" cannot ${verb} path "${path}"`;
  const what = sub === "" ? resource : `${resource}/${sub}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return `User "${username}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
};

const refusalOf = (wish: Wish, user: User, reason: string): Refusal => {
  const said = `${words(wish, user)}${reason === "" ? "" : `: ${reason}`}`;
  if (wish.path !== undefined) return new Refusal(403, "Forbidden", `forbidden: ${said}`, {});
  return forbidden({ group: wish.group, plural: wish.resource, kind: "" }, wish.name, said);
};

const demand = ({ store }: Server, user: User, wish: Wish): void => {
  const { allowed, reason } = decide(store, user, wish);
  if (!allowed) throw refusalOf(wish, user, reason);
};

/** A PUT or an apply that creates its object needs the right to create, too. */
const demandCreation = (server: Server, user: User, ask: Ask, wish: Wish): void => {
  const applies = ask.method === "PATCH" && (ask.headers["content-type"] ?? "").includes("apply-patch");
  if ((ask.method !== "PUT" && !applies) || wish.sub !== "") return;
  const target = targetOf(server.store, ask.path.split("?")[0] ?? "");
  if (target === undefined || (!applies && !target.kind.createdByPut)) return;
  if (server.store.get(target.kind.table, keyOf(target.namespace, target.name ?? "")) === undefined)
    demand(server, user, { ...wish, verb: "create" });
};

/** The gate of a cluster that keeps rights. */
export const gateOf =
  (server: Server, guardsOwners: boolean): Gate =>
  (ask) => {
    const user = userOf(server, ask);
    if (user.groups.includes("system:masters")) return;
    const wish = wishOf(ask);
    demand(server, user, wish);
    demandCreation(server, user, ask, wish);
    if (guardsOwners) guardOwners(server, user, ask, wish);
  };

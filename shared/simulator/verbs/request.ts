/** A request with its context: the server's store and clock, the target that the path names, and the user who sends it. */

import { hash } from "node:crypto";
import { builtIn, type Kind, kindAt } from "../schema/kinds.ts";
import type { Share } from "../schema/shapes.ts";
import { type Clock, stamp } from "../storage/clock.ts";
import { numberAt, parsed, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { badRequest, notFound, Refusal } from "../storage/refusal.ts";
import { keyOf, type Store } from "../storage/store.ts";
import type { Admit } from "./webhooks.ts";

/** A request to the API. */
export type ApiRequest = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

export type Server = {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes identities differ between two simulators. */
  readonly seed: string;
  /** Field ownership is written into metadata.managedFields. */
  readonly managedFields: boolean;
  /** Roles and bindings decide about requests. */
  readonly rbac: boolean;
  /** Calls admission webhooks; undefined: none is called. */
  readonly admit: Admit | undefined;
};

/** The target of a request. */
export type Target = {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly sub: string | undefined;
  /** The path behind the subresource, which a proxy passes on. */
  readonly rest: string;
};

/** The options that writes share. */
export type WriteOptions = {
  readonly dryRun: boolean;
  readonly manager: string;
  readonly strict: "Strict" | "Warn" | "Ignore";
  readonly subresource?: string | undefined;
  /** The request, which tells its user. */
  readonly request?: ApiRequest;
  /** The ownership after a server-side apply. */
  readonly shares?: readonly Share[];
  /** The grace of a deletion, as webhooks are told it. */
  readonly graceSeconds?: number | undefined;
  /** True for an object of a collection that is deleted: webhooks are told no name. */
  readonly isUnnamed?: boolean;
};

export const timeOf = (server: Server): string => stamp(server.clock.now());

/** The UID of the object that the next write creates: the same history gives the same UID. */
export const nextUid = ({ seed, store }: Server): string => {
  const hex = hash("sha1", `${seed}/${store.revision() + 1}`);
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A suffix of five characters, as in generated names. */
export const suffixOf = (uid: string): string => {
  const digits = uid.replaceAll("-", "");
  return [0, 1, 2, 3, 4]
    .map((i) => alphabet[Number.parseInt(digits.slice(i * 4, i * 4 + 4), 16) % alphabet.length])
    .join("");
};

export const found = ({ store }: Server, { kind, namespace, name = "" }: Target): Item => {
  const item = store.get(kind.table, keyOf(namespace, name));
  if (item === undefined) throw notFound(kind, name);
  return item;
};

type Api = { readonly group: string; readonly version: string; readonly parts: readonly string[] };

const decoded = (part: string): string => {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`invalid URL escape in "${part}"`);
  }
};

const apiOf = (path: string): Api | undefined => {
  const [, root, ...rest] = path.split("/");
  const parts = rest.filter((part) => part !== "").map(decoded);
  if (root === "api")
    return parts.length > 1 ? { group: "", version: parts[0] ?? "", parts: parts.slice(1) } : undefined;
  if (root !== "apis" || parts.length < 3) return undefined;
  return { group: parts[0] ?? "", version: parts[1] ?? "", parts: parts.slice(2) };
};

const namespaceSubresources = new Set(["status", "finalize"]);

/** True for a path inside a namespace, false for the namespace itself. */
const isInside = ([first, , third]: readonly string[]): boolean =>
  first === "namespaces" && third !== undefined && !namespaceSubresources.has(third);

/** The parts of a resource path, whether its kind is served or not. */
export type Place = Omit<Target, "kind"> & {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
};

export const placeOf = (path: string): Place | undefined => {
  const api = apiOf(path);
  if (api === undefined) return undefined;
  const inside = isInside(api.parts);
  const namespace = inside ? api.parts[1] : undefined;
  const [plural = "", name, sub, ...rest] = inside ? api.parts.slice(2) : api.parts;
  return { group: api.group, version: api.version, plural, namespace, name, sub, rest: rest.join("/") };
};

/** The target of a resource path; undefined for another path, and for a kind that is not served. */
export const targetOf = (store: Store, path: string): Target | undefined => {
  const place = placeOf(path);
  if (place === undefined) return undefined;
  const { group, version, plural, namespace, name, sub, rest } = place;
  const kind = kindAt(store, group, version, plural);
  if (kind === undefined || (namespace !== undefined && !kind.namespaced)) return undefined;
  return { kind, namespace, name, sub, rest };
};

const groups = new Set(builtIn.map(({ group, version }) => `${group}/${version}`));

/** Whether a path lies in a group that is built in. */
export const isBuiltInGroup = (path: string): boolean => {
  const api = apiOf(path);
  return api !== undefined && groups.has(`${api.group}/${api.version}`);
};

/** Whether a path has the form of a resource path, served or not. */
export const isResourcePath = (path: string): boolean => apiOf(path) !== undefined;

export type User = {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
};

export const administrator: User = { username: "simulator", groups: ["system:masters", "system:authenticated"] };

const mark = "simulated.";

/** The token in the simulator's own kubeconfig. */
export const ownToken = "simulator";

/** A token for a service account until an epoch second. */
export const tokenFor = ({ metadata: { namespace, name, uid } }: Item, until: number): string =>
  `${mark}${Buffer.from(JSON.stringify({ namespace, name, uid, until })).toString("base64url")}`;

const accountUser = (namespace: string, name: string, uid?: string): User => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  ...(uid !== undefined && { uid }),
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
});

/** The user of a token; undefined for an invalid or expired token. */
export const bearerOf = ({ store, clock }: Server, token: string): User | undefined => {
  if (token === ownToken) return administrator;
  if (!token.startsWith(mark)) return undefined;
  const claims = parsed(Buffer.from(token.slice(mark.length), "base64url").toString("utf8"));
  const namespace = textAt(claims, "namespace") ?? "";
  const name = textAt(claims, "name") ?? "";
  const account = store.get("serviceaccounts", keyOf(namespace, name));
  const over = (numberAt(claims, "until") ?? 0) * 1000 <= clock.now();
  if (over || account === undefined || account.metadata.uid !== textAt(claims, "uid")) return undefined;
  return accountUser(namespace, name, account.metadata.uid);
};

const isAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The user whom an administrator impersonates (`kubectl --as`). */
const impersonated = (headers: ApiRequest["headers"]): User | undefined => {
  const username = headers["impersonate-user"];
  if (username === undefined) return undefined;
  const [, namespace, name] = isAccount.exec(username) ?? [];
  if (namespace !== undefined && name !== undefined) return accountUser(namespace, name);
  const groups = (headers["impersonate-group"] ?? "").split(",").map((group) => group.trim());
  return { username, groups: [...groups.filter((group) => group !== ""), "system:authenticated"] };
};

/** The user of a request, or the one that it impersonates. Throws for an invalid token where rights are kept. */
export const userOf = (server: Server, request: ApiRequest): User => {
  const user = ownUserOf(server, request);
  return user.groups.includes("system:masters") ? (impersonated(request.headers) ?? user) : user;
};

const ownUserOf = (server: Server, { headers }: ApiRequest): User => {
  const [, token] = /^Bearer\s+(.+)$/i.exec(headers["authorization"] ?? "") ?? [];
  if (token === undefined) return administrator;
  const user = bearerOf(server, token);
  if (user === undefined && !server.rbac) return administrator;
  if (user === undefined) throw new Refusal(401, "Unauthorized", "Unauthorized");
  return user;
};

/** Parses the path of a request: group, version, namespace, resource, name and subresource. */
import { kindAt } from "./crds.ts";
import { builtIn } from "./kinds.ts";
import { badRequest } from "./refusal.ts";
import type { Target } from "./server.ts";
import type { Store } from "./store.ts";

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

/** Reads where a request points: group, version, namespace, resource, name and subresource of a path. */
import { kindAt } from "./crds.ts";
import { builtIn } from "./kinds.ts";
import { badRequest } from "./refusal.ts";
import type { Target } from "./server.ts";
import type { Store } from "./store.ts";

type Api = { readonly group: string; readonly version: string; readonly parts: readonly string[] };

const decoded = (part: string): string => {
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

/** A namespace's content, as opposed to the namespace itself. */
const isInside = ([first, , third]: readonly string[]): boolean =>
  first === "namespaces" && third !== undefined && !namespaceSubresources.has(third);

/** The target of a resource path; undefined when it is no resource path or nothing is served there. */
export const targetOf = (store: Store, path: string): Target | undefined => {
  const api = apiOf(path);
  if (api === undefined) return undefined;
  const inside = isInside(api.parts);
  const namespace = inside ? api.parts[1] : undefined;
  const [plural = "", name, sub, ...rest] = inside ? api.parts.slice(2) : api.parts;
  const kind = kindAt(store, api.group, api.version, plural);
  if (kind === undefined || (inside && !kind.namespaced)) return undefined;
  return { kind, namespace, name, sub, rest: rest.join("/") };
};

const groups = new Set(builtIn.map(({ group, version }) => `${group}/${version}`));

/** Whether a path lies in a group that is built in. */
export const isBuiltInGroup = (path: string): boolean => {
  const api = apiOf(path);
  return api !== undefined && groups.has(`${api.group}/${api.version}`);
};

/** Whether a path asks for resources at all, served or not. */
export const isResourcePath = (path: string): boolean => apiOf(path) !== undefined;

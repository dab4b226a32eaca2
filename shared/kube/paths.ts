/**
 * Request paths of resources and objects in the API, with every segment made safe for a URL, and pages of a list that
 * fit into an answer.
 */
import { ApiError } from "../core/http.ts";
import type { Ref, Resource } from "../core/object.ts";

/** Returns one path segment. Names that a URL would drop or resolve are refused before the request. */
const segment = (text: string): string => {
  if (text === "" || text === "." || text === "..") {
    throw new ApiError({ status: 422, reason: "Invalid", message: `${JSON.stringify(text)} is not a name` });
  }
  return encodeURIComponent(text.toWellFormed());
};

/**
 * Returns the path of a resource's objects: of one namespace, or of all and cluster-scoped ones for "" or undefined.
 */
export const collectionPath = (resource: Resource, namespace?: string): string => {
  const root =
    resource.group === ""
      ? `/api/${segment(resource.version)}`
      : `/apis/${segment(resource.group)}/${segment(resource.version)}`;
  const within = namespace === undefined || namespace === "" ? "" : `/namespaces/${segment(namespace)}`;
  return `${root}${within}/${segment(resource.plural)}`;
};

/** Returns the path of one object, or of its subresource. */
export const objectPath = (ref: Ref, subresource?: string): string =>
  `${collectionPath(ref.resource, ref.namespace)}/${segment(ref.name)}${subresource === undefined ? "" : `/${subresource}`}`;

/** Returns the path of a port of a pod behind the API server's proxy. An empty last part ends it with a slash. */
export const proxyPath = (pod: Ref, port: number, path: readonly string[]): string => {
  const parts = path.map((part, at) => (part === "" && at > 0 && at === path.length - 1 ? "" : segment(part)));
  return [objectPath({ ...pod, name: `${pod.name}:${port}` }, "proxy"), ...parts].join("/");
};

/** Returns the path with its query; parameters that are undefined are left out. */
export const withQuery = (path: string, parameters: Readonly<Record<string, string | undefined>>): string => {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value.toWellFormed())}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
};

/** Returns a selector that requires all of the labels; undefined if there are none. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string | undefined => {
  const terms = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return terms.length === 0 ? undefined : terms.join(",");
};

/** Asks for a page of this many objects. */
type GetPage<T> = (size: number) => Promise<T>;

/** The divisor of a page's size after a page was too long. */
const shrinking = 8;

const isTooLong = (cause: unknown): boolean => cause instanceof ApiError && cause.reason === "TooLong";

/** Asks for pages of one list. After one that was too long, all later ones are smaller, so one is read in vain. */
export const openPaging = (largest: number): (<T>(getPage: GetPage<T>) => Promise<T>) => {
  let size = largest;
  const fitting = <T>(getPage: GetPage<T>): Promise<T> =>
    getPage(size).catch((cause: unknown) => {
      if (!isTooLong(cause) || size <= 1) throw cause;
      size = Math.ceil(size / shrinking);
      return fitting(getPage);
    });
  return fitting;
};

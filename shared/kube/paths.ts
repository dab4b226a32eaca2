/**
 * Request paths of resources and objects in the API, with every segment made safe for a URL, and pages of a list that
 * fit into an answer.
 */
import { forgetOldest } from "../core/cache.ts";
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

/** A selector that requires all of the labels; "" if there are none. */
export const selectorText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");

/** The same; undefined if there are none. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(labels).length === 0 ? undefined : selectorText(labels);

/** Asks for a page of this many objects and, unless the page has one object, at most this many bytes. */
type GetPage<T> = (size: number, limitBytes: number | undefined) => Promise<T>;

/** The most text of a page of several objects, bytes: a page is parsed at once, and the event loop waits for it. */
const pageBytes = 6 * 1_024 * 1_024;

/** The size of the first page of a list that is read again and again, as long as nothing is known of it. */
const firstSize = 64;

/** The divisor of a page's size after a page was too long. */
const shrinking = 8;

/** The factor by which pages grow while there is room for twice that. */
const growing = 2;

/** The number of lists whose size of a page is remembered. */
const mostLists = 1_000;

const isTooLong = (cause: unknown): boolean => cause instanceof ApiError && cause.reason === "TooLong";

/**
 * Asks for pages of one list. Pages grow while they are short: the server makes the whole of a page that is too long, and
 * in vain. After one that was too long, all later ones of the list are smaller. `sizes` remembers for the next list at
 * this path the size that fitted; without it a list begins with the largest.
 */
export const openPaging = (
  largest: number,
  path = "",
  sizes?: Map<string, number>,
): (<T extends { readonly body: string }>(getPage: GetPage<T>) => Promise<T>) => {
  let most = largest;
  let size = sizes === undefined ? largest : (sizes.get(path) ?? Math.min(largest, firstSize));
  const fitted = ({ body }: { readonly body: string }): void => {
    if (body.length * 2 * growing <= pageBytes) size = Math.min(most, size * growing);
    if (sizes === undefined) return;
    sizes.delete(path);
    sizes.set(path, size);
    forgetOldest(sizes, mostLists);
  };
  const fitting = <T extends { readonly body: string }>(getPage: GetPage<T>): Promise<T> =>
    getPage(size, size === 1 ? undefined : pageBytes).then(
      (page) => {
        fitted(page);
        return page;
      },
      (cause: unknown) => {
        if (!isTooLong(cause) || size <= 1) throw cause;
        size = Math.ceil(size / shrinking);
        most = size;
        return fitting(getPage);
      },
    );
  return fitting;
};

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

/** The size of the first page of a list of all namespaces: the objects of one of them may be large. */
const firstOfAll = 16;

/** The factor by which pages grow while there is room for twice that. */
const growing = 4;

/** The number of lists whose size of a page is remembered. */
const mostLists = 1_000;

/** The pages of a list: the size of the last one, in objects; the largest size that may fit; the text of the longest one, bytes. */
export type PageSize = { readonly size: number; readonly most: number; readonly longest: number };

const isFor = (cause: unknown, reason: string): boolean => cause instanceof ApiError && cause.reason === reason;

const isShort = (bytes: number): boolean => bytes * 2 * growing <= pageBytes;

const smaller = (size: number): number => Math.ceil(size / shrinking);

/**
 * Asks for pages of one list. Pages grow while they are short: the server makes the whole of a page that is too long, and
 * in vain. After one that was too long, all later ones of the list are smaller, and those of the next list grow only if
 * no page of this one was long. `sizes` remembers for the next list at this path the size that fitted, and after a
 * timeout a smaller one; without it a list begins with the largest. `isOfAll`: of all namespaces.
 */
export const openPaging = (
  largest: number,
  path = "",
  sizes?: Map<string, PageSize>,
  isOfAll = false,
): (<T extends { readonly body: string }>(getPage: GetPage<T>) => Promise<T>) => {
  const known = sizes?.get(path) ?? { size: sizes === undefined ? largest : firstSize, most: largest, longest: 0 };
  let most = Math.min(largest, isShort(known.longest) ? known.most * growing : known.most);
  let size = Math.min(most, known.size, isOfAll ? firstOfAll : largest);
  let longest = 0;
  let last: number | undefined;
  const remember = (next: number): void => {
    if (sizes === undefined) return;
    sizes.delete(path);
    sizes.set(path, { size: next, most, longest });
    forgetOldest(sizes, mostLists);
  };
  const fitting = <T extends { readonly body: string }>(getPage: GetPage<T>): Promise<T> =>
    getPage(size, size === 1 ? undefined : pageBytes).then(
      (page) => {
        last = page.body.length;
        longest = Math.max(longest, last);
        remember(size);
        return page;
      },
      (cause: unknown) => {
        if (isFor(cause, "Timeout")) remember(smaller(size));
        if (!isFor(cause, "TooLong") || size <= 1) throw cause;
        size = smaller(size);
        most = size;
        longest = pageBytes;
        return fitting(getPage);
      },
    );
  return (getPage) => {
    if (last !== undefined && isShort(last)) size = Math.min(most, size * growing);
    return fitting(getPage);
  };
};

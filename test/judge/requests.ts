/** The meaning of a request to an API server, from its method and path alone; its body is never read. */

export type Request = {
  readonly method: string;
  /** The resource, with its subresource: `pods`, `jobs/status`. */
  readonly resource: string;
  /** Empty for a request without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly isWatch: boolean;
  /** A write, other than of leases and events, which say nothing about work. */
  readonly isWrite: boolean;
  /** A list that accepts an old state, as `resourceVersion=0` says. */
  readonly isAnyList: boolean;
};

const aside = new Set(["leases", "events", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews"]);
const writes = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Splits the path below the version: `[namespaces/NS/]RESOURCE[/NAME[/SUB]]`. */
const placeOf = (parts: readonly string[]): Pick<Request, "namespace" | "resource" | "name"> => {
  const [first = "", second = "", third] = parts;
  const isInside = first === "namespaces" && third !== undefined;
  const [resource = "", name = "", sub] = isInside ? parts.slice(2) : parts;
  return { namespace: isInside ? second : "", name, resource: sub === undefined ? resource : `${resource}/${sub}` };
};

export const readRequest = (method: string, url: string): Request => {
  const { pathname, searchParams } = new URL(url, "https://api");
  const parts = pathname.split("/").filter((part) => part !== "");
  const place = placeOf(parts.slice(parts[0] === "api" ? 2 : 3));
  const isWatch = method === "GET" && ["true", "1"].includes(searchParams.get("watch") ?? "");
  const isList = method === "GET" && !isWatch && place.name === "" && place.resource !== "";
  return {
    method,
    ...place,
    isWatch,
    isWrite: writes.has(method) && !aside.has(place.resource),
    isAnyList: isList && searchParams.get("resourceVersion") === "0" && !searchParams.has("continue"),
  };
};

/** The name of a request's kind in points: `POST pods`, `PATCH jobs/status`. */
export const patternOf = ({ method, resource }: Request): string => `${method} ${resource}`;

/** The HTTP API in front of functions: their routes as the template has them, and 404 for everything else. */

import type { Lambda } from "../lambda/pool.ts";
import { type FunctionUrl, openDoor } from "../lambda/url.ts";
import type { RouteSource } from "./sources.ts";

export type Route = RouteSource & { readonly lambda: Lambda };

/** `{proxy+}` takes all that is left, `{name}` one part. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/\{[a-z]+\+\}/g, ".+").replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`);

/** A route that takes fewer paths goes before one that takes more. */
const generality = ({ path }: Route): number => (path.match(/\{/g) ?? []).length;

/** Whose route it is; undefined when it is nobody's. */
export const routeOf = (routes: readonly Route[], method: string, path: string): Route | undefined =>
  routes
    .filter((route) => route.method === method && patternOf(route.path).test(path))
    .sort((a, b) => generality(a) - generality(b))[0];

export const openHttpApi = (routes: readonly Route[]): Promise<FunctionUrl> =>
  openDoor((method, path) => {
    const route = routeOf(routes, method, path);
    return route === undefined ? undefined : { lambda: route.lambda, key: `${route.method} ${route.path}` };
  });

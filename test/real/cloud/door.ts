/** The HTTP API in front of functions: the routes of the template, and 404 for everything else. */

import type { Lambda } from "../lambda/pool.ts";
import { type FunctionUrl, openDoor } from "../lambda/url.ts";
import type { RouteSource } from "./sources.ts";

export type Route = RouteSource & { readonly lambda: Lambda };

/** `{proxy+}` matches the rest of the path, `{name}` one part. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/\{[a-z]+\+\}/g, ".+").replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`);

/** A route that matches fewer paths precedes one that matches more. */
const generality = ({ path }: Route): number => (path.match(/\{/g) ?? []).length;

/** Returns the route of a request; undefined if there is none. */
export const routeOf = (routes: readonly Route[], method: string, path: string): Route | undefined =>
  routes
    .filter((route) => route.method === method && patternOf(route.path).test(path))
    .sort((a, b) => generality(a) - generality(b))[0];

export const openHttpApi = (routes: readonly Route[]): Promise<FunctionUrl> =>
  openDoor((method, path) => {
    const route = routeOf(routes, method, path);
    return route === undefined ? undefined : { lambda: route.lambda, key: `${route.method} ${route.path}` };
  });

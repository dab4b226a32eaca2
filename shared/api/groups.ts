/**
 * Groups of an identity provider, and what they grant to users of the page. A user has the sum of what the groups of
 * its id token grant.
 */

import * as z from "zod";
import { namespaceName } from "../core/object.ts";

/** `read`: see the page. `act`: change objects there. `trigger`: request steps there. */
const granted = ["read", "act", "trigger"] as const;
export type Granted = (typeof granted)[number];

/** An ability, and the namespaces in which it holds; empty: all. */
export type Grant = { readonly ability: Granted; readonly namespaces: readonly string[] };

/** Name in the setting for everybody who signs in. */
const everybody = "*";

const asGroups = 'write JSON such as {"data-team": {"may": ["read", "act"], "namespaces": ["team-a"]}}';

const namespace = z.string().regex(namespaceName, { error: asGroups });

const group = z.strictObject(
  {
    may: z
      .array(z.enum(granted, { error: asGroups }), { error: asGroups })
      .refine((all) => all.includes("read"), { error: `the abilities of a group begin with "read": ${asGroups}` })
      .default(["read"]),
    /** Empty: all. */
    namespaces: z.array(namespace, { error: asGroups }).default([]),
  },
  { error: asGroups },
);

export const groupsShape = () =>
  z
    .record(z.string().min(1).max(256), group, { error: asGroups })
    .refine((groups) => Object.keys(groups).length <= 1_000, { error: "at most 1000 groups" });

export type Groups = z.infer<ReturnType<typeof groupsShape>>;

/** Returns one grant for each ability: the sum of these. */
export const mergedGrants = (grants: readonly Grant[]): readonly Grant[] =>
  granted.flatMap((ability) => {
    const places = grants.flatMap((one) => (one.ability === ability ? [one.namespaces] : []));
    if (places.length === 0) return [];
    const isEverywhere = places.some(({ length }) => length === 0);
    return [{ ability, namespaces: isEverywhere ? [] : [...new Set(places.flat())].sort() }];
  });

/** Returns what a user of these groups may do; empty: none of them has a meaning here. */
export const grantsOf = (groups: Groups, names: readonly string[]): readonly Grant[] => {
  const held = [everybody, ...names].flatMap((name) => (Object.hasOwn(groups, name) ? (groups[name] ?? []) : []));
  return mergedGrants(held.flatMap(({ may, namespaces }) => may.map((ability) => ({ ability, namespaces }))));
};

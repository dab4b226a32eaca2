/**
 * The rights of an installation as the chart's templates read them: for each account its rules, each with the family
 * that needs it, and whether a Role in a namespace can grant it. They are taken from the roles that `rekindle
 * manifests` makes.
 */

import { fieldsOf } from "../shared/core/json.ts";
import type { Obj } from "../shared/core/object.ts";
import { functionGrants } from "../shared/installation/function-rights.ts";
import { driverGrants, type Installation, objectsOf } from "../shared/installation/objects.ts";
import { type Family, type Feature, families, features } from "../shared/kube/resources.ts";
import { plain } from "./kustomize.ts";
import { dispatched } from "./workloads.ts";

/** A rule; `of`: the family that needs it, absent: any; `whole`: it holds in the whole cluster only. */
type Row = { readonly of?: readonly Family[]; readonly whole?: true; readonly rule: unknown };

const jobs = "team";
const release = "rekindle";

type Choice = {
  readonly families?: readonly Family[];
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: string;
  readonly features?: readonly Feature[];
  readonly nodes?: boolean;
  readonly admission?: boolean;
};

type Making = (choice: Choice) => readonly Obj[];

const ofHost: Making = (choice) =>
  objectsOf({ ...plain("image"), namespace: release, families, ...choice } satisfies Partial<Installation> &
    Installation);

const ofFunctions: Making = (choice) =>
  functionGrants({ namespace: release, functions: dispatched, families, ...choice });

/** Returns the rules of a role, as texts; empty without one. */
const rulesOf = (objects: readonly Obj[], name: string, place?: string): readonly string[] => {
  const role = objects.find(
    ({ kind, metadata }) => /Role$/.test(kind) && metadata.name === name && metadata.namespace === place,
  );
  const { rules } = fieldsOf(role);
  return Array.isArray(rules) ? rules.map((rule) => JSON.stringify(rule)) : [];
};

type Look = (chosen: readonly Family[]) => readonly string[];

/** Tags each rule with the families that need it, unless all do. */
const rows = (look: Look, within?: readonly string[]): readonly Row[] => {
  const alone = families.map((family) => ({ family, rules: new Set(look([family])) }));
  return look(families).map((text): Row => {
    const holders = alone.filter(({ rules }) => rules.has(text));
    const isWhole = within !== undefined && !within.includes(text);
    return {
      ...(holders.length > 0 && holders.length < families.length && { of: holders.map(({ family }) => family) }),
      ...(isWhole && ({ whole: true } as const)),
      rule: JSON.parse(text),
    };
  });
};

const without = (texts: readonly string[], others: readonly string[]): readonly string[] =>
  texts.filter((text) => !others.includes(text));

/** Rules by the choice that brings them; choices without any are left out. */
const chosen = <Name extends string>(names: readonly Name[], find: (name: Name) => readonly Row[]) =>
  Object.fromEntries(names.map((name) => [name, find(name)] as const).filter(([, found]) => found.length > 0));

const host = () => {
  const everywhere: Look = (families) => rulesOf(ofHost({ families }), "rekindle-host");
  return {
    scope: rows(everywhere, rulesOf(ofHost({ namespaces: [jobs] }), "rekindle-host", jobs)),
    features: chosen(features, (feature) =>
      rows(
        (families) => rulesOf(ofHost({ families, features: [feature] }), `rekindle-${feature}`),
        rulesOf(ofHost({ namespaces: [jobs], features: [feature] }), `rekindle-${feature}`, jobs),
      ),
    ),
    nodes: rows((families) => rulesOf(ofHost({ families, nodes: true }), "rekindle-nodes")),
    selection: rows((families) => rulesOf(ofHost({ families, namespaceSelector: "a=b" }), "rekindle-namespaces")),
    identity: rows(() => rulesOf(ofHost({ namespaces: [jobs] }), "rekindle-identity", "kube-system")),
    registration: rows((families) => rulesOf(ofHost({ families, admission: true }), "rekindle-registration")),
    certificate: rows(() => rulesOf(ofHost({ admission: true }), "rekindle-certificate", release)),
  };
};

const called = (name: string) => {
  const account = `rekindle-${name}`;
  const everywhere = (choice: Choice): readonly string[] => rulesOf(ofFunctions(choice), account);
  const within = (choice: Choice): readonly string[] =>
    rulesOf(ofFunctions({ ...choice, namespaces: [jobs] }), account, jobs);
  const added = (choice: Choice): readonly Row[] =>
    rows(
      (families) => without(everywhere({ ...choice, families }), everywhere({ families })),
      without(within(choice), within({})),
    );
  return {
    scope: rows((families) => everywhere({ families }), within({})),
    features: chosen(features, (feature) => added({ features: [feature] })),
    nodes: rows((families) => without(everywhere({ families, nodes: true }), everywhere({ families }))),
    nodesBesideRoles: rows(() => rulesOf(ofFunctions({ nodes: true, namespaces: [jobs] }), `${account}-nodes`)),
    selection: rows((families) =>
      without(everywhere({ families, namespaceSelector: "a=b" }), everywhere({ families })),
    ),
    identity: rows(() => rulesOf(ofFunctions({ namespaces: [jobs] }), `${account}-identity`, "kube-system")),
    registration: rows((families) => rulesOf(ofFunctions({ families, admission: true }), `${account}-registration`)),
    certificate: rows(() => rulesOf(ofFunctions({ admission: true }), `${account}-certificate`, release)),
    lease: name === "dispatch" ? rows(() => rulesOf(ofFunctions({}), "rekindle-lease", release)) : [],
  };
};

const driver = () => ({
  driver: rows(() =>
    rulesOf(driverGrants({ sparkNamespaces: [jobs], sparkAccounts: ["spark"] }), "rekindle-driver", jobs),
  ),
});

/** Writes each rule on a line of its own. */
const written = (value: unknown, indent = ""): string => {
  if (Array.isArray(value)) return value.map((row) => `\n${indent}- ${JSON.stringify(row)}`).join("");
  const parts = Object.entries(fieldsOf(value)).filter(
    ([, below]) => Object.keys(fieldsOf(below)).length > 0 || (Array.isArray(below) && below.length > 0),
  );
  return parts.map(([name, below]) => `\n${indent}${name}:${written(below, `${indent}  `)}`).join("");
};

/** `files/rights.yaml` of the chart. */
export const rightsText = (): string => {
  const accounts = {
    rekindle: host(),
    ...Object.fromEntries(dispatched.map((name) => [`rekindle-${name}`, called(name)])),
  };
  return `${written({ ...accounts, drivers: driver() }).trimStart()}\n`;
};

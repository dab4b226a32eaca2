/**
 * The families of kinds that Rekindle runs, each with the API groups of its kinds; and the features that need a right
 * of their own, with the message about a missing one.
 */

export const families = ["spark", "volcano"] as const;

export type Family = (typeof families)[number];

/** Returns the family of the kinds in this API group; undefined if it has none. */
export const familyOf = (group: string): Family | undefined => {
  if (group === "sparkoperator.k8s.io") return "spark";
  return group.endsWith(".volcano.sh") ? "volcano" : undefined;
};

/** Makes the test whether a kind is of these families; `family`: its API group, if that of the resource has none. */
export const runs =
  (chosen: readonly Family[]) =>
  ({ resource, family }: { readonly resource: { readonly group: string }; readonly family?: string }): boolean => {
    const of = familyOf(family ?? resource.group);
    return of !== undefined && chosen.includes(of);
  };

export const features = ["ssh", "pod-http", "gang"] as const;

export type Feature = (typeof features)[number];

/** The resource of each right, in the core group. */
export const featureResource: Readonly<Record<Feature, string>> = {
  ssh: "secrets",
  "pod-http": "pods/proxy",
  gang: "nodes",
};

/** Adds to the API server's message about a missing right the feature that grants it, if there is one. */
export const withFeature = (message: string): string => {
  const [, verb, resource] = /cannot (\w+) resource \\?"([\w/]+)/.exec(message) ?? [];
  // The host may need other verbs on nodes, which no feature grants.
  const feature = features.find((one) => featureResource[one] === resource && (one !== "gang" || verb === "list"));
  return feature === undefined ? message : `rekindle manifests --features ${feature} grants this: ${message}`;
};

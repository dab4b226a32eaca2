/** Rights that only some objects need, granted by the name of a feature, and the message about a missing one. */

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

/** Rights that only some objects need, granted by the name of a feature, and the message about a missing one. */

export const features = ["ssh", "pod-http"] as const;

export type Feature = (typeof features)[number];

/** The resource of each right, in the core group. */
export const featureResource: Readonly<Record<Feature, string>> = { ssh: "secrets", "pod-http": "pods/proxy" };

/** Adds to the API server's message about a missing right the feature that grants it, if there is one. */
export const withFeature = (message: string): string => {
  const [, resource] = /resource \\?"([\w/]+)/.exec(message) ?? [];
  const feature = features.find((one) => featureResource[one] === resource);
  return feature === undefined ? message : `rekindle manifests --features ${feature} grants this: ${message}`;
};

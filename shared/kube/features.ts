/** Rights that only some objects need, granted by the name of a feature, and how the lack of one is told. */

export const features = ["ssh", "pod-http"] as const;

export type Feature = (typeof features)[number];

/** What the right is about, in the core group. */
export const featureResource: Readonly<Record<Feature, string>> = { ssh: "secrets", "pod-http": "pods/proxy" };

/** What the API server says of a right that is missing, with the feature that grants it where there is one. */
export const withFeature = (message: string): string => {
  const [, resource] = /resource \\?"([\w/]+)/.exec(message) ?? [];
  const feature = features.find((one) => featureResource[one] === resource);
  return feature === undefined ? message : `rekindle manifests --features ${feature} grants this: ${message}`;
};

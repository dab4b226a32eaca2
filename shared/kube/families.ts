/** The families of kinds that Rekindle runs, each with the API groups of its kinds. */

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

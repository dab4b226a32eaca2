/** The families of kinds that Rekindle runs, each with the API groups of its kinds. */

export const families = ["spark", "volcano"] as const;

export type Family = (typeof families)[number];

/** The family whose kinds stand in this API group; undefined when it is none's. */
export const familyOf = (group: string): Family | undefined => {
  if (group === "sparkoperator.k8s.io") return "spark";
  return group.endsWith(".volcano.sh") ? "volcano" : undefined;
};

/** True of a kind that a process which runs these families runs; `family` is named where the resource is nobody's. */
export const runs =
  (chosen: readonly Family[]) =>
  ({ resource, family }: { readonly resource: { readonly group: string }; readonly family?: string }): boolean => {
    const of = familyOf(family ?? resource.group);
    return of !== undefined && chosen.includes(of);
  };

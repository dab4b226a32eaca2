/** The rules of each family that an API server can enforce by itself, as policies of admission. */
import type { Policy } from "../kube/admission-policy.ts";
import type { Family } from "../kube/resources.ts";
import { sparkPolicies } from "../spark/admission/policies.ts";
import { volcanoPolicies } from "../volcano/admission/policies.ts";

/** Apache's family has none: its steps refuse what its admission refuses. */
const policies: Readonly<Record<Family, readonly Policy[]>> = {
  spark: sparkPolicies,
  volcano: volcanoPolicies,
  apache: [],
};

export const policiesOf = (families: readonly Family[]): readonly Policy[] =>
  families.flatMap((family) => policies[family]);

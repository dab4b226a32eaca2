/** The declaration of the kind JobFlow. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { jobFlows, jobs } from "../schema/resource.ts";

export const jobFlow = {
  resource: jobFlows,
  family: "volcano",
  shortNames: ["jf"],
  title: "Job flow",
  alertLabels: ["volcano_jobflow"],
  creates: jobs,
} as const satisfies DeclaredKind;

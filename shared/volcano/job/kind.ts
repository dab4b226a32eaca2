/** The declaration of the kind Job. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { jobs } from "../schema/resource.ts";

export const job = {
  resource: jobs,
  family: "volcano",
  shortNames: ["vcjob", "vj"],
  leavesNodes: true,
} as const satisfies DeclaredKind;

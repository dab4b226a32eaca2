/** The declaration of the kind JobTemplate. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { jobTemplates } from "../schema/resource.ts";

export const jobTemplate = {
  resource: jobTemplates,
  family: "volcano",
  shortNames: ["jt"],
} as const satisfies DeclaredKind;

/** The declaration of the kind SparkApplication. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { sparkApplications } from "../schema/resource.ts";

export const sparkApplication = {
  resource: sparkApplications,
  family: "spark",
  shortNames: ["sparkapp"],
  title: "Spark",
  alertLabels: ["sparkapplication", "label_sparkoperator_k8s_io_app_name"],
  leavesNodes: true,
} as const satisfies DeclaredKind;

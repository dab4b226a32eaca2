/** The declaration of Apache's SparkApplication. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { apacheApplications } from "./resource.ts";

export const apacheSparkApplication = {
  resource: apacheApplications,
  family: "apache",
  shortNames: ["sparkapp"],
  title: "Spark (Apache)",
  alertLabels: ["apachesparkapplication", "label_spark_operator_spark_app_name"],
} as const satisfies DeclaredKind;

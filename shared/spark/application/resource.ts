/** Where SparkApplications stand in the API. */
import type { Resource } from "../../core/object.ts";

export const sparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
};

/** The SparkApplication resource, and the resources that a submission may create beside the driver pod. */
import type { Resource } from "../../../core/object.ts";
import { claims, configMaps, networkPolicies, services } from "../../../kube/resources.ts";

export const sparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
};

/** Resources of objects that a submission creates, labels with the application's UID, and removes with its attempt. */
export const made: readonly Resource[] = [services, configMaps, claims, networkPolicies];

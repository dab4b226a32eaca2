/** Where SparkApplications stand in the API, and what a submission may make beside the driver pod. */
import type { Resource } from "../../core/object.ts";
import { claims, configMaps, networkPolicies, services } from "../../kube/resources.ts";

export const sparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
};

/** Made by a submission, labelled with the application's UID, and removed with its attempt. */
export const made: readonly Resource[] = [services, configMaps, claims, networkPolicies];

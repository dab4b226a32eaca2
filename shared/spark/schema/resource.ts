/** The resources of Spark's kinds, the labels and names of their objects. */

import type { Resource } from "../../core/object.ts";
import { claims, configMaps, networkPolicies, services } from "../../kube/resources.ts";

export const sparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
};

/** Resources of objects that a submission creates, labels with the application's UID, and removes with its attempt. */
export const made: readonly Resource[] = [services, configMaps, claims, networkPolicies];

export const scheduledSparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "scheduledsparkapplications",
  kind: "ScheduledSparkApplication",
};

export const scheduleLabel = "sparkoperator.k8s.io/scheduled-app-name";

export const sparkConnects: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1alpha1",
  plural: "sparkconnects",
  kind: "SparkConnect",
};

export const connectLabel = "sparkoperator.k8s.io/connect-name";
export const launchedLabel = "sparkoperator.k8s.io/launched-by-spark-operator";

export const configMapName = (name: string): string => `${name}-conf`;
export const serverName = (name: string): string => `${name}-server`;

/** The groups of Volcano, of which an application with its batch scheduler has one. */
export const volcanoPodGroups: Resource = {
  group: "scheduling.volcano.sh",
  version: "v1beta1",
  plural: "podgroups",
  kind: "PodGroup",
};

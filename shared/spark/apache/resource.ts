/** The resource of Apache's SparkApplication, and those of the objects that an attempt of it creates. */
import type { Resource } from "../../core/object.ts";
import {
  claims,
  configMaps,
  grpcRoutes,
  httpRoutes,
  ingresses,
  networkPolicies,
  pods,
  services,
} from "../../kube/resources.ts";
import { volcanoPodGroups } from "../schema/resource.ts";

export const apacheApplications: Resource = {
  group: "spark.apache.org",
  version: "v1",
  plural: "sparkapplications",
  kind: "SparkApplication",
  keyKind: "ApacheSparkApplication",
};

/** Kinds that a cluster may lack. */
const spared: readonly Resource[] = [httpRoutes, grpcRoutes, volcanoPodGroups];

export const isSpared = (resource: Resource): boolean => spared.includes(resource);

/** Resources of the objects beside the driver. Each has the label of the application's UID, and goes with its attempt. */
export const beside: readonly Resource[] = [services, configMaps, claims, networkPolicies, ingresses, ...spared];

const byKind: ReadonlyMap<string, Resource> = new Map([pods, ...beside].map((resource) => [resource.kind, resource]));

/** The resource of an object of an attempt; undefined for a kind that Rekindle cannot create. */
export const resourceFor = (kind: string): Resource | undefined => byKind.get(kind);

/** Upstream's finalizer. Rekindle adds none, and removes this one from an application under deletion. */
export const upstreamFinalizer = "sparkapplications.spark.apache.org/finalizer";

/** Upstream's mark of an application by which it checks its own health; no object is made for it. */
export const sentinelLabel = "spark.operator/sentinel";

export const nameLabel = "spark.operator/spark-app-name";

/** The SparkConnect resource, the names of its objects, and their labels. */
import type { Resource } from "../../core/object.ts";

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

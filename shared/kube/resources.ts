/**
 * The resources of Kubernetes itself that Rekindle reads or writes; the families of kinds that it runs; and the
 * features that need a right of their own, with the message about a missing one.
 */
import type { Resource } from "../core/object.ts";

export const families = ["spark", "volcano", "apache"] as const;

export type Family = (typeof families)[number];

/**
 * The families that run where none are chosen. kubectl takes the bare name of a kind from the first API group in the
 * order of their names: once `spark.apache.org` is served, `kubectl get sparkapplications` no longer means those of
 * `sparkoperator.k8s.io`. Apache's family is therefore installed only where somebody chooses it.
 */
export const defaultFamilies: readonly Family[] = ["spark", "volcano"];

/** Features that need a right on one resource of the core group. */
const coreFeatures = ["ssh", "pod-http", "gang", "gang-evict", "logs", "kept-logs"] as const;

export type CoreFeature = (typeof coreFeatures)[number];

/** Features that need rights of other kinds. */
export const features = [...coreFeatures, "gang-native", "actions", "kube-sign-in"] as const;

export type Feature = (typeof features)[number];

/** Features for groups of pods: groups are admitted in all namespaces together, so no Role in one namespace serves them. */
export const groupFeatures: readonly Feature[] = ["gang", "gang-evict", "gang-native"];

export const featureResource: Readonly<Record<CoreFeature, string>> = {
  ssh: "secrets",
  "pod-http": "pods/proxy",
  gang: "nodes",
  "gang-evict": "pods/eviction",
  logs: "pods/log",
  "kept-logs": "pods/log",
};

/** Adds to the API server's message about a missing right the feature that grants it, if there is one. */
export const withFeature = (message: string): string => {
  const [, verb, resource] = /cannot (\w+) resource \\?"([\w/]+)/.exec(message) ?? [];
  // The host may need other verbs on nodes, which no feature grants.
  const feature = coreFeatures.find((one) => featureResource[one] === resource && (one !== "gang" || verb === "list"));
  return feature === undefined ? message : `rekindle manifests --features ${feature} grants this: ${message}`;
};

export const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod" };
export const services: Resource = { group: "", version: "v1", plural: "services", kind: "Service" };
export const statefulSets: Resource = { group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet" };
export const configMaps: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" };
export const nodes: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node" };
export const namespaces: Resource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace" };
export const claims: Resource = {
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
};
export const networkPolicies: Resource = {
  group: "networking.k8s.io",
  version: "v1",
  plural: "networkpolicies",
  kind: "NetworkPolicy",
};
export const ingresses: Resource = {
  group: "networking.k8s.io",
  version: "v1",
  plural: "ingresses",
  kind: "Ingress",
};
export const podDisruptionBudgets: Resource = {
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
};
export const secrets: Resource = { group: "", version: "v1", plural: "secrets", kind: "Secret" };
/** Returns the resources of a group in its version v1. */
const v1Of =
  (group: string) =>
  (plural: string, kind: string): Resource => ({ group, version: "v1", plural, kind });

const route = v1Of("gateway.networking.k8s.io");
export const httpRoutes = route("httproutes", "HTTPRoute");
export const grpcRoutes = route("grpcroutes", "GRPCRoute");
export const priorityClasses = v1Of("scheduling.k8s.io")("priorityclasses", "PriorityClass");
export const resourceQuotas: Resource = { group: "", version: "v1", plural: "resourcequotas", kind: "ResourceQuota" };

const registration = v1Of("admissionregistration.k8s.io");

export const mutatingWebhooks = registration("mutatingwebhookconfigurations", "MutatingWebhookConfiguration");
export const validatingWebhooks = registration("validatingwebhookconfigurations", "ValidatingWebhookConfiguration");
export const admissionPolicies = registration("validatingadmissionpolicies", "ValidatingAdmissionPolicy");
export const policyBindings = registration("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding");

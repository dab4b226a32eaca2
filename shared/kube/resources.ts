/** The resources of Kubernetes itself that Rekindle reads or writes. */
import type { Resource } from "../core/object.ts";

export const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod" };
export const services: Resource = { group: "", version: "v1", plural: "services", kind: "Service" };
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
export const priorityClasses: Resource = {
  group: "scheduling.k8s.io",
  version: "v1",
  plural: "priorityclasses",
  kind: "PriorityClass",
};
export const resourceQuotas: Resource = { group: "", version: "v1", plural: "resourcequotas", kind: "ResourceQuota" };

const registration = (plural: string, kind: string): Resource => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural,
  kind,
});

export const mutatingWebhooks = registration("mutatingwebhookconfigurations", "MutatingWebhookConfiguration");
export const validatingWebhooks = registration("validatingwebhookconfigurations", "ValidatingWebhookConfiguration");
export const admissionPolicies = registration("validatingadmissionpolicies", "ValidatingAdmissionPolicy");
export const policyBindings = registration("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding");

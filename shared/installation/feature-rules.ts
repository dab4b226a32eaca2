/** The rights that come in groups: of features with more than one resource, and of what is read together. */

import type { Family } from "../kube/resources.ts";
import { kindRules, type Rule, rule } from "./rule.ts";

/** The rights to ask who a token is, and what its user may do. */
export const reviewRules: readonly Rule[] = [
  rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
  rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
];

/** The rights on PodGroups of Kubernetes. */
export const nativeRules: readonly Rule[] = [
  rule("scheduling.k8s.io", ["podgroups"], ["get", "list", "create", "patch", "delete"]),
  rule("apiregistration.k8s.io", ["apiservices"], ["get"]),
];

/** The rights to count what the API server adds to pods. */
export const sizeRules: readonly Rule[] = [
  rule("", ["limitranges"], ["list"]),
  rule("node.k8s.io", ["runtimeclasses"], ["list"]),
];

/** The rights of the page's actions. The Event about an action is the record of it. */
export const actionRules = (chosen: readonly Family[]): readonly Rule[] => [
  ...kindRules(chosen, ({ actions }) => actions),
  ...(chosen.includes("volcano") ? [rule("bus.volcano.sh", ["commands"], ["create"])] : []),
  rule("", ["events"], ["create"]),
];

/** Rules to see another controller of these kinds in any namespace; without them the host reports their lack. */
export const lookoutRules: readonly Rule[] = [
  rule("coordination.k8s.io", ["leases"], ["list"]),
  rule("apps", ["deployments"], ["list"]),
  // A tenant can forge a controller, but not an account that may write in all namespaces.
  rule("rbac.authorization.k8s.io", ["clusterrolebindings"], ["list"]),
  rule("rbac.authorization.k8s.io", ["clusterroles"], ["get"]),
];

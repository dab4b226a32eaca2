/**
 * The rules of admission as ValidatingAdmissionPolicies, for clusters without a webhook: the API server enforces them
 * itself. Reconcile finds violations that CEL cannot express, as it does without policies.
 */
import type { Obj } from "../core/object.ts";
import { type Condition, expressionsFor, type Places, type Policy } from "../kube/admission-policy.ts";
import { defaultFamilies, type Family, families } from "../kube/resources.ts";
import { policiesOf } from "../registry/policies.ts";
import { ourLabels } from "./roles.ts";

const within = (places: Places) => {
  const matchExpressions = expressionsFor(places);
  return matchExpressions.length === 0 ? {} : { namespaceSelector: { matchExpressions } };
};

const matched = (policy: Policy, places: Places) => ({
  resourceRules: [
    {
      apiGroups: [policy.group],
      apiVersions: [policy.apiVersion],
      operations: policy.operations ?? ["CREATE", "UPDATE"],
      resources: [policy.resource],
      scope: policy.scope ?? "Namespaced",
    },
  ],
  ...within(places),
});

/** Updates that leave the spec unchanged pass: labels stay editable, and objects older than a rule may go on. */
const changed: readonly Condition[] = [
  { name: "spec-is-new", expression: "request.operation != 'UPDATE' || object.spec != oldObject.spec" },
];

const group = "admissionregistration.k8s.io/v1";

/** Each policy and its binding. */
export const policyObjects = (places: Places, chosen: readonly Family[] = defaultFamilies): readonly Obj[] =>
  policiesOf(families.filter((family) => chosen.includes(family))).flatMap((policy) => [
    {
      apiVersion: group,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: policy.name, labels: ourLabels },
      spec: {
        failurePolicy: "Ignore",
        matchConstraints: matched(policy, places),
        matchConditions: policy.conditions ?? changed,
        variables: policy.variables,
        validations: policy.rules.map((rule) => ({ ...rule, reason: "Invalid" })),
      },
    },
    {
      apiVersion: group,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: policy.name, labels: ourLabels },
      spec: { policyName: policy.name, validationActions: ["Deny"] },
    },
  ]);

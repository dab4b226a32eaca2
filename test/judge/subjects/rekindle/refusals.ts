/** Refusals of pods that a user meets: an admission policy, and a quota. */

import { removeAt, step } from "../../steps.ts";
import type { Step } from "../../subject.ts";

const label = "judge.test/refuses";

/** An admission policy that refuses pods whose names end with `-1` in namespaces that say so, as a webhook would. */
export const refusal = JSON.stringify({
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "judge-refuses" },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
          namespaceSelector: { matchLabels: { [label]: "true" } },
        },
        validations: [{ expression: "!object.metadata.name.endsWith('-1')", message: "pods -1 are refused here" }],
      },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "judge-refuses" },
      spec: { policyName: "judge-refuses", validationActions: ["Deny"] },
    },
  ],
});

const labelled = (name: string, value: string | null): Step =>
  step(name, (user) => user.patch(`api/v1/namespaces/${user.namespace}`, { metadata: { labels: { [label]: value } } }));
export const refuse = labelled("refuse", "true");
export const allow = labelled("allow", null);

/** A quota of this many pods, and its removal. */
export const quota = (pods: number): Step =>
  step("quota", async (user) => {
    const path = `api/v1/namespaces/${user.namespace}/resourcequotas`;
    const named = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "few" } };
    await user.create({ path, ...named, spec: { hard: { pods: String(pods) } } });
  });
export const noQuota: Step = removeAt("no quota", (namespace) => `api/v1/namespaces/${namespace}/resourcequotas/few`);

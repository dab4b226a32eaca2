/** A NetworkPolicy: executors accept connections from their own application only; as NetworkPolicyFeatureStep. */
import type { Context, Contribution } from "./step.ts";

export const network = (context: Context): Contribution => {
  if (!context.rules.networkPolicy) return {};
  const own = { "spark-app-selector": context.applicationId };
  return {
    objects: [
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "NetworkPolicy",
        metadata: { name: `${context.identity.prefix}-policy`, namespace: context.namespace, labels: own },
        spec: {
          podSelector: { matchLabels: { ...own, "spark-role": "executor" } },
          ingress: [{ from: [{ podSelector: { matchLabels: own } }] }],
        },
      },
    ],
  };
};

/** Requests of the shipped service account alone, told apart by a flow schema of the same priority as before. */
import type { Api } from "../cluster/api.ts";

const flow = "rekindle-bench";

const flowSchema = {
  apiVersion: "flowcontrol.apiserver.k8s.io/v1",
  kind: "FlowSchema",
  metadata: { name: flow },
  spec: {
    matchingPrecedence: 100,
    priorityLevelConfiguration: { name: "workload-low" },
    distinguisherMethod: { type: "ByUser" },
    rules: [
      {
        subjects: [{ kind: "ServiceAccount", serviceAccount: { name: "rekindle", namespace: "rekindle" } }],
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
      },
    ],
  },
};

export const countFlow = async (api: Api): Promise<void> => {
  const { status, body } = await api.call("POST", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", flowSchema);
  if (status !== 201) throw new Error(`create the flow schema: ${JSON.stringify(body)}`);
};

/** How many there were so far, by the API server's own count. */
export const dispatched = async (api: Api): Promise<number> => {
  const { body } = await api.call("GET", "/metrics");
  return String(body)
    .split("\n")
    .filter((line) => line.startsWith("apiserver_flowcontrol_dispatched_requests_total") && line.includes(`"${flow}"`))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
};

/** Counts the requests of the shipped service account by a flow schema of its own, which keeps their priority. */
import type { Api } from "../real/cluster/api.ts";

export type Flow = { readonly name: string; readonly verbs: readonly string[]; readonly precedence: number };

/** All requests. */
const everything: Flow = { name: "rekindle-bench", verbs: ["*"], precedence: 100 };

/** Requests that change objects; this schema precedes the other. */
export const writing: Flow = {
  name: "rekindle-bench-writes",
  verbs: ["create", "update", "patch", "delete", "deletecollection"],
  precedence: 99,
};

const flowSchema = ({ name, verbs, precedence }: Flow): object => ({
  apiVersion: "flowcontrol.apiserver.k8s.io/v1",
  kind: "FlowSchema",
  metadata: { name },
  spec: {
    matchingPrecedence: precedence,
    priorityLevelConfiguration: { name: "workload-low" },
    distinguisherMethod: { type: "ByUser" },
    rules: [
      {
        subjects: [{ kind: "ServiceAccount", serviceAccount: { name: "rekindle", namespace: "rekindle" } }],
        resourceRules: [{ verbs, apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
      },
    ],
  },
});

export const countFlow = async (api: Api, flow: Flow = everything): Promise<void> => {
  const schemas = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
  const { status, body } = await api.call("POST", schemas, flowSchema(flow));
  if (status !== 201) throw new Error(`create the flow schema: ${JSON.stringify(body)}`);
};

/** Returns the number of requests so far, from the API server's metrics. */
export const dispatched = async (api: Api, { name }: Flow = everything): Promise<number> => {
  const { body } = await api.call("GET", "/metrics");
  return String(body)
    .split("\n")
    .filter((line) => line.startsWith("apiserver_flowcontrol_dispatched_requests_total") && line.includes(`"${name}"`))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
};

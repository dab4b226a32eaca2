/** Quotas as admission asks for them: live, and within the time that the API server waits for an answer. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import { resourceQuotas } from "../../kube/resources.ts";
import type { Quotas } from "./app.ts";

/** Half of the 3 s that the whole answer may take. */
const timeoutMs = 1_500;

export const quotasOf = (transport: Transport): Quotas => {
  const cluster = openCluster(transport, { timeoutMs });
  return async (namespace) =>
    (await cluster.list({ do: "list", resource: resourceQuotas, namespace, labels: {} })).value;
};

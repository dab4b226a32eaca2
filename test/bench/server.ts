/**
 * The simulator of a benchmark as a separate process: it reports its address to its parent, and ends with it. The first
 * argument has its options as JSON; without it there is no node, so that no pod runs.
 */

import { serveSimulator } from "../../shared/simulator/http/serve.ts";
import { openSimulator } from "../../shared/simulator/open.ts";
import { crds } from "../support/crds.ts";
import type { ServerOptions } from "./served.ts";

const { nodes = [], ...options }: ServerOptions = JSON.parse(process.argv[2] ?? "{}");
const simulator = openSimulator({ start: Date.now(), crds, nodes, ...options });
const made = (path: string, object: object): void => {
  const headers = { "content-type": "application/json" };
  simulator.handle({ method: "POST", path, headers, body: JSON.stringify(object) });
};
// The records of queues are in the host's namespace.
for (const name of ["small", "large", "rekindle"]) {
  made("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark", namespace: name } };
  made(`/api/v1/namespaces/${name}/serviceaccounts`, account);
}
const { url, kubeconfig } = await serveSimulator(simulator);
process.send?.({ url, kubeconfig });
process.once("disconnect", () => process.exit(0));

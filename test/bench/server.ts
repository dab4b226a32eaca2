/** The simulator of a benchmark as a separate process: it reports its address to its parent, and ends with it. */
import { openSimulator } from "../../shared/simulator/open.ts";
import { serveSimulator } from "../../shared/simulator/serve.ts";
import { crds } from "../unit/host/stand.ts";

const simulator = openSimulator({ start: Date.now(), crds, nodes: [] });
const made = (path: string, object: object): void => {
  const headers = { "content-type": "application/json" };
  simulator.handle({ method: "POST", path, headers, body: JSON.stringify(object) });
};
for (const name of ["small", "large"]) {
  made("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark", namespace: name } };
  made(`/api/v1/namespaces/${name}/serviceaccounts`, account);
}
const { url, kubeconfig } = await serveSimulator(simulator);
process.send?.({ url, kubeconfig });
process.once("disconnect", () => process.exit(0));

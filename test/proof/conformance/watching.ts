/** Tests the forwarder's guarantees on the simulator and on the real API server. */
import { clusterFromRecord, findCluster } from "../../../shared/adapters/kubernetes/kubeconfig.ts";
import { type Guarantees, tryGuarantees } from "../../unit/forward/guarantees.ts";
import { openServer } from "./server.ts";

export type Watched = Guarantees & { readonly server: "simulator" | "real"; readonly seed: number };

const seeds = [11, 12, 13] as const;

const onSimulator = async (seed: number): Promise<Watched> => {
  const { transport, clock } = openServer();
  const pass = (): void => clock.advanceTo(clock.now() + 10);
  return { ...(await tryGuarantees(transport, "default", seed, pass)), server: "simulator", seed };
};

const onReal = async (kubeconfig: string, seed: number): Promise<Watched> => {
  const { transport } = clusterFromRecord(await findCluster({ path: kubeconfig, env: {} }));
  const namespace = `w-${Date.now().toString(36)}-${seed}`;
  const space = { path: "/api/v1/namespaces", headers: { "content-type": "application/json" }, timeoutMs: 10_000 };
  await transport.send({ ...space, method: "POST", body: JSON.stringify({ metadata: { name: namespace } }) });
  try {
    return { ...(await tryGuarantees(transport, namespace, seed)), server: "real", seed };
  } finally {
    await transport.send({ ...space, method: "DELETE", path: `${space.path}/${namespace}` });
    transport.close();
  }
};

/** Tests the guarantees on both servers with several seeds, one after another, and prints each result. */
export const watchBoth = async (kubeconfig: string): Promise<readonly Watched[]> => {
  const all: Watched[] = [];
  for (const seed of seeds) all.push(await onSimulator(seed), await onReal(kubeconfig, seed));
  for (const { server, seed, changes, troubles, broken } of all) {
    const end = broken.length === 0 ? "nothing missed, doubled or out of order" : broken.join("; ");
    console.log(`forwarder on the ${server} server, seed ${seed}: ${changes} changes, ${troubles} troubles: ${end}`);
  }
  return all;
};

/** The Node object: registered once, then kept Ready by a heartbeat. */
import { arch, release } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, messageOf } from "./api.ts";
import { secondsNow } from "./context.ts";

export type NodeFacts = {
  readonly name: string;
  readonly ip: string;
  readonly port: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly beatMs: number;
};

const condition = (type: string, status: string, reason: string, message: string): object => ({
  type,
  status,
  reason,
  message,
  lastHeartbeatTime: secondsNow(),
});

const statusOf = ({ name, ip, port, capacity }: NodeFacts): object => ({
  addresses: [
    { type: "InternalIP", address: ip },
    { type: "Hostname", address: name },
  ],
  capacity,
  allocatable: capacity,
  daemonEndpoints: { kubeletEndpoint: { Port: port } },
  conditions: [
    condition("Ready", "True", "KubeletReady", "node agent is posting ready status"),
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "enough memory"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "enough disk"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "enough processes"),
  ],
  nodeInfo: {
    machineID: name,
    systemUUID: name,
    bootID: `${name}-${process.pid}`,
    kernelVersion: release(),
    osImage: "local processes",
    containerRuntimeVersion: "bwrap://0",
    kubeletVersion: "v1.36.3",
    kubeProxyVersion: "",
    operatingSystem: "linux",
    architecture: arch() === "x64" ? "amd64" : arch(),
  },
});

const register = async (api: Api, facts: NodeFacts): Promise<void> => {
  const labels = { "kubernetes.io/hostname": facts.name, "kubernetes.io/os": "linux", ...facts.labels };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: facts.name, labels }, status: statusOf(facts) };
  const made = await api.call("POST", "/api/v1/nodes", node);
  if (made.status === 409) {
    const change = { metadata: { labels } };
    await api.call("PATCH", `/api/v1/nodes/${facts.name}`, change, "application/merge-patch+json");
  } else if (made.status !== 201) throw new Error(`node ${facts.name}: ${messageOf(made)}`);
};

/** Writes the node's status without transition times, so that each condition keeps its stored one. */
const report = async (api: Api, facts: NodeFacts): Promise<void> => {
  const path = `/api/v1/nodes/${facts.name}/status`;
  const change = { status: statusOf(facts) };
  const reply = await api.call("PATCH", path, change, "application/strategic-merge-patch+json");
  if (reply.status === 404) await register(api, facts);
  else if (reply.status !== 200) throw new Error(messageOf(reply));
};

const renew = async (api: Api, { name, beatMs }: NodeFacts): Promise<void> => {
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const spec = { holderIdentity: name, leaseDurationSeconds: Math.ceil((beatMs * 4) / 1000), renewTime: microTime() };
  const reply = await api.call("PATCH", `${leases}/${name}`, { spec }, "application/merge-patch+json");
  if (reply.status !== 404) return;
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
  await api.call("POST", leases, lease);
};

const microTime = (): string => new Date().toISOString().replace("Z", "000Z");

/** Resolves when the node is registered; the heartbeat continues in the background. */
export const joinCluster = async (api: Api, facts: NodeFacts, log: (line: string) => void): Promise<void> => {
  await register(api, facts);
  const beat = async (): Promise<never> => {
    for (;;) {
      await Promise.all([renew(api, facts), report(api, facts)]).catch((error: unknown) =>
        log(`heartbeat: ${String(error)}`),
      );
      await sleep(facts.beatMs);
    }
  };
  void beat();
};

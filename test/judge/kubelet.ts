/**
 * Nodes without containers: each pod that the scheduler binds is reported as a kubelet reports it, by the plan of its
 * scenario: running, its exit code, a graceful end, and the terminal phase before its removal.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../real/cluster/api.ts";
import { isDeleted, listAt, nameOf, namespaceOf, numberAt, phaseOf, textAt, uidOf } from "./values.ts";

/**
 * Runs for `runMs`, or until it is deleted, then ends with `exit`. `graceMs`: the time that it takes to end when asked to.
 * `isLost`: its node is silent once it is deleted, so that it stays until somebody removes it by force.
 */
export type PodPlan = {
  readonly runMs?: number;
  readonly exit: number;
  readonly graceMs?: number;
  readonly isLost?: true;
};

export type Kubelet = { readonly seen: (type: string, pod: unknown) => void; readonly stop: () => void };

const lease = (name: string): object => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace: "kube-node-lease" },
  spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: `${new Date().toISOString().slice(0, -1)}000Z` },
});

const capacity = { cpu: "256", memory: "512Gi", pods: "2000", "ephemeral-storage": "100Gi" };

/** Creates a node, reports it ready, and renews its lease until the signal aborts. */
const keepNode = async (api: Api, name: string, signal: AbortSignal): Promise<void> => {
  await api.call("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
  const now = new Date().toISOString();
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "" };
  const status = {
    capacity,
    allocatable: capacity,
    conditions: [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }],
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
  };
  await api.call("PATCH", `/api/v1/nodes/${name}/status`, { status }, "application/merge-patch+json");
  await api.call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", lease(name));
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`;
  void (async () => {
    while (!signal.aborted) {
      await api.call("PATCH", path, lease(name), "application/merge-patch+json").catch(() => undefined);
      await sleep(10_000, undefined, { signal }).catch(() => undefined);
    }
  })();
};

/** The status of a pod whose containers are all in one state. */
const statusOf = (pod: unknown, phase: string, exit: number): object => {
  const now = new Date().toISOString();
  const isRunning = phase === "Running";
  const reason = exit === 0 ? "Completed" : "Error";
  const state = isRunning
    ? { running: { startedAt: now } }
    : { terminated: { exitCode: exit, reason, startedAt: now, finishedAt: now } };
  const one = (container: unknown): object => ({
    name: textAt(container, "name"),
    image: textAt(container, "image"),
    imageID: "",
    restartCount: 0,
    ...{ ready: isRunning, started: isRunning, state },
  });
  const condition = { type: "Ready", status: isRunning ? "True" : "False", lastTransitionTime: now };
  const containerStatuses = listAt(pod, "spec", "containers").map(one);
  return {
    phase,
    podIP: "127.0.0.9",
    podIPs: [{ ip: "127.0.0.9" }],
    startTime: now,
    conditions: [condition],
    containerStatuses,
  };
};

type Options = {
  readonly api: Api;
  readonly planOf: (pod: unknown) => PodPlan;
  /** Called after each report: `pod Running`, `pod Succeeded`, `pod Failed`, `pod removed`. */
  readonly reported: (namespace: string, what: string, name: string) => void;
};

const nodeNames = ["judge-1", "judge-2"] as const;

export const openKubelet = async ({ api, planOf, reported }: Options): Promise<Kubelet> => {
  const over = new AbortController();
  await Promise.all(nodeNames.map((name) => keepNode(api, name, over.signal)));
  const started = new Set<string>();
  const ending = new Set<string>();
  const pathOf = (pod: unknown): string => `/api/v1/namespaces/${namespaceOf(pod)}/pods/${nameOf(pod)}`;

  const report = async (pod: unknown, phase: string, exit: number): Promise<boolean> => {
    const status = statusOf(pod, phase, exit);
    const body = { metadata: { uid: uidOf(pod) }, status };
    const reply = await api.call("PATCH", `${pathOf(pod)}/status`, body, "application/strategic-merge-patch+json");
    if (reply.status === 200) reported(namespaceOf(pod), `pod ${phase}`, nameOf(pod));
    return reply.status === 200;
  };

  const run = async (pod: unknown): Promise<void> => {
    const { runMs, exit } = planOf(pod);
    await sleep(150);
    if (ending.has(uidOf(pod)) || !(await report(pod, "Running", 0)) || runMs === undefined) return;
    await sleep(runMs);
    if (ending.has(uidOf(pod))) return;
    ending.add(uidOf(pod));
    await report(pod, exit === 0 ? "Succeeded" : "Failed", exit);
  };

  const end = async (pod: unknown): Promise<void> => {
    if (planOf(pod).isLost === true) return void ending.add(uidOf(pod));
    const uid = uidOf(pod);
    const hadEnded = ending.has(uid);
    ending.add(uid);
    const graceMs = Math.min(
      planOf(pod).graceMs ?? 100,
      numberAt(pod, "metadata", "deletionGracePeriodSeconds") * 1_000,
    );
    await sleep(graceMs);
    if (!hadEnded && phaseOf(pod) === "Running") await report(pod, "Failed", 143);
    await api.call("DELETE", pathOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } });
    reported(namespaceOf(pod), "pod removed", nameOf(pod));
  };

  const once = (set: Set<string>, key: string, does: () => Promise<void>): void => {
    if (set.has(key)) return;
    set.add(key);
    void does().catch(() => undefined);
  };
  const removed = new Set<string>();
  return {
    seen: (type, pod) => {
      if (type === "DELETED" || !nodeNames.some((name) => name === textAt(pod, "spec", "nodeName"))) return;
      if (isDeleted(pod)) once(removed, uidOf(pod), () => end(pod));
      else if (phaseOf(pod) === "Pending") once(started, uidOf(pod), () => run(pod));
    },
    stop: () => over.abort(),
  };
};

/** Nodes: they come, stop answering, come back, are removed; and the fate of pods on nodes that do not answer. */

import { make } from "../controllers/initial-objects.ts";
import { stamp, type Task } from "../storage/clock.ts";
import { at, type Fields, fieldsAt, itemsAt, numberAt, textAt } from "../storage/json.ts";
import { type Item, metaOf } from "../storage/metadata.ts";
import type { Change } from "../storage/store.ts";
import { about, discard, type Part, rewrite, runAfter, subject } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";
import { disrupted, isOver } from "./pod-status.ts";

export type NodeSpec = {
  readonly name: string;
  readonly cpu?: string;
  readonly memory?: string;
  readonly labels?: Readonly<Record<string, string>>;
};

/** The state of the machine behind a node: an annotation of the simulator's own, so that a snapshot holds it. */
const machine = "simulator.rekindle.dev/machine";
const unreachable = "node.kubernetes.io/unreachable";
const outOfService = "node.kubernetes.io/out-of-service";

/** Waiting times of the cluster: for a silent node, and for the pods of a node that was removed. */
const graceMs = 50_000;
const orphanMs = 40_000;

export const isSilent = (node: Item | undefined): boolean =>
  textAt(node, "metadata", "annotations", machine) === "silent";

export const nodeOf = ({ store }: Server, pod: Item): Item | undefined =>
  store.get("nodes", textAt(pod, "spec", "nodeName") ?? "");

const ready = (status: string, reason: string, message: string, time: string): Fields => ({
  type: "Ready",
  status,
  lastHeartbeatTime: time,
  lastTransitionTime: time,
  reason,
  message,
});

const capacity = ({ cpu = "64", memory = "256Gi" }: NodeSpec): Fields => ({
  ...{ cpu, memory, pods: "1000" },
  "ephemeral-storage": "1Ti",
});

/** Adds a node that is ready at once. */
export const addNode = (server: Server, spec: NodeSpec): void => {
  const labels = {
    "kubernetes.io/hostname": spec.name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    ...spec.labels,
  };
  make(server, "nodes", undefined, { metadata: { name: spec.name, labels }, spec: {} });
  const node = server.store.get("nodes", spec.name);
  if (node === undefined) return;
  server.store.put("nodes", {
    ...node,
    status: {
      capacity: capacity(spec),
      allocatable: capacity(spec),
      conditions: [ready("True", "KubeletReady", "kubelet is posting ready status", stamp(server.clock.now()))],
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "Hostname", address: spec.name },
      ],
      nodeInfo: { kubeletVersion: "v1.36.3", operatingSystem: "linux", architecture: "amd64", osImage: "simulated" },
    },
  });
};

const annotated = (node: Item, value: string | undefined): Item => {
  const { uid, resourceVersion, annotations = {} } = node.metadata;
  const rest = Object.entries(annotations).filter(([key]) => key !== machine);
  const entries = value === undefined ? rest : [...rest, [machine, value]];
  const meta = metaOf({ ...node.metadata, annotations: Object.fromEntries(entries) });
  return { ...node, metadata: { ...meta, uid, resourceVersion } };
};

const withReady = (node: Item, condition: Fields): Item => {
  const others = itemsAt(node, "status", "conditions").filter((each) => textAt(each, "type") !== "Ready");
  return { ...node, status: { ...fieldsAt(node, "status"), conditions: [...others, condition] } };
};

const taintsOf = (node: Item): readonly unknown[] => itemsAt(node, "spec", "taints");
const isUnreachable = (taint: unknown): boolean => textAt(taint, "key") === unreachable;

const withTaints = (node: Item, taints: readonly unknown[]): Item => {
  const { taints: _old, ...spec } = fieldsAt(node, "spec");
  return { ...node, spec: { ...spec, ...(taints.length > 0 && { taints }) } };
};

/** Stops the machine: its pods and its kubelet do nothing until it is thawed or removed. */
export const freeze = (server: Server, name: string): void => {
  const node = server.store.get("nodes", name);
  if (node === undefined) return;
  server.store.put("nodes", annotated(node, "silent"));
  runAfter(server, graceMs, about("machines.lost", node));
};

/** Lets the machine go on. */
export const thaw = (server: Server, name: string): void => {
  const node = server.store.get("nodes", name);
  if (node === undefined) return;
  const time = stamp(server.clock.now());
  const up = ready("True", "KubeletReady", "kubelet is posting ready status", time);
  const free = withTaints(
    node,
    taintsOf(node).filter((taint) => !isUnreachable(taint)),
  );
  server.store.put("nodes", annotated(withReady(free, up), undefined));
};

/** Deletes the node object, and the machine with it. */
export const removeNode = (server: Server, name: string): void => {
  const node = server.store.get("nodes", name);
  if (node !== undefined) discard(server, "nodes", node);
};

const podsOn = ({ store }: Server, name: string): readonly Item[] =>
  store.list("pods").filter((pod) => textAt(pod, "spec", "nodeName") === name);

const unready = (pod: Item, time: string): Item => {
  const conditions = itemsAt(pod, "status", "conditions").map((each) =>
    textAt(each, "type") === "Ready" && textAt(each, "status") === "True"
      ? { ...fieldsAt(each), status: "False", lastTransitionTime: time }
      : each,
  );
  return { ...pod, status: { ...fieldsAt(pod, "status"), conditions } };
};

/** Seconds for which a pod tolerates an unreachable node; undefined: for ever. */
const toleranceOf = (pod: Item): number | undefined => {
  const toleration = itemsAt(pod, "spec", "tolerations").find((each) => {
    const key = textAt(each, "key") ?? "";
    const effect = textAt(each, "effect") ?? "";
    return (key === "" || key === unreachable) && (effect === "" || effect === "NoExecute");
  });
  return toleration === undefined ? 0 : numberAt(toleration, "tolerationSeconds");
};

const lost = (server: Server, task: Task): void => {
  const node = subject(server, task, "nodes");
  if (node === undefined || !isSilent(node)) return;
  const time = stamp(server.clock.now());
  const down = ready("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", time);
  const taints = ["NoSchedule", "NoExecute"].map((effect) => ({ key: unreachable, effect, timeAdded: time }));
  const others = taintsOf(node).filter((taint) => !isUnreachable(taint));
  server.store.put("nodes", withTaints(withReady(node, down), [...others, ...taints]));
  for (const pod of podsOn(server, node.metadata.name)) {
    rewrite(server, "pods", pod, unready(pod, time));
    const seconds = toleranceOf(pod);
    if (seconds !== undefined) runAfter(server, seconds * 1000, about("machines.evict", pod));
  }
};

const evict = (server: Server, task: Task): void => {
  const pod = subject(server, task);
  if (pod === undefined || !taintsOf(nodeOf(server, pod) ?? pod).some(isUnreachable)) return;
  discard(server, "pods", pod);
};

const end = (server: Server, pod: Item): void => {
  const now = server.clock.now();
  const marked = disrupted(pod, now, "DeletionByPodGC", "PodGC: node no longer exists");
  const failed = { ...marked, status: { ...fieldsAt(marked, "status"), phase: "Failed" } };
  const last = isOver(pod) ? pod : rewrite(server, "pods", pod, failed);
  discard(server, "pods", last, { graceSeconds: 0 });
};

const sweep = (server: Server, task: Task): void => {
  const name = textAt(task, "key") ?? "";
  if (server.store.get("nodes", name) !== undefined) return;
  for (const pod of podsOn(server, name)) end(server, pod);
};

/** The taint out-of-service says that the machine is off: its terminating pods are removed at once. */
const heedTaint = (server: Server, node: Item): void => {
  if (!taintsOf(node).some((taint) => textAt(taint, "key") === outOfService)) return;
  for (const pod of podsOn(server, node.metadata.name))
    if (at(pod.metadata, "deletionTimestamp") !== undefined) end(server, pod);
};

const hear = (server: Server, { type, table, object }: Change): void => {
  if (table !== "nodes") return;
  if (type === "DELETED") runAfter(server, orphanMs, about("machines.sweep", object));
  else if (type === "MODIFIED") heedTaint(server, object);
};

export const machines = (server: Server): Part => ({
  onChange: (change) => hear(server, change),
  tasks: {
    "machines.lost": (task) => lost(server, task),
    "machines.evict": (task) => evict(server, task),
    "machines.sweep": (task) => sweep(server, task),
  },
});

/** The agent as a whole: pods of this node become workers, and pods and services become host names. */
import type { Listener } from "./api.ts";
import type { NodeContext } from "./context.ts";
import { hostsOf } from "./hosts.ts";
import { isTerminal, type Pod, type Service } from "./objects.ts";
import { runPod, type Worker } from "./pod.ts";

export type Agent = {
  readonly workers: () => Iterable<Worker>;
  readonly start: () => void;
  /** Kills every process without a report to the API, as a node failure does. */
  readonly halt: () => Promise<void>;
};

/** Keeps a list by UID, and reports every UID that may have changed. */
const kept = <Item extends { metadata: { uid: string } }>(
  items: Map<string, Item>,
  changed: (uid: string) => void,
): Listener<Item> => {
  const put = (item: Item): void => {
    items.set(item.metadata.uid, item);
    changed(item.metadata.uid);
  };
  const gone = ({ metadata: { uid } }: { metadata: { uid: string } }): void => {
    items.delete(uid);
    changed(uid);
  };
  return {
    put,
    gone,
    all: (all) => {
      const uids = new Set(all.map(({ metadata }) => metadata.uid));
      for (const item of items.values()) if (!uids.has(item.metadata.uid)) gone(item);
      for (const item of all) put(item);
    },
  };
};

export const agentOf = (parts: Omit<NodeContext, "hostsFor">): Agent => {
  const pods = new Map<string, Pod>();
  const services = new Map<string, Service>();
  const workers = new Map<string, Worker>();
  let isDue = false;

  const view = {
    pods: { [Symbol.iterator]: () => pods.values() },
    services: { [Symbol.iterator]: () => services.values() },
    apiAddress: parts.api.server.hostname,
    addressOf: (pod: Pod) =>
      workers.get(pod.metadata.uid)?.address() ?? (isTerminal(pod) ? undefined : pod.status?.podIP),
  };
  const node: NodeContext = { ...parts, hostsFor: (pod, ip) => hostsOf(pod, ip, view) };

  const rewriteSoon = (): void => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      for (const worker of workers.values()) worker.rewriteHosts();
    }, 10);
  };

  const start = (pod: Pod): void => {
    const worker = runPod(node, pod);
    workers.set(pod.metadata.uid, worker);
    void worker.done.then(rewriteSoon);
  };

  /** A pod that a finalizer keeps still serves its logs, so its worker stays as long as the object. */
  const forget = (uid: string, worker: Worker): void => {
    worker.vanish();
    void worker.done.then(() => workers.delete(uid));
  };

  const changed = (uid: string): void => {
    const pod = pods.get(uid);
    const worker = workers.get(uid);
    rewriteSoon();
    if (pod === undefined) {
      if (worker !== undefined) forget(uid, worker);
    } else if (worker !== undefined) worker.update(pod);
    else if (pod.spec.nodeName === node.name) start(pod);
  };

  const halt = async (): Promise<void> => {
    for (const worker of workers.values()) worker.vanish();
    await Promise.all([...workers.values()].map(({ done }) => done));
    node.groups.close();
  };

  return {
    workers: () => workers.values(),
    halt,
    start: () => {
      node.api.follow<Service>("/api/v1/services", kept(services, rewriteSoon));
      node.api.follow<Pod>("/api/v1/pods", kept(pods, changed));
    },
  };
};

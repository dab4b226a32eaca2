/** Events as `kubectl describe` shows them: created once, counted on repetition; a failed write is ignored. */
import { randomBytes } from "node:crypto";
import type { Api } from "./api.ts";
import type { Pod } from "./objects.ts";

export type EventType = "Normal" | "Warning";
export type Tell = (pod: Pod, type: EventType, reason: string, message: string, container?: string) => void;

const known = 1000;

export const eventsOf = (api: Api, nodeName: string): Tell => {
  const told = new Map<string, { path: string; count: number }>();

  const post = async (
    pod: Pod,
    type: EventType,
    reason: string,
    message: string,
    container?: string,
  ): Promise<void> => {
    const { name, namespace, uid } = pod.metadata;
    const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const path = `/api/v1/namespaces/${namespace}/events`;
    const key = [uid, container, reason, message].join("|");
    const before = told.get(key);
    if (before !== undefined) {
      before.count += 1;
      const change = { count: before.count, lastTimestamp: now };
      await api.call("PATCH", before.path, change, "application/merge-patch+json");
      return;
    }
    const event = `${name}.${randomBytes(8).toString("hex")}`;
    told.set(key, { path: `${path}/${event}`, count: 1 });
    for (const old of [...told.keys()].slice(0, Math.max(0, told.size - known))) told.delete(old);
    const field = container === undefined ? {} : { fieldPath: `spec.containers{${container}}` };
    await api.call("POST", path, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: event, namespace },
      involvedObject: { apiVersion: "v1", kind: "Pod", name, namespace, uid, ...field },
      type,
      reason,
      message: message.slice(0, 1000),
      source: { component: "kubelet", host: nodeName },
      reportingComponent: "kubelet",
      reportingInstance: nodeName,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    });
  };

  return (...event) => void post(...event).catch(() => {});
};

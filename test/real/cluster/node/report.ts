/** Writes a pod's status to the API: the newest state only, one write at a time, with retries. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, messageOf, type Reply } from "./api.ts";
import type { Condition, Pod, PodStatus } from "./objects.ts";

export type Reporter = {
  /** Requests a write, since the status may have changed. */
  readonly touch: () => void;
  /** Resolves when all changes are written, or can no longer be written. */
  readonly flush: () => Promise<void>;
  readonly close: () => void;
};

const podPath = (pod: Pod): string => `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;

/**
 * True if the pod is gone or another pod has its name, so that the status has no reader. Other conflicts are retried.
 */
const isLost = (reply: Reply): boolean =>
  reply.status === 404 || (reply.status === 409 && /uid/i.test(messageOf(reply)));

export const reporterOf = (
  api: Api,
  pod: Pod,
  compute: (before: readonly Condition[]) => PodStatus,
  log: (line: string) => void,
): Reporter => {
  let dirty = false;
  let closed = false;
  let working: Promise<void> | undefined;
  let conditions: readonly Condition[] = pod.status?.conditions ?? [];
  let sent = "";

  const send = async (): Promise<void> => {
    const status = compute(conditions);
    conditions = status.conditions ?? [];
    const text = JSON.stringify(status);
    if (text === sent) return;
    const change = { metadata: { uid: pod.metadata.uid }, status };
    const reply = await api.call("PATCH", `${podPath(pod)}/status`, change, "application/strategic-merge-patch+json");
    if (isLost(reply)) closed = true;
    else if (reply.status !== 200) throw new Error(messageOf(reply));
    sent = text;
  };

  const work = async (): Promise<void> => {
    for (let tries = 0; dirty && !closed; ) {
      dirty = false;
      try {
        await send();
        tries = 0;
      } catch (error) {
        dirty = true;
        tries += 1;
        log(`status of ${pod.metadata.namespace}/${pod.metadata.name}: ${String(error)}`);
        await sleep(Math.min(2000, 100 * 2 ** tries));
      }
    }
    working = undefined;
  };

  return {
    touch: () => {
      dirty = true;
      // Deferred, so that simultaneous changes are written together.
      working ??= Promise.resolve().then(work);
    },
    flush: async () => {
      while (working !== undefined) await working;
    },
    close: () => {
      closed = true;
    },
  };
};

/** Deletes the pod without grace, as a kubelet does when its containers have ended. */
export const removePod = async (api: Api, pod: Pod, log: (line: string) => void): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      const body = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } };
      const reply = await api.call("DELETE", podPath(pod), body);
      if (reply.status < 300 || isLost(reply)) return;
      throw new Error(messageOf(reply));
    } catch (error) {
      log(`removal of ${pod.metadata.namespace}/${pod.metadata.name}: ${String(error)}`);
      await sleep(Math.min(5000, 100 * 2 ** tries));
    }
  }
};

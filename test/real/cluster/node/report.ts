/** Brings a pod's status to the API: the newest state wins, one write at a time, as often as it takes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, messageOf, type Reply } from "./api.ts";
import type { Condition, Pod, PodStatus } from "./objects.ts";

export type Reporter = {
  /** Something may have changed. */
  readonly touch: () => void;
  /** Resolves when all that was touched is written, or can never be. */
  readonly flush: () => Promise<void>;
  readonly close: () => void;
};

const podPath = (pod: Pod): string => `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;

/** Gone, or another pod by the same name: nobody waits for this status any more. Other conflicts are worth another try. */
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
      // Not at once: what changes together is written together.
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

/** The last word of a kubelet about a pod: now it may go. */
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

/** The upstream status, projected from the server's pod and its executors, without those that an earlier JVM of the pod left.
 * Pure. */

import * as z from "zod";
import { isRecord, same } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { isEnding, labelOf, ownedBy, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";

/** The shown state of a server. `message` says why it is not ready. */
export type Shown = {
  readonly state: "Ready" | "NotReady" | "Failed";
  readonly message: string;
  readonly podName: string;
  readonly serviceName: string;
  readonly pod: Stored | undefined;
  readonly executors: readonly Stored[];
};

const type = "ServerPodReady";

const conditions = z.looseObject({
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string() })),
});

const others = z.looseObject({ startTime: z.string().optional(), lastUpdateTime: z.string().optional() });

export const isReady = (pod: Stored): boolean =>
  podStatus(pod).conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;

const podIpOf = (pod: Stored | undefined): string | undefined => {
  const status = pod?.["status"];
  const ip = isRecord(status) ? status["podIP"] : undefined;
  return typeof ip === "string" && ip !== "" ? ip : undefined;
};

/** The number of executors in each phase, in upstream's lower case. */
const counted = (executors: readonly Stored[]): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>();
  for (const pod of executors) {
    const phase = (podStatus(pod).phase ?? "Unknown").toLowerCase();
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** The condition; its time changes only with its status. */
const conditionOf = (object: Stored, { state, message }: Shown, now: number) => {
  const status = state === "Ready" ? "True" : "False";
  const before = conditions.safeParse(object["status"]).data?.conditions.find((one) => one.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timeText(now);
  return { type, status, lastTransitionTime, reason: state === "Ready" ? type : "ServerPodNotReady", message };
};

/** The whole desired `status`; `lastUpdateTime` changes only with another field. */
export const projected = (object: Stored, shown: Shown, now: number): Record<string, unknown> => {
  const { data = {} } = others.safeParse(object["status"] ?? {});
  const podIp = podIpOf(shown.pod);
  const executors = counted(shown.executors);
  const { podName, serviceName, state } = shown;
  const status = {
    conditions: [conditionOf(object, shown, now)],
    state,
    server: { podName, ...(podIp === undefined ? {} : { podIp }), serviceName },
    ...(Object.keys(executors).length === 0 ? {} : { executors }),
    startTime: data.startTime ?? timeText(now),
  };
  const unchanged = { ...status, lastUpdateTime: data.lastUpdateTime };
  return same(object["status"], unchanged) && data.lastUpdateTime !== undefined
    ? unchanged
    : { ...status, lastUpdateTime: timeText(now) };
};

export type ServerExecutors = {
  readonly current: readonly Stored[];
  /** Executors of an earlier JVM, without a driver. */
  readonly left: readonly Stored[];
};

/** Spark's application id, which differs for each JVM. */
const applicationOf = (pod: Stored): string | undefined => labelOf(pod, "spark-app-selector");

const createdAt = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

/**
 * Separates the executors of earlier JVMs. A restarted container is another application, which clocks of nodes do not
 * show; but once it has an executor, older ones by the API server's clock of another application are an earlier one's.
 */
export const separated = (server: Stored | undefined, executors: readonly Stored[]): ServerExecutors => {
  const own = executors.filter((pod) => server !== undefined && ownedBy(pod, server.metadata.uid));
  const [newest] = own.toSorted((a, b) => createdAt(b) - createdAt(a));
  if (newest === undefined) return { current: executors, left: [] };
  const left = own.filter((pod) => applicationOf(pod) !== applicationOf(newest) && createdAt(pod) < createdAt(newest));
  return { current: executors.filter((pod) => !left.includes(pod)), left };
};

/** Deletes left executors at this resourceVersion only. */
export const endingsOf = ({ left }: ServerExecutors): readonly Effect[] =>
  left
    .filter((pod) => !isEnding(pod))
    .map(({ metadata: { name, namespace, uid, resourceVersion } }) => ({
      do: "delete",
      ref: { resource: pods, name, ...(namespace === undefined ? {} : { namespace }) },
      uid,
      resourceVersion,
    }));

/**
 * The memory of a SparkConnect: how often in a row its server has ended, when the next may be created, and the
 * reported reasons why one does not start; and its recovery. The upstream status is projected from the server's pod
 * and its executors, without those that an earlier JVM of the pod left. Pure.
 */
import * as z from "zod";
import { fieldsOf, isRecord, same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import type { Effect, OwnedObjects, Recovery } from "../../core/plan.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { isEnding, labelOf, ownedBy, podStatus } from "../../kube/pods.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { instant } from "../../kube/schema.ts";
import { configMapName, connectLabel, launchedLabel, serverName } from "../schema/resource.ts";

/** The shown state of a server. `message` says why it is not ready. */
export type ConnectState = {
  readonly state: "Ready" | "NotReady" | "Failed";
  readonly message: string;
  readonly podName: string;
  readonly serviceName: string;
  readonly pod: Stored | undefined;
  readonly executors: readonly Stored[];
  /** Confs and fields of the spec that the server does not get. */
  readonly ignored?: readonly string[];
};

/** The longest message of a condition, in characters. */
const longestMessage = 1_024;

const readyType = "ServerPodReady";
const ignoredType = "RekindleConfIgnored";

const conditions = z.looseObject({
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string() })),
});

const others = z.looseObject({ startTime: z.string().optional(), lastUpdateTime: z.string().optional() });

export const isReady = (pod: Stored): boolean =>
  podStatus(pod).conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;

const podIpOf = (pod: Stored | undefined): string | undefined => {
  const { podIP = "" } = podStatus(pod);
  return podIP === "" ? undefined : podIP;
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

type Condition = Readonly<Record<"type" | "status" | "reason" | "message", string>>;

const readiness = ({ state, message }: ConnectState): Condition =>
  state === "Ready"
    ? { type: readyType, status: "True", reason: readyType, message }
    : { type: readyType, status: "False", reason: "ServerPodNotReady", message };

/** The conditions; the time of each changes only with its status. */
const conditionsOf = (object: Stored, shown: ConnectState, now: number) => {
  const { ignored = [] } = shown;
  const message = ignored.join("; ").slice(0, longestMessage);
  const all = [
    readiness(shown),
    ...(message === "" ? [] : [{ type: ignoredType, status: "True", reason: ignoredType, message }]),
  ];
  const before = conditions.safeParse(object.status).data?.conditions ?? [];
  return all.map(({ type, status, reason, message }) => {
    const same = before.find((one) => one.type === type && one.status === status);
    return { type, status, lastTransitionTime: same?.lastTransitionTime ?? timeText(now), reason, message };
  });
};

/** The conditions with a trouble as the message of a server that is not ready. */
export const heldConditions = (shown: readonly unknown[], message: string): readonly unknown[] =>
  shown.map((one) =>
    isRecord(one) && one["type"] === readyType && one["reason"] !== readyType
      ? { ...one, message: `held up by the platform: ${message}`.slice(0, longestMessage) }
      : one,
  );

/** The whole desired `status`; `lastUpdateTime` changes only with another field. */
export const projected = (object: Stored, shown: ConnectState, now: number): Record<string, unknown> => {
  const { data = {} } = others.safeParse(object.status ?? {});
  const podIp = podIpOf(shown.pod);
  const executors = counted(shown.executors);
  const { podName, serviceName, state } = shown;
  const status = {
    conditions: conditionsOf(object, shown, now),
    state,
    server: { podName, ...(podIp === undefined ? {} : { podIp }), serviceName },
    ...(Object.keys(executors).length === 0 ? {} : { executors }),
    startTime: data.startTime ?? timeText(now),
  };
  const unchanged = { ...status, lastUpdateTime: data.lastUpdateTime };
  return same(object.status, unchanged) && data.lastUpdateTime !== undefined
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

const memory = z.object({
  /** Ends of the server in a row without having been ready. */
  ends: z.number().int(),
  /** Time of the next creation, epoch ms. */
  retryAt: instant.optional(),
  /** Reported reasons why the server did not start, until it is ready: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
  /** The server's pod, its ended tasks, and since when none has run, epoch ms: see idle.ts. */
  activity: z.object({ server: z.string(), since: instant, ended: z.int() }).optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("SparkConnect", memory);

/** Keeps the fields of a stored memory that parse, and reports the others. */
const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

const labels = (name: string): Readonly<Record<string, string>> => ({ [launchedLabel]: "true", [connectLabel]: name });

const ownedObjects = ({ namespace, name }: Key, uid: string): OwnedObjects => {
  const list = (resource: Resource, of: Readonly<Record<string, string>>) =>
    ({ do: "list", resource, namespace, labels: of }) as const;
  const map: Ref = { resource: configMaps, namespace, name: configMapName(name) };
  const queries = [
    list(pods, labels(name)),
    list(services, { [connectLabel]: name }),
    { do: "get", ref: map },
  ] as const;
  return { queries, owners: [uid] };
};

const named = (object: Stored, field: "podName" | "serviceName"): string => {
  const { [field]: name } = fieldsOf(fieldsOf(object.status)["server"]);
  return typeof name === "string" ? name : serverName(object.metadata.name);
};

/** The status after a cleanup: the server has ended. */
const emptied = (object: Stored, _: Memory, now: number, message: string) =>
  projected(
    object,
    {
      ...{ state: "NotReady", message, pod: undefined, executors: [] },
      ...{ podName: named(object, "podName"), serviceName: named(object, "serviceName") },
    },
    now,
  );

/** Recovery of a SparkConnect: its memory holds only how often its server has ended. */
export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: () => true,
  rebuild: ({ stored }) => {
    const { kept, problems } = salvageMemory(stored);
    return { memory: { ...kept, ends: kept.ends ?? 0 }, kept: Object.keys(kept), problems };
  },
  voided: (memory) => memory,
  emptied,
};

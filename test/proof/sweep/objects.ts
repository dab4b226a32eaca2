/** Reads facts from an application, its pods and its records. */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, numberAt, textAt } from "./fields.ts";

type About = { readonly namespace: string; readonly name: string; readonly kind?: string };

/** Namespace of the records of cluster-scoped objects. */
export const home = "rekindle";

/** True for the delivery record of an object's updates; of a SparkApplication unless a kind is named. */
export const isDelivery = (object: unknown, { namespace, name, kind = "SparkApplication" }: About): boolean =>
  textAt(object, "metadata", "namespace") === namespace &&
  textAt(object, "metadata", "name") === `updates.${kind.toLowerCase()}.${name}`;

/** True for the record of an application's kept logs. */
export const isLogs = (object: unknown, { namespace, name }: Omit<About, "kind">): boolean =>
  textAt(object, "metadata", "namespace") === namespace &&
  textAt(object, "metadata", "name") === `logs.sparkapplication.${name}`;

/** True for a change that left everything but the status as it was. */
export const isSameButStatus = ({ object, before }: Change): boolean => {
  const bare = (one: Change["object"] | undefined): string =>
    JSON.stringify({ ...one, status: undefined, metadata: { ...one?.metadata, resourceVersion: "" } });
  return bare(object) === bare(before);
};

/** The fields that define a run, as text. */
export const runOf = (object: Change["object"]): string =>
  JSON.stringify({ ...Object(object["spec"]), suspend: undefined, timeToLiveSeconds: undefined });

/** The planned run in a record, and its owner. */
export const plannedIn = (record: Change["object"]) => {
  const memory = at(record, "spec", "memory");
  return {
    cluster: textAt(record, "spec", "cluster"),
    uid: textAt(record, "spec", "uid"),
    attempt: numberAt(memory, "attempt") ?? 0,
    generation: numberAt(memory, "generation") ?? 0,
    plannedAt: numberAt(memory, "plannedAt"),
    driverAttempt: numberAt(memory, "driver", "attempt"),
  };
};

/** True when the pod has ended. */
export const isOver = (pod: unknown): boolean => {
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
};

/** True of the server's own count of what a quota's namespace uses, which it writes with each creation. */
export const isCounted = (change: Change): boolean => change.table === "resourcequotas" && isSameButStatus(change);

/** True of what the admission rounds of queues write of their own: queues, their records, and Events about them. */
export const isOfQueue = ({ table, object }: Change): boolean =>
  table === "queues.scheduling.volcano.sh" ||
  (table === "checkpoints.rekindle.dev" && object.metadata.name.startsWith("queue.")) ||
  (table === "events" && textAt(object, "involvedObject", "kind") === "Queue");

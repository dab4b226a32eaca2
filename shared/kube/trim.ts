/** What is kept of an object while it is watched: enough to tell whether a change matters and to whom. */
import type { Metadata, Stored } from "../core/object.ts";
import { isRecord, isStored, type Json } from "./responses.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

const only = (value: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));

const recordAt = (value: Json, name: string): Json => {
  const inner = value[name];
  return isRecord(inner) ? inner : {};
};

const trimMetadata = (metadata: Stored["metadata"]): Stored["metadata"] => {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp, creationTimestamp } = metadata;
  const { deletionGracePeriodSeconds } = metadata;
  const { annotations = {}, labels, ownerReferences, finalizers } = metadata;
  const { [lastApplied]: _, ...kept } = annotations;
  const optional: Partial<Metadata> = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    ...(labels === undefined ? {} : { labels }),
    ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
  return { name, uid, resourceVersion, ...optional };
};

const trimContainer = (container: unknown): Json => {
  if (!isRecord(container)) return {};
  const state = recordAt(container, "state");
  return {
    name: container["name"],
    state: {
      ...(isRecord(state["terminated"])
        ? { terminated: only(state["terminated"], ["exitCode", "reason", "finishedAt"]) }
        : {}),
      ...(isRecord(state["waiting"]) ? { waiting: only(state["waiting"], ["reason"]) } : {}),
      ...(isRecord(state["running"]) ? { running: {} } : {}),
    },
  };
};

const trimStatus = (status: Json): Json => {
  const { containerStatuses } = status;
  return {
    ...only(status, ["phase", "reason"]),
    ...(Array.isArray(containerStatuses) ? { containerStatuses: containerStatuses.map(trimContainer) } : {}),
  };
};

/** Metadata, and of the status its phase, its reason and how its containers are. */
export const trim = (object: Stored): Stored => {
  const { apiVersion, kind, metadata } = object;
  const status = trimStatus(recordAt(object, "status"));
  return {
    apiVersion,
    kind,
    metadata: trimMetadata(metadata),
    ...(Object.keys(status).length === 0 ? {} : { status }),
  };
};

/** What is kept of an object whose first step need not read it, for it stands whole beside that. */
export const trimWith = (object: Stored): Stored => ({ ...trim(object), whole: object });

/** The object that stands whole beside what is kept of it. */
export const wholeOf = ({ whole }: Stored): Stored | undefined => (isStored(whole) ? whole : undefined);

const trimCondition = (condition: unknown): Json =>
  isRecord(condition) ? only(condition, ["type", "status", "reason", "message"]) : {};

/** What a decision on a pod needs as well: where it runs, since when, and what the platform says of it. */
export const trimPod = (pod: Stored): Stored => {
  const trimmed = trim(pod);
  const status = recordAt(pod, "status");
  const { conditions } = status;
  const { nodeName, schedulerName } = recordAt(pod, "spec");
  return {
    ...trimmed,
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(schedulerName === undefined || schedulerName === "default-scheduler" ? {} : { schedulerName }),
    },
    status: {
      ...recordAt(trimmed, "status"),
      ...only(status, ["message", "startTime", "podIP"]),
      ...(Array.isArray(conditions) ? { conditions: conditions.map(trimCondition) } : {}),
    },
  };
};

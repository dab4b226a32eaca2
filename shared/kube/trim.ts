/** Trims watched objects to the fields that tell whether a change matters, and for which key. */

import { fieldsOf, isRecord } from "../core/json.ts";
import { lastApplied } from "../core/marks.ts";
import type { Metadata, Stored, StoredMetadata } from "../core/object.ts";
import { podSpec, podStatus } from "./pods.ts";
import { isStored, type Json } from "./responses.ts";

/** Returns the record with these fields alone. */
export const only = (value: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));

const trimMetadata = (metadata: StoredMetadata): StoredMetadata => {
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
  const state = fieldsOf(container["state"]);
  return {
    name: container["name"],
    state: {
      ...(isRecord(state["terminated"])
        ? { terminated: only(state["terminated"], ["exitCode", "reason", "startedAt", "finishedAt"]) }
        : {}),
      ...(isRecord(state["waiting"]) ? { waiting: only(state["waiting"], ["reason"]) } : {}),
      ...(isRecord(state["running"]) ? { running: only(state["running"], ["startedAt"]) } : {}),
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

/** Keeps the metadata, and of the status phase, reason and the states of the containers. */
export const trim = (object: Stored): Stored => {
  const { apiVersion, kind, metadata } = object;
  const status = trimStatus(fieldsOf(object.status));
  return {
    apiVersion,
    kind,
    metadata: trimMetadata(metadata),
    ...(Object.keys(status).length === 0 ? {} : { status }),
  };
};

/** Trims an object and keeps it whole beside that, so that its first step need not read it. */
export const trimWith = (object: Stored): Stored => ({ ...trim(object), whole: object });

/** Returns the whole object that `trimWith` kept. */
export const wholeOf = ({ whole }: Stored): Stored | undefined => (isStored(whole) ? whole : undefined);

const trimCondition = (condition: object): Json => only({ ...condition }, ["type", "status", "reason", "message"]);

/** Keeps what decisions on a pod need besides: node, scheduler, start, address, conditions and message. */
export const trimPod = (pod: Stored): Stored => {
  const trimmed = trim(pod);
  const { conditions, ...status } = podStatus(pod);
  const { nodeName, schedulerName } = podSpec(pod);
  return {
    ...trimmed,
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(schedulerName === undefined || schedulerName === "default-scheduler" ? {} : { schedulerName }),
    },
    status: {
      ...fieldsOf(trimmed.status),
      ...only(status, ["message", "startTime", "podIP"]),
      ...(conditions === undefined ? {} : { conditions: conditions.map(trimCondition) }),
    },
  };
};

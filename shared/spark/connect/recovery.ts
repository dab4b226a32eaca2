/** Recovery of a SparkConnect: its memory holds only how often its server has ended. */
import { fieldsOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import type { OwnedObjects, Recovery } from "../../core/recovery.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { type Memory, salvageMemory } from "./memory.ts";
import { configMapName, connectLabel, launchedLabel, serverName } from "./resource.ts";
import { projected } from "./status.ts";

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
  const { [field]: name } = fieldsOf(fieldsOf(object["status"])["server"]);
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

/** The memory of a SparkConnect: how often in a row its server has ended, when the next may be created, and the reported
 * reasons why one does not start; and its recovery. */

import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import type { OwnedObjects, Recovery } from "../../core/plan.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { instant } from "../../kube/schema.ts";
import { configMapName, connectLabel, launchedLabel, serverName } from "../schema/resource.ts";
import { projected } from "./status.ts";

const memory = z.object({
  /** Ends of the server in a row without having been ready. */
  ends: z.number().int(),
  /** Time of the next creation, epoch ms. */
  retryAt: instant.optional(),
  /** Reported reasons why the server did not start, until it is ready: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
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

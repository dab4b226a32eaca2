/** What an application, its pods and its records say of themselves. */
import type { Change } from "../../../shared/simulator/store.ts";
import { at, numberAt, textAt } from "./fields.ts";

type About = { readonly namespace: string; readonly name: string; readonly kind?: string };

/** Where records of objects stand that are in no namespace. */
export const home = "rekindle";

/** True for the record of an object's updates, as far as they came; of a SparkApplication unless a kind is named. */
export const isDelivery = (object: unknown, { namespace, name, kind = "SparkApplication" }: About): boolean =>
  textAt(object, "metadata", "namespace") === namespace &&
  textAt(object, "metadata", "name") === `updates.${kind.toLowerCase()}.${name}`;

/** True for a change that left everything but the status as it was. */
export const isSameButStatus = ({ object, before }: Change): boolean => {
  const bare = (one: Change["object"] | undefined): string =>
    JSON.stringify({ ...one, status: undefined, metadata: { ...one?.metadata, resourceVersion: "" } });
  return bare(object) === bare(before);
};

/** What a run depends on, as text. */
export const runOf = (object: Change["object"]): string =>
  JSON.stringify({ ...Object(object["spec"]), suspend: undefined, timeToLiveSeconds: undefined });

/** What a record says of the run that is planned, and whose it is. */
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

/** The pod has ended, one way or the other. */
export const isOver = (pod: unknown): boolean => {
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
};

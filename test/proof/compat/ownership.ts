/**
 * Owners of the objects of a submission: with Spark the driver pod, with us the application (`additions.ts` says why).
 * Both sides drop an owner that is exactly as intended; any other owner stays and shows as a difference.
 */
import { same } from "../../../shared/core/json.ts";
import type { Json } from "./compare.ts";
import { isRecord } from "./compare.ts";

const ownersOf = (object: Json): unknown => (isRecord(object["metadata"]) ? object["metadata"]["ownerReferences"] : {});

export const withoutOwners = (object: Json): Json => {
  const { ownerReferences: _, ...metadata } = isRecord(object["metadata"]) ? object["metadata"] : {};
  return { ...object, metadata };
};

/** The owner in normalised objects, whose UIDs are all the same. */
const podOwner = (driver: string): unknown => [
  { apiVersion: "v1", kind: "Pod", name: driver, uid: "<UUID>", controller: true },
];

const ourOwner = (application: string): unknown => [
  {
    apiVersion: "sparkoperator.k8s.io/v1beta2",
    kind: "SparkApplication",
    name: application,
    uid: "<UUID>",
    controller: true,
  },
];

/** Returns a recorded object of Spark's client without the driver as its owner. */
export const ofDriver = (object: Json, driver: string): Json =>
  same(ownersOf(object), podOwner(driver)) ? withoutOwners(object) : object;

/** Returns an object of ours without the application as its owner. */
export const ofApplication = (object: Json, application: string): Json =>
  same(ownersOf(object), ourOwner(application)) ? withoutOwners(object) : object;

/** Returns the name of the driver pod among recorded objects, by its role. */
export const driverIn = (objects: readonly Json[]): string => {
  const names = objects.flatMap(({ kind, metadata }) => {
    const labels = isRecord(metadata) && isRecord(metadata["labels"]) ? metadata["labels"] : {};
    return kind === "Pod" && isRecord(metadata) && labels["spark-role"] === "driver" ? [`${metadata["name"]}`] : [];
  });
  return names[0] ?? "";
};

/**
 * Who owns what a submission makes: Spark's driver pod, the application with us (`additions.ts` says why). Taken away on
 * both sides where each is exactly as it is meant; anything else stays, and shows as a difference.
 */
import { same } from "../../../shared/core/json.ts";
import type { Json } from "./compare.ts";
import { isRecord } from "./compare.ts";

const ownersOf = (object: Json): unknown => (isRecord(object["metadata"]) ? object["metadata"]["ownerReferences"] : {});

const withoutOwners = (object: Json): Json => {
  const { ownerReferences: _, ...metadata } = isRecord(object["metadata"]) ? object["metadata"] : {};
  return { ...object, metadata };
};

/** Objects are normal: every UID has the same name. */
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

/** A recorded object of Spark's client, without its driver as the owner. */
export const ofDriver = (object: Json, driver: string): Json =>
  same(ownersOf(object), podOwner(driver)) ? withoutOwners(object) : object;

/** An object of ours, without the application as the owner that it has in the driver's place. */
export const ofApplication = (object: Json, application: string): Json =>
  same(ownersOf(object), ourOwner(application)) ? withoutOwners(object) : object;

/** The driver pod among recorded objects, by its role. */
export const driverIn = (objects: readonly Json[]): string => {
  const names = objects.flatMap(({ kind, metadata }) => {
    const labels = isRecord(metadata) && isRecord(metadata["labels"]) ? metadata["labels"] : {};
    return kind === "Pod" && isRecord(metadata) && labels["spark-role"] === "driver" ? [`${metadata["name"]}`] : [];
  });
  return names[0] ?? "";
};

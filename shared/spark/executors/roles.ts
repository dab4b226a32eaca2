/** The role of a pod of an application, by the label that Spark gives it. */
import type { Obj } from "../../core/object.ts";

export const isDriver = (pod: Obj): boolean => pod.metadata.labels?.["spark-role"] === "driver";

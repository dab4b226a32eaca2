/** The ConfigMap that all executors of a driver share: the driver's configuration files. */
import type { Obj, OwnerReference } from "../../core/object.ts";
import type { Texts } from "../configuration/conf.ts";
import { propertiesText } from "../configuration/properties.ts";

export type Driver = { readonly name: string; readonly uid: string };

export const driverReference = ({ name, uid }: Driver): OwnerReference => ({
  apiVersion: "v1",
  kind: "Pod",
  name,
  uid,
  controller: true,
});

export type MapRequest = {
  readonly name: string;
  readonly namespace: string;
  readonly applicationId: string;
  readonly driver: Driver;
  /** By name, without `spark.properties`. */
  readonly files: Texts;
};

/** Not needed where `spark.kubernetes.executor.disableConfigMap` is true. */
export const executorMap = ({ name, namespace, applicationId, driver, files }: MapRequest): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name,
    namespace,
    labels: { "spark-app-selector": applicationId, "spark-role": "executor" },
    ownerReferences: [driverReference(driver)],
  },
  immutable: true,
  data: {
    ...files,
    "spark.properties": propertiesText(
      `Java properties built from Kubernetes config map with name: ${name}`,
      new Map([["spark.kubernetes.namespace", namespace]]),
    ),
    "spark.kubernetes.namespace": namespace,
  },
});

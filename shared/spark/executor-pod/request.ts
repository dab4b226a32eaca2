/** The request for an executor, the context of its steps, and the ConfigMap that all executors of a driver share. */

import type { Obj, OwnerReference } from "../../core/object.ts";
import { type Conf, propertiesText, type Texts } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";

type Driver = { readonly name: string; readonly uid: string };

export const driverReference = ({ name, uid }: Driver): OwnerReference => ({
  apiVersion: "v1",
  kind: "Pod",
  name,
  uid,
  controller: true,
});

type MapRequest = {
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

export type ExecutorRequest = {
  /** The complete confs of the driver. */
  readonly conf: Conf;
  readonly sparkVersion: string;
  readonly applicationId: string;
  /** A whole number, unique among all executors of this application. */
  readonly executorId: string;
  /** Prefix of the pods' names, unless `spark.kubernetes.executor.podNamePrefix` is set. */
  readonly prefix: string;
  readonly driver: Driver & { readonly ip: string | undefined };
  /** The user that the driver runs as: its SPARK_USER. */
  readonly user: string;
  /** The driver's SPARK_LOCAL_DIRS, for executors without scratch volumes of their own. */
  readonly localDirs: string;
  readonly configMap: string;
  /** Names of the configuration files in the ConfigMap, beside `spark.properties`. */
  readonly confFiles: readonly string[];
  /** The executors' pod template as an object. */
  readonly template: unknown;
  /** The secret that this application's processes share, when they authenticate each other. */
  readonly authSecret: string | undefined;
};

/** The part of a request that is the same for every executor of a run, and known at submission. */
export type ExecutorBasis = Omit<ExecutorRequest, "executorId" | "driver">;

export type ExecutorContext = ExecutorRequest & {
  readonly rules: Rules;
  /** The confs as written; `conf` has their references resolved. */
  readonly written: Conf;
  readonly podName: string;
  readonly labels: Texts;
};

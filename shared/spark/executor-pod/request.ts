/** The request for an executor, and the context of its steps. */
import type { Conf, Texts } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";
import type { Driver } from "./config-map.ts";

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

/** What an executor is made from, and what its steps share. */
import type { Conf, Texts } from "../submission/conf.ts";
import type { Rules } from "../submission/versions.ts";
import type { Driver } from "./config-map.ts";

export type ExecutorRequest = {
  /** What the driver reads as its confs, complete. */
  readonly conf: Conf;
  readonly sparkVersion: string;
  readonly applicationId: string;
  /** A whole number that no other executor of this application ever had. */
  readonly executorId: string;
  /** Start of the pods' names, unless `spark.kubernetes.executor.podNamePrefix` says another. */
  readonly prefix: string;
  readonly driver: Driver & { readonly ip: string | undefined };
  /** The user that the driver runs as: its SPARK_USER. */
  readonly user: string;
  /** The driver's SPARK_LOCAL_DIRS, which executors without scratch volumes of their own use as well. */
  readonly localDirs: string;
  readonly configMap: string;
  /** Names of the configuration files in it, beside `spark.properties`. */
  readonly confFiles: readonly string[];
  /** The executors' pod template as an object. */
  readonly template: unknown;
  /** The secret that this application's processes share, when they authenticate each other. */
  readonly authSecret: string | undefined;
};

/** All that is the same for every executor of a run, and known when it is submitted. */
export type ExecutorBasis = Omit<ExecutorRequest, "executorId" | "driver">;

export type ExecutorContext = ExecutorRequest & {
  readonly rules: Rules;
  /** The confs as they were written; `conf` has them filled in. */
  readonly written: Conf;
  readonly podName: string;
  readonly labels: Texts;
};

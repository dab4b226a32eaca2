/** The input of every step of Spark's submission client, and its output: edits of the pod, confs, objects. */
import type { Obj } from "../../../core/object.ts";
import type { Json } from "../../../kube/responses.ts";
import type { Conf, Texts } from "../../configuration/conf.ts";
import type { Rules } from "../../configuration/versions.ts";
import type { SparkPod } from "../pods/pod.ts";
import type { Identity } from "./identity.ts";

/** The main program: a JVM class (with or without a jar), a Python file or an R file. */
export type Program = {
  readonly language: "java" | "python" | "r";
  readonly mainClass: string;
  /** `spark-internal` when the class is in the image already. */
  readonly resource: string;
  readonly arguments: readonly string[];
};

/** The facts that the real client takes from its machine. A function has the user's name only. */
export type Machine = {
  readonly user: string;
  readonly localDirs?: string;
  readonly python?: string;
  readonly driverPython?: string;
  /** The files of SPARK_CONF_DIR and HADOOP_CONF_DIR, by name. */
  readonly confFiles?: Texts;
  readonly hadoopFiles?: Texts;
  /** Other files that confs may name, by path. */
  readonly files?: Texts;
};

/** A request to Spark's submission client. */
export type Request = {
  readonly conf: Conf;
  readonly sparkVersion: string;
  readonly identity: Identity;
  readonly program: Program;
  readonly proxyUser: string | undefined;
  readonly machine: Machine;
  /** The driver's pod template as an object, and the executors' as the text that the driver will read. */
  readonly templates: { readonly driver?: unknown; readonly executor?: string; readonly podGroup?: Json };
};

export type Context = {
  readonly conf: Conf;
  readonly rules: Rules;
  readonly sparkVersion: string;
  readonly identity: Identity;
  readonly applicationId: string;
  readonly appName: string;
  readonly namespace: string;
  readonly driverPodName: string;
  /** The driver's labels: the user's, and those by which Spark finds its pods. */
  readonly labels: Texts;
  readonly program: Program;
  readonly proxyUser: string | undefined;
  readonly machine: Machine;
  /** The executors' template, as text for the driver. */
  readonly executorTemplate: string | undefined;
  /** The template of a PodGroup, when the confs name one. */
  readonly podGroup: Json | undefined;
};

export type Contribution = {
  readonly pod?: (pod: SparkPod) => SparkPod;
  readonly confs?: Texts;
  readonly objects?: readonly Obj[];
  /** Objects that the real client creates before the driver pod. */
  readonly first?: readonly Obj[];
};

export type Step = (context: Context) => Contribution;

/** Resolves the placeholders that Spark allows in labels and annotations. A driver has no executor id. */
export const withIds = (texts: Texts, applicationId: string): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [
      key,
      text.replaceAll("{{APP_ID}}", applicationId).replaceAll("{{EXECUTOR_ID}}", ""),
    ]),
  );

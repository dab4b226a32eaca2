/** The input of every step of Spark's submission client, and its output: edits of the pod, confs, objects. */

import { digest } from "../../../core/key.ts";
import type { Obj } from "../../../core/object.ts";
import type { Json } from "../../../kube/responses.ts";
import type { Conf, Texts } from "../../configuration/conf.ts";
import { type Rules, rulesFor } from "../../configuration/versions.ts";
import type { SparkPod } from "../pods/pod.ts";

export type Identity = {
  readonly submissionId: string;
  /** `spark.app.id` and the label `spark-app-selector`. */
  readonly applicationId: string;
  /** Prefix of the names of all objects of the driver. */
  readonly prefix: string;
  readonly serviceName: string;
  readonly confMapName: string;
  readonly localDir: string;
};

/** A hash as a UUID of version 8, the version for custom rules. */
const uuidOf = (hex: string): string => {
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** A resource name as Spark derives it. */
const resourceName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/-+/g, "-")
    .replace(/^-/, "")
    .replace(/^[0-9]/, "x");

/** A label value as Spark derives it. */
export const labelOf = (appName: string): string =>
  appName
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/-+/g, "-")
    .slice(0, 63)
    .replace(/^-/, "")
    .replace(/-$/, "");

const longestService = 63;

const serviceNameOf = (prefix: string, shortId: string): string => {
  const preferred = `${prefix}-driver-svc`;
  return preferred.length <= longestService ? preferred : `spark-${shortId}-driver-svc`;
};

/** Returns the names of one submission. `seed` identifies it: the application's UID and the attempt. */
export const identityOf = (appName: string, seed: string): Identity => {
  const drawn = (what: string, length: number): string => digest("rekindle", what, seed).slice(0, length);
  const prefix = resourceName(`${appName}-${drawn("prefix", 16)}`);
  return {
    submissionId: uuidOf(drawn("submission", 32)),
    applicationId: `spark-${drawn("application", 32)}`,
    prefix,
    serviceName: serviceNameOf(prefix, drawn("service", 16)),
    confMapName: `spark-drv-${drawn("conf", 16)}-conf-map`,
    localDir: `/var/data/spark-${uuidOf(drawn("dir", 32))}`,
  };
};

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
  /** The version of the client whose steps build the objects; absent: `sparkVersion`. */
  readonly clientVersion?: string;
  readonly identity: Identity;
  readonly program: Program;
  readonly proxyUser: string | undefined;
  readonly machine: Machine;
  /** The driver's pod template as an object, and the executors' as the text that the driver will read. */
  readonly templates: { readonly driver?: unknown; readonly executor?: string; readonly podGroup?: Json };
};

export const clientRules = ({ clientVersion, sparkVersion }: Pick<Request, "clientVersion" | "sparkVersion">): Rules =>
  rulesFor(clientVersion ?? sparkVersion);

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

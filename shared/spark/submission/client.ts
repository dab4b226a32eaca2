/**
 * Prepares a command line as `spark-submit` does before the Kubernetes client: the program, and the final confs.
 * Builds objects from confs, as Spark's own submission client does: the steps in its order, then a ConfigMap with the
 * confs that the driver reads. A submission that the client refuses is refused.
 */

import type { Obj } from "../../core/object.ts";
import { type Conf, listOf, propertiesText, understood } from "../configuration/conf.ts";
import { emptyPod, podOf, type SparkPod, withEnv, withVolume } from "./pods/pod.ts";
import { driverLabels, refusalOf } from "./refusals.ts";
import { basic } from "./steps/basic.ts";
import { credentials, hadoop, kerberos, secretEnv, secrets } from "./steps/credentials.ts";
import { command, executorTemplateConf, network, service, template, volcano } from "./steps/driver.ts";
import { type Context, clientRules, type Program, type Request, type Step } from "./steps/step.ts";
import { localDirs, volumes } from "./steps/volumes.ts";

export type CommandLine = {
  readonly master: string;
  readonly name: string;
  readonly mainClass: string | undefined;
  readonly resource: string;
  readonly arguments: readonly string[];
  /** The values of `--conf` in their order: of two with one key the later wins. */
  readonly confs: readonly (readonly [string, string])[];
  /** Options that have a conf of their own, by that conf; they win over `confs`. */
  readonly options: Readonly<Record<string, string>>;
  readonly submittedAt: number;
};

export type Prepared =
  | { readonly conf: Conf; readonly program: Program; readonly notes: readonly string[] }
  | { readonly refused: string };

const internal = "spark-internal";

const languageOf = (resource: string): Program["language"] => {
  if (resource.endsWith(".py")) return "python";
  return resource.toLowerCase().endsWith(".r") ? "r" : "java";
};

/** The classes of Spark that run programs of these languages. */
export const runners = {
  python: "org.apache.spark.deploy.PythonRunner",
  r: "org.apache.spark.deploy.RRunner",
} as const;

const programOf = (line: CommandLine): Program | undefined => {
  const language = line.resource === internal ? "java" : languageOf(line.resource);
  const mainClass = language === "java" ? line.mainClass : runners[language];
  if (mainClass === undefined) return undefined;
  const { resource, arguments: given } = line;
  return { language, mainClass, resource, arguments: given };
};

/** Errors of spaces around URIs: lists on the command line are not trimmed, those in confs are. */
const spaced = ({ options }: CommandLine): readonly string[] =>
  ["spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles"].flatMap((key) =>
    (options[key] ?? "")
      .split(",")
      .filter((part) => part.trim() !== "" && part !== part.trim())
      .map((part) => `${key}: illegal character in the URI ${JSON.stringify(part)}: it begins or ends with a space`),
  );

/** Trims lists; a jar that is the program is added to the jars. */
const listed = (confs: Map<string, string>, program: Program): void => {
  for (const key of ["spark.jars", "spark.files", "spark.archives"]) {
    const text = confs.get(key);
    if (text !== undefined) confs.set(key, listOf(text).join(","));
  }
  if (program.language === "java") {
    const own = program.resource === internal ? [] : [program.resource];
    confs.set("spark.jars", [...listOf(confs.get("spark.jars")), ...own].join(","));
  }
  confs.set("spark.submit.pyFiles", listOf(confs.get("spark.submit.pyFiles")).join(","));
};

const shells = ["spark-shell", "pyspark-shell", "sparkr-shell"];

/** Classes that Spark's client runs in client mode only, and the alternative. */
const attended: Readonly<Record<string, string>> = {
  "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver": "Spark SQL shell: run a program instead",
  "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2":
    "Spark Thrift server: start it from a class of your own, by its startWithContext",
  "org.apache.spark.sql.connect.service.SparkConnectServer": "Spark Connect server: create a SparkConnect instead",
};

/** The error of an interactive program. */
const unattendable = ({ resource, mainClass = "" }: CommandLine): string | undefined => {
  const what = shells.includes(resource) ? "Spark shells: run a program instead" : attended[mainClass];
  return what === undefined ? undefined : `Cluster deploy mode is not applicable to ${what}`;
};

export const prepare = (line: CommandLine): Prepared => {
  const beside = unattendable(line);
  if (beside !== undefined) return { refused: beside };
  const program = programOf(line);
  if (program === undefined) {
    return { refused: `${line.resource} does not say which class to run: set spec.mainClass` };
  }
  const misread = spaced(line);
  if (misread.length > 0) return { refused: misread.join("; ") };
  const ours = line.confs.filter(([key]) => key.startsWith("spark."));
  const conf = new Map([...ours, ...Object.entries(line.options)]);
  conf.set("spark.master", line.master);
  conf.set("spark.submit.deployMode", "cluster");
  conf.set("spark.app.name", line.name);
  conf.delete("spark.driver.host");
  listed(conf, program);
  if (!conf.has("spark.app.submitTime")) conf.set("spark.app.submitTime", `${line.submittedAt}`);
  const ignored = line.confs.filter(([key]) => !key.startsWith("spark.")).map(([key]) => key);
  return { conf, program, notes: ignored.map((key) => `${key} is ignored: it is not a Spark configuration key`) };
};

/** The result of a build. The driver pod is not assembled yet, so that fields can still be added. */
export type Built = {
  readonly namespace: string;
  readonly applicationId: string;
  readonly driverPodName: string;
  readonly pod: SparkPod;
  /** Objects that the real client creates before the driver pod (`first`) and after it (`objects`), in its order. */
  readonly first: readonly Obj[];
  readonly objects: readonly Obj[];
  /** The confs that the driver reads. */
  readonly confs: Conf;
};

const features = "org.apache.spark.deploy.k8s.features";

/** The steps in Spark's order. Users exclude steps by these class names. */
const steps: readonly (readonly [string, Step])[] = [
  ["BasicDriverFeatureStep", basic],
  ["DriverKubernetesCredentialsFeatureStep", credentials],
  ["DriverServiceFeatureStep", service],
  ["NetworkPolicyFeatureStep", network],
  ["MountSecretsFeatureStep", secrets],
  ["EnvSecretsFeatureStep", secretEnv],
  ["MountVolumesFeatureStep", volumes],
  ["DriverCommandFeatureStep", command],
  ["HadoopConfDriverFeatureStep", hadoop],
  ["KerberosConfDriverFeatureStep", kerberos],
  ["PodTemplateConfigMapStep", template],
  ["LocalDirsFeatureStep", localDirs],
  ["VolcanoFeatureStep", volcano],
];

const stepsFor = ({ conf, rules }: Context): readonly Step[] => {
  const excluded = rules.excludableSteps ? listOf(conf.get("spark.kubernetes.driver.pod.excludedFeatureSteps")) : [];
  return steps.flatMap(([name, step]) => (excluded.includes(`${features}.${name}`) ? [] : [step]));
};

const contextOf = (request: Request): Context => {
  const { conf, identity } = request;
  const appName = conf.get("spark.app.name") ?? "spark";
  const rules = clientRules(request);
  return {
    ...request,
    rules,
    applicationId: identity.applicationId,
    appName,
    namespace: conf.get("spark.kubernetes.namespace") ?? "default",
    driverPodName: conf.get("spark.kubernetes.driver.pod.name") ?? `${identity.prefix}-driver`,
    labels: driverLabels(request, rules, appName),
    proxyUser: request.proxyUser,
    executorTemplate: conf.has(executorTemplateConf) ? request.templates.executor : undefined,
    podGroup: request.templates.podGroup,
  };
};

const confFolder = "/opt/spark/conf";
const propertiesFile = "spark.properties";

const confMap = (context: Context, confs: Conf): Obj => {
  const name = context.identity.confMapName;
  const title = `Java properties built from Kubernetes config map with name: ${name}`;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: context.namespace },
    immutable: true,
    data: {
      ...context.machine.confFiles,
      [propertiesFile]: propertiesText(title, confs),
      "spark.kubernetes.namespace": context.namespace,
    },
  };
};

const withConfMap = (context: Context, pod: SparkPod): SparkPod => {
  const name = "spark-conf-volume-driver";
  const files = [...Object.keys(context.machine.confFiles ?? {}), propertiesFile].sort();
  const items = files.map((key) => ({ key, mode: 0o644, path: key }));
  return withEnv(
    withVolume(
      pod,
      { name, configMap: { name: context.identity.confMapName, items } },
      { name, mountPath: confFolder },
    ),
    [{ name: "SPARK_CONF_DIR", value: confFolder }],
  );
};

const startOf = (request: Request): SparkPod | { readonly error: string } =>
  request.templates.driver === undefined
    ? emptyPod
    : podOf(request.templates.driver, request.conf.get("spark.kubernetes.driver.podTemplateContainerName"));

export const build = (given: Request): Built | { readonly refused: string } => {
  const { conf, problems } = understood(given.conf);
  if (problems.length > 0) return { refused: problems.join("; ") };
  const request = { ...given, conf };
  const refused = refusalOf(request);
  if (refused !== undefined) return { refused };
  const start = startOf(request);
  if ("error" in start) return { refused: `Could not load the driver's pod from its template: ${start.error}` };
  const context = contextOf(request);
  const parts = stepsFor(context).map((step) => step(context));
  const pod = parts.reduce((before, { pod: edit }) => edit?.(before) ?? before, start);
  const confs = new Map([...given.conf, ...parts.flatMap(({ confs: added }) => Object.entries(added ?? {}))]);
  return {
    namespace: context.namespace,
    applicationId: context.applicationId,
    driverPodName: context.driverPodName,
    pod: withConfMap(context, pod),
    first: parts.flatMap(({ first }) => first ?? []),
    objects: [...parts.flatMap(({ objects }) => objects ?? []), confMap(context, confs)],
    confs,
  };
};

/** The variables of an executor's container, in Spark's order: of two with one name the later wins. */
import type { Json } from "../../kube/responses.ts";
import { below, countOf, flagOf } from "../configuration/conf.ts";
import { ports } from "../submission/steps/basic.ts";
import type { Amounts } from "./amounts.ts";
import { javaOptions } from "./java-options.ts";
import type { ExecutorContext } from "./request.ts";

const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);

/** The host of the driver: its service, or its pod's IP. */
const driverHost = ({ conf, rules, driver }: ExecutorContext): string => {
  const key = "spark.kubernetes.executor.useDriverPodIP";
  const { callPodIp } = rules.executors;
  const byAddress = callPodIp !== undefined && (conf.has(key) ? flagOf(conf, key) : callPodIp);
  return bracketed((byAddress ? driver.ip : undefined) ?? conf.get("spark.driver.host") ?? driver.ip ?? "");
};

const driverUrl = (context: ExecutorContext): string =>
  `spark://CoarseGrainedScheduler@${driverHost(context)}:${countOf(context.conf, "spark.driver.port", ports.driver)}`;

type Variable = readonly [name: string, value: string | undefined];

const attributes = ({ conf, rules, applicationId, executorId }: ExecutorContext): readonly Variable[] =>
  rules.executors.tlsAndLogs && conf.has("spark.ui.custom.executor.log.url")
    ? [
        ["SPARK_EXECUTOR_ATTRIBUTE_APP_ID", applicationId],
        ["SPARK_EXECUTOR_ATTRIBUTE_EXECUTOR_ID", executorId],
      ]
    : [];

/** The user's variables; a text that cannot be a variable's name is left out. */
const users = ({ conf, applicationId, executorId }: ExecutorContext): readonly Variable[] =>
  Object.entries(below(conf, "spark.executorEnv."))
    .filter(([name]) => /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name))
    .map(([name, value]) =>
      name === "SPARK_EXECUTOR_DIRS"
        ? [name, value.replaceAll("SPARK_APPLICATION_ID", applicationId).replaceAll("SPARK_EXECUTOR_ID", executorId)]
        : [name, value],
    );

const secretOf = ({ conf, authSecret }: ExecutorContext): string | undefined =>
  conf.has("spark.authenticate.secret.file") || conf.has("spark.authenticate.secret.executor.file")
    ? undefined
    : authSecret;

const options = (context: ExecutorContext): readonly Variable[] =>
  javaOptions(context).map((option, at) => [`SPARK_JAVA_OPT_${at}`, option]);

/** The conf under which every executor runs one task at a time, with unchanged amounts. */
export const recoveryMode = "spark.kubernetes.allocation.recoveryMode.enabled";

const coresOf = ({ conf, rules }: ExecutorContext, cores: number): number =>
  rules.executors.resizable && flagOf(conf, recoveryMode)
    ? Math.max(1, Math.ceil(Number(conf.get("spark.task.cpus") ?? "1")))
    : cores;

const field = (name: string, fieldPath: string): Json => ({
  name,
  valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } },
});

export const environment = (context: ExecutorContext, { cores, heap }: Amounts): readonly Json[] => {
  const { conf, applicationId, executorId, rules } = context;
  const variables: readonly Variable[] = [
    ["SPARK_USER", context.user],
    ["SPARK_DRIVER_URL", driverUrl(context)],
    ["SPARK_EXECUTOR_CORES", `${coresOf(context, cores)}`],
    ["SPARK_EXECUTOR_MEMORY", `${heap}m`],
    ["SPARK_APPLICATION_ID", applicationId],
    ["SPARK_CONF_DIR", "/opt/spark/conf"],
    ["SPARK_EXECUTOR_ID", executorId],
    ["SPARK_RESOURCE_PROFILE_ID", "0"],
    ...attributes(context),
    ...users(context),
    ["_SPARK_AUTH_SECRET", secretOf(context)],
    ["SPARK_CLASSPATH", conf.get("spark.executor.extraClassPath")],
    [
      "SPARK_EXECUTOR_LIBRARY_PATH",
      rules.executors.resizable ? conf.get("spark.executor.extraLibraryPath") : undefined,
    ],
    ...options(context),
  ];
  return [
    ...variables.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
    field("SPARK_EXECUTOR_POD_IP", "status.podIP"),
    field("SPARK_EXECUTOR_POD_NAME", "metadata.name"),
  ];
};

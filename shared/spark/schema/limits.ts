/** Limits of the Spark family's fields: at least ten times the values of upstream's largest example. */
import { below, type Limit, limitsOf } from "../../kube/limits.ts";

/** The most executors of one application. A step lists and counts them all. */
export const mostExecutors = 20_000;

const perExecutor = "each step looks at every executor";
const paths = { characters: 4_096, why: "no file system takes a longer path" };
const images = { characters: 1_024, why: "no registry takes a longer name of an image" };
const amounts = { characters: 64, why: "an amount is a number and a unit" };
const confs = { entries: 2_000, why: "Spark itself knows fewer than 1,000 properties" };
const values = { characters: 65_536, why: "the properties of one application share a ConfigMap of 1 MiB" };
const files = { entries: 2_000, why: "all names stand in one argument of the driver" };
const mounts = { entries: 500, why: "no node mounts so many volumes into a pod" };
const variables = { entries: 10_000, why: "the variables of a process share 2 MiB with its arguments" };
const containers = { entries: 100, why: "no node runs so many containers in a pod" };

const ofConfs = [
  { field: "sparkConf", ...confs },
  { field: "sparkConf.*", ...values },
  { field: "hadoopConf", ...confs },
  { field: "hadoopConf.*", ...values },
];

const ofScale = ["initialExecutors", "minExecutors"].map((name) => ({
  field: `dynamicAllocation.${name}`,
  most: mostExecutors,
  why: perExecutor,
}));

/** The fields of a driver, of an executor and of a server that become part of a pod. */
const ofRole = (role: string): readonly Limit[] =>
  below(role, [
    { field: "image", ...images },
    ...["memory", "memoryOverhead", "memoryLimit", "coreRequest", "coreLimit"].map((field) => ({ field, ...amounts })),
    { field: "configMaps", ...mounts },
    { field: "configMaps.*.path", ...paths },
    { field: "secrets", ...mounts },
    { field: "secrets.*.path", ...paths },
    { field: "volumeMounts", ...mounts },
    { field: "env", ...variables },
    { field: "envVars", ...variables },
    { field: "envSecretKeyRefs", ...variables },
    { field: "envSecretKeyRefs.*.key", characters: 253, why: "no Secret has a longer key" },
    { field: "javaOptions", ...values },
    { field: "sidecars", ...containers },
    { field: "initContainers", ...containers },
  ]);

const applicationRows: readonly Limit[] = [
  { field: "sparkVersion", ...amounts },
  { field: "image", ...images },
  { field: "mainClass", characters: 1_024, why: "no class has a longer name" },
  { field: "mainApplicationFile", characters: 8_192, why: "no store takes a longer address" },
  { field: "arguments", entries: 10_000, why: "the arguments of a process share 2 MiB" },
  ...["jars", "files", "pyFiles", "packages", "excludePackages", "repositories", "archives"].map((name) => ({
    field: `deps.${name}`,
    ...files,
  })),
  ...ofConfs,
  ...ofScale,
  { field: "volumes", ...mounts },
  { field: "memoryOverheadFactor", ...amounts },
  { field: "driverIngressOptions", entries: 50, why: "each makes a Service and an Ingress" },
  ...ofRole("driver"),
  ...ofRole("executor"),
  { field: "executor.instances", most: mostExecutors, why: perExecutor },
];

const scheduleRows: readonly Limit[] = [
  { field: "schedule", characters: 256, why: "a schedule is five fields or one word" },
  { field: "timeZone", characters: 64, why: "no time zone has a longer name" },
  ...below("template", applicationRows),
];

const connectRows: readonly Limit[] = [
  { field: "sparkVersion", ...amounts },
  { field: "image", ...images },
  ...ofConfs,
  ...ofScale,
  ...["server", "executor"].map((role) => ({ field: `${role}.memory`, ...amounts })),
  { field: "executor.instances", most: mostExecutors, why: perExecutor },
];

/** The errors of a SparkApplication's spec that exceeds its limits. */
export const applicationLimits = limitsOf(applicationRows);

/** The errors of a ScheduledSparkApplication's spec that exceeds its limits. */
export const scheduleLimits = limitsOf(scheduleRows);

/** The errors of a SparkConnect's spec that exceeds its limits. */
export const connectLimits = limitsOf(connectRows);

/** The errors of confs that ask for too many executors, as `spec.executor.instances` may. */
export const confLimits = (sparkConf: Readonly<Record<string, string>>): readonly string[] =>
  ["spark.executor.instances", "spark.dynamicAllocation.initialExecutors", "spark.dynamicAllocation.minExecutors"]
    .filter((key) => Number(sparkConf[key] ?? 0) > mostExecutors)
    .map((key) => `spec.sparkConf[${JSON.stringify(key)}]: write at most ${mostExecutors}, because ${perExecutor}`);

/** Reads a SparkApplication's spec: limits, rules, the bounds of dynamic allocation, and the defaults of upstream's webhook. The
 * stored object stays as its user wrote it. */

import { oncePer } from "../../core/cache.ts";
import { isQuantity } from "../../kube/quantity.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { hasBinaryUnit, mebibytesOf, ratioOf } from "../configuration/conf.ts";
import { rulesFor } from "../configuration/versions.ts";
import { type RestartPolicy, type SparkApplicationSpec, type SparkPodSpec, specSchema } from "./application.ts";
import { applicationLimits, confLimits } from "./limits.ts";

type Scale = {
  readonly enabled?: boolean | undefined;
  readonly initialExecutors?: number | undefined;
  readonly minExecutors?: number | undefined;
  readonly maxExecutors?: number | undefined;
};

const at = "spec.dynamicAllocation";

const exceeds = (one: number | undefined, other: number | undefined): boolean =>
  one !== undefined && other !== undefined && one > other;

/** Errors with which no driver starts; `least` is the smallest valid maximum. */
export const scaleRules = (scale: Scale | undefined, least: 0 | 1): string[] => {
  if (scale?.enabled !== true) return [];
  const { minExecutors: min, maxExecutors: max, initialExecutors: first } = scale;
  const floors = [
    ["minExecutors", min, 0],
    ["maxExecutors", max, least],
    ["initialExecutors", first, 0],
  ] as const;
  return [
    ...floors.flatMap(([name, count, floor]) =>
      exceeds(floor, count) ? [`${at}.${name} must be at least ${floor}, not ${count}`] : [],
    ),
    ...(exceeds(min, max) ? [`${at}.minExecutors (${min}) is greater than maxExecutors (${max})`] : []),
  ];
};

/** Errors of an initial number outside the bounds: Spark takes the nearest, upstream refuses it for SparkConnect. */
export const scaleOddities = (scale: Scale | undefined): string[] => {
  if (scale?.enabled !== true) return [];
  const { minExecutors: min, maxExecutors: max, initialExecutors: first } = scale;
  return [
    ...(exceeds(min, first) ? [`${at}.initialExecutors (${first}) is less than minExecutors (${min})`] : []),
    ...(exceeds(first, max) ? [`${at}.initialExecutors (${first}) is greater than maxExecutors (${max})`] : []),
  ];
};

type Subject = { readonly name: string; readonly namespace: string; readonly spec: SparkApplicationSpec };

/** Errors of a name that services cannot take: it must be a DNS-1035 label. */
export const nameRules = (name: string): readonly string[] => {
  if (name.length > 63) {
    return [
      `metadata.name is ${name.length} characters long, but it is also a label and the start of the driver's and the UI service's names, which hold 63: shorten it`,
    ];
  }
  return /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)
    ? []
    : [
        `metadata.name ${JSON.stringify(name)} must start with a lower case letter, end with a letter or digit and hold only lower case letters, digits and "-", because services are named after it`,
      ];
};

type Sized = { readonly path: string; readonly version: string };

export const sizeRule = ({ path, version }: Sized, text: string | undefined): string[] =>
  text === undefined || (mebibytesOf(text) !== undefined && (rulesFor(version).binaryUnits || !hasBinaryUnit(text)))
    ? []
    : [`${path}: ${JSON.stringify(text)} is not a size that Spark reads; write it like "512m" or "2g"`];

const cpuRule = (path: string, text: string | undefined): string[] =>
  text === undefined || isQuantity(text)
    ? []
    : [`${path}: ${JSON.stringify(text)} is not a quantity; write it like "500m" or "2"`];

const limitRule = (path: string, text: string | undefined): string[] =>
  text === undefined || mebibytesOf(text) !== undefined || isQuantity(text)
    ? []
    : [`${path}: ${JSON.stringify(text)} is not a size; write it like "2g" or "2Gi"`];

const gpuRule = (path: string, gpu: SparkPodSpec["gpu"]): string[] => {
  if (gpu === undefined) return [];
  if (gpu.name === "") return [`${path}.name is empty; write the resource's name, such as "nvidia.com/gpu"`];
  return gpu.quantity > 0 ? [] : [`${path}.quantity must be at least 1`];
};

const amountRules = (path: string, pod: SparkPodSpec, version: string): string[] => [
  ...sizeRule({ path: `${path}.memory`, version }, pod.memory),
  ...sizeRule({ path: `${path}.memoryOverhead`, version }, pod.memoryOverhead),
  ...limitRule(`${path}.memoryLimit`, pod.memoryLimit),
  ...cpuRule(`${path}.coreRequest`, pod.coreRequest),
  ...cpuRule(`${path}.coreLimit`, pod.coreLimit),
  ...gpuRule(`${path}.gpu`, pod.gpu),
];

const factorRule = ({ spec: { memoryOverheadFactor: factor } }: Subject): string[] => {
  if (factor === undefined) return [];
  return (ratioOf(factor) ?? -1) >= 0
    ? []
    : [`spec.memoryOverheadFactor: ${JSON.stringify(factor)} is not a ratio; write it like "0.1"`];
};

const nodeSelectorRule = ({ spec }: Subject): string[] =>
  spec.nodeSelector !== undefined &&
  (spec.driver.nodeSelector !== undefined || spec.executor.nodeSelector !== undefined)
    ? [
        "node selector cannot be defined at both SparkApplication and Driver/Executor: keep spec.nodeSelector or those of spec.driver and spec.executor",
      ]
    : [];

const templateRule = ({ spec }: Subject): string[] =>
  (spec.driver.template !== undefined || spec.executor.template !== undefined) && /^[012]\./.test(spec.sparkVersion)
    ? [`spec.sparkVersion ${spec.sparkVersion} knows no pod templates: it must be 3.0.0 or newer`]
    : [];

const ingressRule = ({ spec: { driverIngressOptions: options = [] } }: Subject): string[] => {
  const ports = options.map(({ servicePort }) => servicePort);
  const formats = options.map(({ ingressURLFormat }) => ingressURLFormat ?? "");
  if (formats.includes("")) return ["spec.driverIngressOptions: every entry needs an ingressURLFormat"];
  if (new Set(ports).size < ports.length)
    return ["spec.driverIngressOptions: no two entries may have the same servicePort"];
  return new Set(formats).size < formats.length
    ? ["spec.driverIngressOptions: no two entries may have the same ingressURLFormat"]
    : [];
};

const denied: Readonly<Record<string, string>> = {
  "spark.kubernetes.authenticate.driver.serviceAccountName": "use spec.driver.serviceAccount",
  "spark.kubernetes.authenticate.executor.serviceAccountName": "use spec.executor.serviceAccount",
  "spark.kubernetes.authenticate.oauthTokenFile": "credentials are not taken from sparkConf",
  "spark.kubernetes.authenticate.oauthToken": "credentials are not taken from sparkConf",
  "spark.kubernetes.authenticate.driver.oauthTokenFile": "credentials are not taken from sparkConf",
  "spark.kubernetes.authenticate.driver.oauthToken": "credentials are not taken from sparkConf",
  "spark.kubernetes.authenticate.executor.oauthTokenFile": "credentials are not taken from sparkConf",
  "spark.kubernetes.authenticate.executor.oauthToken": "credentials are not taken from sparkConf",
  "spark.master": "the API server is the one that the application was created in",
  "spark.kubernetes.driver.master": "use spec.driver.kubernetesMaster",
  "spark.kubernetes.container.image": "use spec.image",
  "spark.kubernetes.driver.container.image": "use spec.driver.image",
  "spark.kubernetes.executor.container.image": "use spec.executor.image",
};

/** Errors of confs that would take an application out of its own namespace, account or image. */
export const confRules = (sparkConf: Readonly<Record<string, string>>, namespace: string): readonly string[] => {
  const other = sparkConf["spark.kubernetes.namespace"];
  const elsewhere =
    other === undefined || other === namespace
      ? []
      : [`sparkConf key "spark.kubernetes.namespace" is not allowed: it must be ${namespace}, the application's own`];
  const keys = Object.keys(sparkConf).filter((key) => Object.hasOwn(denied, key));
  return [
    ...keys.map((key) => `sparkConf key "${key}" is not allowed: ${denied[key]}`),
    ...elsewhere,
    ...confLimits(sparkConf),
  ];
};

/** All errors by the rules, each with its field and remedy; empty when the application may run. */
export const brokenRules = (subject: Subject): readonly string[] => [
  ...nameRules(subject.name),
  ...amountRules("spec.driver", subject.spec.driver, subject.spec.sparkVersion),
  ...amountRules("spec.executor", subject.spec.executor, subject.spec.sparkVersion),
  ...factorRule(subject),
  ...nodeSelectorRule(subject),
  ...templateRule(subject),
  ...ingressRule(subject),
  ...scaleRules(subject.spec.dynamicAllocation, 1),
  ...confRules(subject.spec.sparkConf ?? {}, subject.namespace),
];

export type ParsedSpec =
  | { readonly ok: true; readonly spec: SparkApplicationSpec }
  | { readonly ok: false; readonly message: string };

type Application = {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
  readonly [field: string]: unknown;
};

/** Checks limits and types first, because rules apply to typed specs only. */
export const parseSpec = oncePer((application: Application): ParsedSpec => {
  const beyond = applicationLimits(application.spec);
  if (beyond !== "") return { ok: false, message: beyond };
  const typed = specSchema.safeParse(application.spec, reportingInput);
  if (!typed.success) return { ok: false, message: explain(typed.error) };
  const { name, namespace = "default" } = application.metadata;
  const broken = brokenRules({ name, namespace, spec: typed.data });
  return broken.length === 0 ? { ok: true, spec: typed.data } : { ok: false, message: broken.join("; ") };
});

type Confs = Readonly<Record<string, string>>;

/** Adds the confs that a spec does not set. As the file `spark-defaults.conf`, they rank below all of its own. */
export const withConfDefaults = <S extends { readonly sparkConf?: Confs | undefined }>(spec: S, defaults: Confs): S =>
  Object.keys(defaults).length > 0 ? { ...spec, sparkConf: { ...defaults, ...spec.sparkConf } } : spec;

/** Parses an application, and adds the confs that it does not set. */
export const parseWith = (defaults: Confs, application: Application): ParsedSpec => {
  const read = parseSpec(application);
  return read.ok ? { ok: true, spec: withConfDefaults(read.spec, defaults) } : read;
};

const retrySeconds = 5;

const restartPolicy = (given: RestartPolicy | undefined): RestartPolicy => {
  const type = given?.type ?? "Never";
  if (type === "Never") return { ...given, type };
  return {
    ...given,
    type,
    onFailureRetryInterval: given?.onFailureRetryInterval ?? retrySeconds,
    onSubmissionFailureRetryInterval: given?.onSubmissionFailureRetryInterval ?? retrySeconds,
  };
};

type Sizes = Pick<SparkPodSpec, "cores" | "memory">;

/** The default cores and memory; a conf of the user's stands for the field. */
const sizes = (role: "driver" | "executor", pod: Sizes, conf: Readonly<Record<string, string>>): Sizes => {
  const cores = pod.cores ?? (conf[`spark.${role}.cores`] === undefined ? 1 : undefined);
  const memory = pod.memory ?? (conf[`spark.${role}.memory`] === undefined ? "1g" : undefined);
  return { ...(cores === undefined ? {} : { cores }), ...(memory === undefined ? {} : { memory }) };
};

type Allocating = {
  readonly dynamicAllocation?: { readonly enabled?: boolean | undefined } | undefined;
  readonly sparkConf?: Confs | undefined;
};

export const dynamicConf = "spark.dynamicAllocation.enabled";

/** Confs with which a driver asks for executors as it needs them. */
export const growthConfs = [dynamicConf, "spark.streaming.dynamicAllocation.enabled"] as const;

const turnsOn = ({ sparkConf = {} }: Allocating, key: string): boolean =>
  sparkConf[key]?.trim().toLowerCase() === "true";

/** True when the driver's tasks decide how many executors it needs, by the field or by the conf as Spark reads it. */
export const isDynamic = (spec: Allocating): boolean =>
  spec.dynamicAllocation?.enabled === true || turnsOn(spec, dynamicConf);

/** The field or the conf by which a driver asks for executors as it needs them; undefined where their number is fixed. */
export const growthCause = (spec: Allocating): string | undefined => {
  if (spec.dynamicAllocation?.enabled === true) return "spec.dynamicAllocation.enabled";
  const conf = growthConfs.find((key) => turnsOn(spec, key));
  return conf === undefined ? undefined : `${conf} in spec.sparkConf`;
};

/** The defaults of upstream's webhook, applied where a spec is read: the stored object stays as its user wrote it. */
export const withDefaults = (spec: SparkApplicationSpec): SparkApplicationSpec => {
  const conf = spec.sparkConf ?? {};
  const counted = isDynamic(spec) || conf["spark.executor.instances"] !== undefined;
  const instances = spec.executor.instances ?? (counted ? undefined : 1);
  const dynamic = spec.dynamicAllocation;
  return {
    ...spec,
    mode: spec.mode ?? "cluster",
    restartPolicy: restartPolicy(spec.restartPolicy),
    driver: { ...spec.driver, ...sizes("driver", spec.driver, conf) },
    executor: {
      ...spec.executor,
      ...sizes("executor", spec.executor, conf),
      ...(instances === undefined ? {} : { instances }),
    },
    ...(dynamic?.enabled === true
      ? { dynamicAllocation: { ...dynamic, shuffleTrackingEnabled: dynamic.shuffleTrackingEnabled ?? true } }
      : {}),
  };
};

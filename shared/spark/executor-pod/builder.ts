/**
 * Builds one executor as the driver's own allocator of that Spark version would, for `rekindle.dev/executors: own`,
 * where Rekindle is the allocator. Pure: the same request gives the same objects.
 */

import { type Obj, subdomain } from "../../core/object.ts";
import { isQuantity } from "../../kube/quantity.ts";
import { below, type Conf, flagOf, listOf, understood } from "../configuration/conf.ts";
import { rulesFor } from "../configuration/versions.ts";
import { assembled, inSpec, podOf, type SparkPod, withEnv, withVolume } from "../submission/pods/pod.ts";
import { wrongResources } from "../submission/steps/basic.ts";
import { partsOf, secretEnvOf, secretsOf } from "../submission/steps/credentials.ts";
import { volcanoGroup, volcanoStep } from "../submission/steps/driver.ts";
import { type Contribution, labelOf } from "../submission/steps/step.ts";
import { mountedTwice, mountVolumes, scratchOf, volumesIn, wrongVolumes } from "../submission/steps/volumes.ts";
import { basic, blockManagerPort, executorImage } from "./container.ts";
import { driverReference, type ExecutorContext, type ExecutorRequest } from "./request.ts";

type Check = (context: ExecutorContext) => readonly string[];

const image: Check = (context) =>
  (executorImage(context) ?? "") === "" ? ["Must specify the executor container image: set spec.executor.image"] : [];

const reserved = ["version", "exec-id", "app-selector", "app-name", "role", "exec-resourceprofile-id"];

const labels: Check = ({ conf }) =>
  reserved
    .map((name) => `spark-${name}`)
    .filter((key) => Object.hasOwn(below(conf, "spark.kubernetes.executor.label."), key))
    .map((key) => `Executor label ${key} is reserved for Spark: choose another`);

const longestPrefix = 237;

const prefix: Check = ({ conf }) => {
  const key = "spark.kubernetes.executor.podNamePrefix";
  const text = conf.get(key);
  return text === undefined || (text.length <= longestPrefix && subdomain.test(text))
    ? []
    : [`${key}: ${JSON.stringify(text)} cannot begin the name of a pod: lower case letters, digits, "-" and "."`];
};

const port: Check = (context) => {
  const number = blockManagerPort(context);
  return number === 0 || (number >= 1024 && number < 65_536)
    ? []
    : [`spark.blockManager.port: ${number} is not a port that an executor can have: write 0, or 1024 to 65535`];
};

const coresOf = (text: string): number => (text.endsWith("m") ? Number.parseFloat(text) / 1000 : Number(text));

const cores: Check = ({ conf, rules }) => {
  const request = conf.get("spark.kubernetes.executor.request.cores") ?? conf.get("spark.executor.cores") ?? "1";
  const limit = conf.get("spark.kubernetes.executor.limit.cores");
  const strange = [request, limit ?? "1"].filter((text) => !isQuantity(text));
  if (strange.length > 0)
    return strange.map((text) => `cores: ${JSON.stringify(text)} is not in the format of a quantity`);
  return !rules.executors.limited || limit === undefined || coresOf(limit) >= coresOf(request)
    ? []
    : [`The executor cpu request (${request}) is more than its limit (${limit}): raise spec.executor.coreLimit`];
};

const secretKeys: Check = ({ conf }) =>
  Object.entries(below(conf, "spark.kubernetes.executor.secretKeyRef."))
    .filter(([, reference]) => partsOf(reference).length !== 2)
    .map(([name]) => `spark.kubernetes.executor.secretKeyRef.${name} must be in the form name:key`);

const spaces: Check = ({ conf, rules }) => {
  const start = "spark.kubernetes.executor.volumes.";
  const twice = mountedTwice(volumesIn(conf, start));
  return [...wrongVolumes(conf, start, rules), ...twice.map((path) => `Found duplicated mountPath: '${path}'`)];
};

/** Refuses a secret that the driver generates, because only the driver knows it. */
const secret: Check = ({ conf, authSecret }) =>
  conf.get("spark.authenticate") === "true" && authSecret === undefined && !conf.has("spark.authenticate.secret.file")
    ? ["spark.authenticate: its secret key is made in the driver: set spark.authenticate.secret.file"]
    : [];

const factor: Check = ({ conf }) =>
  Number(conf.get("spark.executor.memoryOverheadFactor") ?? "1") > 0
    ? []
    : ["spark.executor.memoryOverheadFactor: a memory overhead is greater than 0"];

const devices: Check = ({ conf }) => wrongResources(conf, "spark.executor");

const checks: readonly Check[] = [image, labels, prefix, port, cores, secretKeys, spaces, secret, factor, devices];

/** All reasons for a refusal in one text; undefined when there is none. */
const refusalOf = (context: ExecutorContext): string | undefined => {
  const found = checks.flatMap((check) => check(context));
  return found.length === 0 ? undefined : found.join("; ");
};

type Executor = {
  readonly pod: Obj;
  /** The executor's own claims: created after the pod, which waits for them. */
  readonly claims: readonly Obj[];
};

type Step = (context: ExecutorContext) => Contribution;

/** Sets the service account: the template's, else the executors', else the driver's. */
const credentials: Step = ({ conf }) => ({
  pod: (pod) => {
    const account = ["executor", "driver"]
      .map((role) => conf.get(`spark.kubernetes.authenticate.${role}.serviceAccountName`))
      .find((name) => name !== undefined);
    return account === undefined || pod.spec["serviceAccount"] !== undefined
      ? pod
      : inSpec(pod, { serviceAccount: account, serviceAccountName: account });
  },
});

const hadoopFolder = "/opt/hadoop/conf";

const hadoop: Step = ({ conf }) => {
  const name = conf.get("spark.kubernetes.executor.hadoopConfigMapName");
  if (name === undefined) return {};
  const volume = "hadoop-properties";
  return {
    pod: (pod) =>
      withEnv(withVolume(pod, { name: volume, configMap: { name } }, { name: volume, mountPath: hadoopFolder }), [
        { name: "HADOOP_CONF_DIR", value: hadoopFolder },
      ]),
  };
};

const volumes: Step = (context) =>
  mountVolumes({
    ...context,
    role: "executor",
    claimName: (template, index) =>
      template
        .replaceAll("OnDemand", `${prefixOf(context)}-exec-${context.executorId}-pvc-${index}`)
        .replaceAll("SPARK_EXECUTOR_ID", context.executorId),
  });

/** The steps in Spark's order. Users exclude steps by these class names. */
const steps: readonly (readonly [string, Step])[] = [
  ["BasicExecutorFeatureStep", (context) => ({ pod: basic(context) })],
  ["ExecutorKubernetesCredentialsFeatureStep", credentials],
  ["MountSecretsFeatureStep", ({ conf }) => secretsOf(conf, "executor")],
  ["EnvSecretsFeatureStep", ({ conf }) => secretEnvOf(conf, "executor")],
  ["MountVolumesFeatureStep", volumes],
  ["HadoopConfExecutorFeatureStep", hadoop],
  ["LocalDirsFeatureStep", ({ conf, localDirs }) => scratchOf(conf, localDirs)],
  [
    "VolcanoFeatureStep",
    ({ conf, applicationId }) =>
      listOf(conf.get("spark.kubernetes.executor.pod.featureSteps")).includes(volcanoStep)
        ? volcanoGroup(applicationId)
        : {},
  ],
];

const stepsFor = ({ conf, rules }: ExecutorContext): readonly Step[] => {
  const key = "spark.kubernetes.executor.pod.excludedFeatureSteps";
  const excluded = rules.excludableSteps ? listOf(conf.get(key)) : [];
  return steps.flatMap(([name, step]) =>
    excluded.includes(`org.apache.spark.deploy.k8s.features.${name}`) ? [] : [step],
  );
};

/** Prefix of the pods' names, before `-exec-` and the id. */
export const prefixOf = ({ conf, prefix }: Pick<ExecutorRequest, "conf" | "prefix">): string =>
  conf.get("spark.kubernetes.executor.podNamePrefix") ?? prefix;

const podNameOf = ({ executorId, ...request }: Pick<ExecutorRequest, "conf" | "prefix" | "executorId">): string =>
  `${prefixOf(request)}-exec-${executorId}`;

const contextOf = (given: ExecutorRequest, understoodConf: Conf): ExecutorContext => {
  const request = { ...given, conf: understoodConf };
  const { conf, applicationId, executorId, sparkVersion } = request;
  return {
    ...request,
    written: given.conf,
    rules: rulesFor(sparkVersion),
    podName: podNameOf(request),
    labels: {
      ...below(conf, "spark.kubernetes.executor.label."),
      "spark-version": sparkVersion,
      "spark-exec-id": executorId,
      "spark-app-selector": applicationId,
      "spark-app-name": labelOf(conf.get("spark.app.name") ?? "spark"),
      "spark-role": "executor",
      "spark-exec-resourceprofile-id": "0",
    },
  };
};

/** Makes the driver the owner of a claim, so that it may outlive the executor, unless the user turned that off. */
const claimed = ({ conf, driver }: ExecutorContext, claim: Obj): Obj => {
  const key = "spark.kubernetes.driver.ownPersistentVolumeClaim";
  if (conf.has(key) && !flagOf(conf, key)) return claim;
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: [driverReference(driver)] } };
};

const bare = { spec: {} };

/** Builds executors of one run by their ids; shared inputs are parsed once. */
export type ExecutorBuilder = {
  readonly build: (executorId: string) => Executor;
  readonly podName: (executorId: string) => string;
};

const built = (context: ExecutorContext, start: SparkPod): Executor => {
  const parts = stepsFor(context).map((step) => step(context));
  const pod = parts.reduce<SparkPod>((before, { pod: edit }) => edit?.(before) ?? before, start);
  const { metadata, spec } = assembled(pod);
  return {
    pod: { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: context.podName }, spec },
    claims: parts.flatMap(({ objects }) => objects ?? []).map((claim) => claimed(context, claim)),
  };
};

export const executorBuilder = (
  shared: Omit<ExecutorRequest, "executorId">,
): ExecutorBuilder | { readonly refused: string } => {
  const { conf, problems } = understood(shared.conf);
  if (problems.length > 0) return { refused: problems.join("; ") };
  const contextFor = (executorId: string): ExecutorContext => contextOf({ ...shared, executorId }, conf);
  const context = contextFor("1");
  const refused = refusalOf(context);
  if (refused !== undefined) return { refused };
  const name = conf.get("spark.kubernetes.executor.podTemplateContainerName");
  const start = podOf(shared.template ?? bare, name);
  if ("error" in start) return { refused: `Could not load the executors' pod from its template: ${start.error}` };
  return {
    build: (executorId) => built(contextFor(executorId), start),
    podName: (executorId) => podNameOf({ ...shared, conf, executorId }),
  };
};

export const executorOf = ({ executorId, ...shared }: ExecutorRequest): Executor | { readonly refused: string } => {
  const builder = executorBuilder(shared);
  return "refused" in builder ? builder : builder.build(executorId);
};

/**
 * Builds one executor as the driver's own allocator of that Spark version would, for `rekindle.dev/executors: own`,
 * where Rekindle is the allocator. Pure: the same request gives the same objects.
 */
import type { Obj } from "../../core/object.ts";
import { below, type Conf, flagOf, listOf, understood } from "../configuration/conf.ts";
import { rulesFor } from "../configuration/versions.ts";
import type { SparkPod } from "../submission/pods/pod.ts";
import { assembled, inSpec, podOf, withEnv, withVolume } from "../submission/pods/pod.ts";
import { labelOf } from "../submission/steps/identity.ts";
import { scratchOf } from "../submission/steps/scratch.ts";
import { secretEnvOf, secretsOf } from "../submission/steps/secrets.ts";
import type { Contribution } from "../submission/steps/step.ts";
import { volcanoGroup, volcanoStep } from "../submission/steps/volcano.ts";
import { mounting } from "../submission/steps/volumes.ts";
import { basic } from "./basic.ts";
import { driverReference } from "./config-map.ts";
import { refusalOf } from "./refusals.ts";
import type { ExecutorContext, ExecutorRequest } from "./request.ts";

export type Executor = {
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
  mounting({
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

/**
 * Builds objects from confs, as Spark's own submission client does: the steps in its order, then a ConfigMap with the
 * confs that the driver reads. A submission that the client refuses is refused.
 */
import type { Obj } from "../../core/object.ts";
import { type Conf, listOf, propertiesText, understood } from "../configuration/conf.ts";
import { rulesFor } from "../configuration/versions.ts";
import type { SparkPod } from "./pods/pod.ts";
import { emptyPod, podOf, withEnv, withVolume } from "./pods/pod.ts";
import { driverLabels, refusalOf } from "./refusals.ts";
import { basic } from "./steps/basic.ts";
import { credentials, hadoop, kerberos, secretEnv, secrets } from "./steps/credentials.ts";
import { command, executorTemplateConf, network, service, template, volcano } from "./steps/driver.ts";
import type { Context, Request, Step } from "./steps/step.ts";
import { localDirs, volumes } from "./steps/volumes.ts";

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
  const rules = rulesFor(request.sparkVersion);
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

/**
 * Builds the objects of one attempt of Apache's SparkApplication. Its spec is a set of confs, so it enters Spark's
 * submission client behind the command line: the client's steps build the driver from the confs, a program and the two
 * pod templates.
 */
import { fieldsOf, omit } from "../../core/json.ts";
import { digest } from "../../core/key.ts";
import type { Obj, OwnerReference } from "../../core/object.ts";
import { localQueueOf, queueLabel } from "../../kube/kueue.ts";
import { type Placement, withPlacement } from "../../kube/kueue-placement.ts";
import type { Json } from "../../kube/responses.ts";
import { defaultOptions } from "../auxiliary-objects/options.ts";
import type { Conf } from "../configuration/conf.ts";
import { rulesFor } from "../configuration/versions.ts";
import { executorOf } from "../executor-pod/builder.ts";
import type { ExecutorBasis } from "../executor-pod/request.ts";
import { firstId } from "../executors/allotment.ts";
import { isOwn, madeHere, obstaclesIn } from "../executors/owner.ts";
import { growthCause, withConfDefaults } from "../schema/rules.ts";
import { confs, confsOfOwn, epochConfs, podLabels } from "../submission/additions.ts";
import { type Built, build, runners } from "../submission/client.ts";
import type { PlannedPods } from "../submission/planned-pods.ts";
import {
  assembled,
  asTemplate,
  type Container,
  executorPod,
  type SparkPod,
  templateOf,
} from "../submission/pods/pod.ts";
import { executorTemplateConf } from "../submission/steps/driver.ts";
import { type Identity, identityOf, type Program } from "../submission/steps/step.ts";
import { configMapsOf, routedOf } from "./routes.ts";
import { deletesConf, initialExecutorsOf, keepsExecutors, mostExecutorsOf, runSpecOf } from "./spec/run-spec.ts";
import type { ApacheSpec } from "./spec/schema.ts";

type Pairs = readonly (readonly [string, string])[];

export type ApacheInput = {
  readonly app: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: ApacheSpec;
  /** The id of the attempt, from 0; the same attempt gives the same objects. */
  readonly attempt: number;
  /** The value of the label `spark.operator/name`: the name that upstream's operator has in its configuration. */
  readonly operatorName: string;
  /** Rekindle creates the executors of the attempt: `rekindle.dev/executors: own`. */
  readonly own?: boolean;
  /** Kueue admits the attempt: the number of its executors is bounded. */
  readonly queued?: boolean;
  /** Confs that make the pods members of a group with which the attempt starts whole; absent: of none. */
  readonly members?: Pairs | undefined;
  /** The node labels, tolerations and gates that Kueue's admission adds to the executors. */
  readonly placement?: Placement | undefined;
};

export type ApacheSubmission = {
  readonly applicationId: string;
  readonly driverPodName: string;
  /** The name of the container whose end is the end of the application. */
  readonly mainContainer: string;
  /** ConfigMaps, Services, policies and routes, which are created before the driver. */
  readonly before: readonly Obj[];
  readonly driver: Obj;
  /** The basis of the executors, where Rekindle creates them. */
  readonly executors?: ExecutorBasis;
  /** The pods for which Kueue or a group is asked. */
  readonly planned?: PlannedPods;
};

type Refused = { readonly refused: string };

type Texts = Readonly<Record<string, string>>;

/** Upstream's submission client is this one, whatever the application's Spark is. */
const clientVersion = "4.2.0";

const sparkUser = "spark";

/** Longest application id, characters: with `-driver-svc` it is a Service's name. */
const longestId = 46;

/** The id of an attempt, which begins the names of its objects. */
export const applicationIdOf = ({ name, namespace }: ApacheInput["app"], attempt: number): string => {
  const plain = `${name}-${attempt}`;
  if (plain.length <= longestId) return plain;
  const hash = digest(`${namespace}/${name}/${attempt}`);
  return `${name.slice(0, 9)}-${BigInt(`0x${hash}`).toString(36).slice(0, 36)}`;
};

const namedBy = (operatorName: string, name: string): Readonly<Record<string, string>> => ({
  "spark.operator/name": operatorName,
  "spark.operator/spark-app-name": name,
});

const prefixed = (prefix: string, labels: Readonly<Record<string, string>>): Pairs =>
  Object.entries(labels).map(([key, value]) => [`${prefix}${key}`, value]);

/** The version stands for its placeholder in the confs of images, and nowhere else. */
const withVersion = (key: string, value: string, version: string): string =>
  key.startsWith("spark.kubernetes.") && key.endsWith("container.image")
    ? value.replaceAll("{{SPARK_VERSION}}", version)
    : value;

/** Confs that upstream's operator sets where the application does not; kubeflow's sets none of them. */
export const operatorConfs = {
  "spark.authenticate": "true",
  "spark.io.encryption.enabled": "true",
  "spark.kubernetes.driver.annotateExitException": "true",
  "spark.kubernetes.executor.useDriverPodIP": "true",
} as const;

/** Confs for those that the user did not set, as upstream's operator adds them. */
const missing = ({ app, spec, attempt, own }: ApacheInput): Pairs => {
  return [
    ...(own === true ? confs(runSpecOf(spec, true), rulesFor(spec.runtimeVersions.sparkVersion), true) : []),
    ["spark.master", "k8s://https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT"],
    ["spark.app.id", applicationIdOf(app, attempt)],
    ...Object.entries(operatorConfs),
    ...(keepsExecutors(spec) ? [[deletesConf, "false"] as const] : []),
  ];
};

/** The confs by which Rekindle finds the executors of an attempt, and sinks its writers. */
const added = ({ app, attempt, members = [] }: ApacheInput): Pairs => [
  ...prefixed("spark.kubernetes.executor.label.", podLabels({ app, attempt, submissionId: "" })),
  ...epochConfs(app, attempt),
  ...members,
];

const confsOf = (input: ApacheInput, program: Program): Conf => {
  const { app, spec, operatorName } = input;
  const version = spec.runtimeVersions.sparkVersion;
  const given = Object.entries(spec.sparkConf ?? {}).filter(([key]) => key.startsWith("spark."));
  const conf = new Map(given.map(([key, value]) => [key, withVersion(key, value, version)]));
  const labels = namedBy(operatorName, app.name);
  const over = ["driver", "driver.service", "executor"].flatMap((role) =>
    prefixed(`spark.kubernetes.${role}.label.`, labels),
  );
  for (const [key, value] of [...over, ["spark.kubernetes.namespace", app.namespace] as const, ...added(input)])
    conf.set(key, value);
  if (conf.has("spark.app.name")) conf.set("spark.app.name", app.name);
  if (spec.driverSpec?.podTemplateSpec !== undefined) conf.delete("spark.kubernetes.driver.podTemplateFile");
  if (spec.executorSpec?.podTemplateSpec !== undefined) conf.set(executorTemplateConf, "spec.executorSpec");
  for (const [key, value] of [...missing(input), ...ofProgram(spec, program)]) if (!conf.has(key)) conf.set(key, value);
  return conf;
};

/** Why Rekindle cannot create the executors of this driver. The operator's own default of a conf is no choice of the user's. */
const inTheWay = ({ spec }: ApacheInput, conf: Conf): readonly string[] =>
  obstaclesIn({ conf, sparkVersion: spec.runtimeVersions.sparkVersion }).map((text) =>
    text.includes("spark.authenticate") && spec.sparkConf?.["spark.authenticate"] === undefined
      ? `${text}. It is true where spec.sparkConf does not set it, as with Apache's operator`
      : text,
  );

const isEmpty = (text: string | undefined): text is undefined | "" => text === undefined || text === "";

/** The main resource, first match wins; the class of a Python or R program may be absent, and is then an empty text. */
const programOf = (spec: ApacheSpec): Program | Refused => {
  const { mainClass = "", jars, pyFiles, sparkRFiles, driverArgs = [] } = spec;
  const program = { mainClass, arguments: driverArgs };
  if (!isEmpty(jars)) return { ...program, language: "java", resource: jars };
  if (mainClass === runners.python) {
    return isEmpty(pyFiles)
      ? { refused: `spec.pyFiles is missing: ${runners.python} runs the first of them` }
      : { ...program, language: "python", resource: pyFiles.split(",")[0] ?? pyFiles };
  }
  if (!isEmpty(pyFiles)) return { ...program, language: "python", resource: pyFiles };
  if (!isEmpty(sparkRFiles)) return { ...program, language: "r", resource: sparkRFiles };
  return { ...program, language: "java", resource: "spark-internal" };
};

/** The lists of files that follow from the main resource, unless the user set them. */
const ofProgram = ({ jars, pyFiles = "", mainClass }: ApacheSpec, { language }: Program) => {
  if (language === "java") return isEmpty(jars) ? [] : [["spark.jars", jars] as const];
  if (language === "r") return [];
  const rest = mainClass === runners.python ? pyFiles.split(",").slice(1).join(",") : pyFiles;
  return rest.trim() === "" ? [] : [["spark.submit.pyFiles", rest] as const];
};

const identityFor = ({ app, attempt }: ApacheInput, conf: Conf): Identity => {
  const id = conf.get("spark.app.id") ?? applicationIdOf(app, attempt);
  return {
    ...identityOf(app.name, `${app.uid}/${attempt}`),
    applicationId: id,
    prefix: id,
    serviceName: `${id}-driver-svc`,
    confMapName: `${id}-spark-drv-conf-map`,
  };
};

const shielded = (container: Container): Container => ({
  ...container,
  securityContext: { allowPrivilegeEscalation: false, ...container.securityContext },
});

/** No container of the driver may raise its privileges, unless its template says so. */
const shieldedPod = (pod: SparkPod): SparkPod => ({
  ...pod,
  container: shielded(pod.container),
  spec: {
    ...pod.spec,
    ...(pod.spec.containers === undefined ? {} : { containers: pod.spec.containers.map(shielded) }),
    ...(pod.spec.initContainers === undefined ? {} : { initContainers: pod.spec.initContainers.map(shielded) }),
  },
});

export const ownerOf = ({ name, uid }: ApacheInput["app"]): OwnerReference => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  name,
  uid,
  blockOwnerDeletion: true,
});

const driverOf = (input: ApacheInput, { pod, namespace, driverPodName }: Built): Obj => {
  const { app, attempt, own } = input;
  const { metadata, spec } = assembled(shieldedPod(pod));
  const labels = { ...pod.metadata.labels, ...podLabels({ app, attempt, submissionId: "" }) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      ...(own === true ? { annotations: { ...fieldsOf(metadata["annotations"]), ...madeHere } } : {}),
      ...{ labels, name: driverPodName, namespace, ownerReferences: [ownerOf(app)] },
    },
    spec,
  };
};

/** An object beside the driver: with the driver's labels, and owned by the application from its creation on. */
const beside = (object: Obj, { app }: ApacheInput, driver: Obj): Obj => ({
  ...object,
  metadata: {
    ...object.metadata,
    namespace: app.namespace,
    labels: { ...object.metadata.labels, ...driver.metadata.labels },
    ownerReferences: [ownerOf(app)],
  },
});

/** The executors' template as the text that the driver reads. JSON is YAML. */
const executorTemplate = (template: Json | undefined): { readonly text?: string } | Refused => {
  if (template === undefined) return {};
  const start = executorPod(template);
  return "error" in start
    ? { refused: `spec.executorSpec.podTemplateSpec: ${start.error}` }
    : { text: JSON.stringify(asTemplate(start)) };
};

/** Stands for the secret of a driver that is not there yet. */
const authSecret = "planned";

type Executors = { readonly basis: ExecutorBasis; readonly one: Obj };

/** The basis of the attempt's executors, and one of them; refused where none could be built from it. */
const executorsOf = (
  input: ApacheInput,
  { confs: conf, applicationId, driverPodName }: Built,
  template: string | undefined,
): Executors | Refused => {
  const { spec } = input;
  const { prefix, localDir } = identityFor(input, conf);
  const basis = {
    ...{ conf, applicationId, prefix, sparkVersion: spec.runtimeVersions.sparkVersion },
    ...{
      user: isEmpty(spec.proxyUser) ? sparkUser : spec.proxyUser,
      localDirs: conf.get("spark.local.dir") ?? localDir,
    },
    ...{ configMap: "", confFiles: [], authSecret: undefined },
    template: template === undefined ? undefined : JSON.parse(template),
  };
  const one = executorOf({
    ...{ ...basis, authSecret, executorId: `${firstId}` },
    driver: { name: driverPodName, uid: "", ip: undefined },
  });
  return "refused" in one ? one : { basis, one: one.pod };
};

const label = `metadata.labels[${queueLabel}]`;

/** The pods for which Kueue is asked; refused where their number has no bound, and where Kueue would count them twice. */
const plannedOf = (spec: ApacheSpec, driver: Obj, executor: Obj): PlannedPods | Refused => {
  const executors = mostExecutorsOf(spec);
  if (executors === undefined)
    return {
      refused: `${label}: Kueue admits a number of executors, and with ${growthCause({ sparkConf: spec.sparkConf ?? {} })} as many are created as the driver needs: set spark.dynamicAllocation.maxExecutors, for which Kueue is asked then, or turn that off`,
    };
  if ([driver, executor].some(({ metadata }) => metadata.labels?.[queueLabel] !== undefined))
    return {
      refused: `${label}: the pods of the application have this label, too, and Kueue would count them twice: remove it from the application, or from its pods (spark.kubernetes.driver.label.${queueLabel}, spark.kubernetes.executor.label.${queueLabel})`,
    };
  return { driver, executor, executors };
};

/** The executors' template with what Kueue's admission adds to it. */
const placed = ({ placement, ...input }: ApacheInput): ApacheInput => {
  if (placement === undefined) return input;
  const { executorSpec } = input.spec;
  const given = fieldsOf(executorSpec?.podTemplateSpec);
  const template = { metadata: { name: "", ...fieldsOf(given["metadata"]) }, spec: fieldsOf(given["spec"]) };
  const { metadata, spec } = withPlacement(template, placement);
  const podTemplateSpec = { ...given, metadata: omit(metadata, "name"), spec };
  return { ...input, spec: { ...input.spec, executorSpec: { ...executorSpec, podTemplateSpec } } };
};

/** The first submission of a spec by the deployment's confs, before its object exists. */
export const rehearsedApache = (
  {
    name,
    namespace,
    labels = {},
    annotations = {},
  }: Pick<ApacheInput["app"], "name" | "namespace"> & { readonly labels?: Texts; readonly annotations?: Texts },
  spec: ApacheSpec,
  defaults: Texts,
): ApacheSubmission | Refused =>
  submitApache({
    app: { name, namespace, uid: "u" },
    spec: withConfDefaults(spec, defaults),
    own: isOwn(annotations),
    queued: localQueueOf({ metadata: { labels, annotations } }) !== undefined,
    ...{ attempt: 0, operatorName: defaultOptions.apacheOperatorName },
  });

/** The driver, and what is known of its executors before it runs. */
const podsOf = (
  input: ApacheInput,
  made: Built,
  template: string | undefined,
): Pick<ApacheSubmission, "driver" | "executors" | "planned"> | Refused => {
  const driver = driverOf(input, made);
  const { own = false, queued = false, members } = input;
  if (!own && !queued && members === undefined) return { driver };
  const executors = executorsOf(input, made, template);
  if ("refused" in executors) return executors;
  const ofGroup = members && { driver, executor: executors.one, executors: initialExecutorsOf(input.spec) };
  const planned = queued ? plannedOf(input.spec, driver, executors.one) : ofGroup;
  if (planned !== undefined && "refused" in planned) return planned;
  return { driver, ...(own ? { executors: executors.basis } : {}), ...(planned === undefined ? {} : { planned }) };
};

/** Builds the objects of an attempt. Pure: the same input gives the same objects. */
export const submitApache = (given: ApacheInput): ApacheSubmission | Refused => {
  const input = placed(given);
  const { app, spec } = input;
  const program = programOf(spec);
  if ("refused" in program) return program;
  const executor = executorTemplate(spec.executorSpec?.podTemplateSpec);
  if ("refused" in executor) return executor;
  const plain = confsOf(input, program);
  const obstacles = input.own === true ? inTheWay(input, plain) : [];
  if (obstacles.length > 0) return { refused: obstacles.join("; ") };
  const conf = input.own === true ? new Map([...plain, ...confsOfOwn]) : plain;
  const template = spec.driverSpec?.podTemplateSpec;
  const client = build({
    conf,
    sparkVersion: spec.runtimeVersions.sparkVersion,
    clientVersion,
    identity: identityFor(input, conf),
    program,
    proxyUser: isEmpty(spec.proxyUser) ? undefined : spec.proxyUser,
    // The namespace is an entry of the ConfigMap that upstream mounts as a file, too.
    machine: { user: sparkUser, confFiles: { "spark.kubernetes.namespace": app.namespace } },
    templates: {
      ...(template === undefined ? {} : { driver: templateOf("driver", template) }),
      ...(executor.text === undefined ? {} : { executor: executor.text }),
    },
  });
  if ("refused" in client) return client;
  const made = podsOf(input, client, executor.text);
  if ("refused" in made) return made;
  const objects = [
    ...client.first,
    ...configMapsOf(spec),
    ...client.objects,
    ...routedOf(spec, client.pod.metadata.labels ?? {}),
  ];
  return {
    ...made,
    applicationId: client.applicationId,
    driverPodName: client.driverPodName,
    mainContainer: client.pod.container.name ?? "",
    before: objects.map((object) => beside(object, input, made.driver)),
  };
};

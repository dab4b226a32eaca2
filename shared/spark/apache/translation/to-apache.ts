/**
 * A SparkApplication of `sparkoperator.k8s.io` as one of `spark.apache.org`: its arguments become confs, the pod fields of
 * upstream's webhook become templates, and its retries become restarts. Pure.
 */
import type { Obj, Stored } from "../../../core/object.ts";
import type { Translated } from "../../../kube/api-move.ts";
import { rulesFor } from "../../configuration/versions.ts";
import type { SparkApplicationSpec } from "../../schema/application.ts";
import { withDefaults } from "../../schema/rules.ts";
import { confs } from "../../submission/additions.ts";
import { argumentsOf, metricsMap, needsMetricsMap } from "../../submission/arguments/argv.ts";
import { prepare } from "../../submission/client.ts";
import { mutated } from "../../submission/mutation.ts";
import { asTemplate, podOf, templateOf } from "../../submission/pods/pod.ts";
import type { Program } from "../../submission/steps/step.ts";
import { apacheApplications } from "../resource.ts";
import { operatorConfs } from "../submission.ts";
import { carried } from "./carried.ts";

type Refused = { readonly refused: string };

const roles = ["driver", "executor"] as const;

type Role = (typeof roles)[number];

const containerOf = (role: Role): string => `spark-kubernetes-${role}`;

/** Confs that each operator sets itself. */
const ofOperators = [
  /^spark\.(master|submit\.deployMode|app\.submitTime|kubernetes\.namespace|kubernetes\.submission\.waitAppCompletion)$/,
  /^spark\.kubernetes\.(driver|executor)\.(podTemplateFile|podTemplateContainerName)$/,
  /^spark\.kubernetes\.(driver|executor)\.label\.sparkoperator\.k8s\.io\//,
];

const podNameConf = "spark.kubernetes.driver.pod.name";

/** The template of each role; absent where Spark needs none. */
type Templates = Readonly<Partial<Record<Role, unknown>>>;

type Subject = {
  readonly name: string;
  readonly namespace: string;
  readonly spec: SparkApplicationSpec;
  readonly templates: Templates;
};

const sparkConfOf = ({ name, templates }: Subject, given: ReadonlyMap<string, string>): Record<string, string> => {
  const isOwnName = given.get(podNameConf) === `${name}-driver`;
  const kept = [...given].filter(
    ([key, value]) =>
      !ofOperators.some((pattern) => pattern.test(key)) &&
      !(key === podNameConf && isOwnName) &&
      !(key === "spark.submit.pyFiles" && value === ""),
  );
  const off = Object.keys(operatorConfs)
    .filter((key) => !given.has(key))
    .map((key) => [key, "false"] as const);
  // Of a role with a template, the container keeps the name by which kubeflow's API finds it.
  const named = roles
    .filter((role) => Object.hasOwn(templates, role))
    .map((role) => [`spark.kubernetes.${role}.podTemplateContainerName`, containerOf(role)] as const);
  return Object.fromEntries([...kept, ...off, ...named]);
};

const templated = (name: string, spec: SparkApplicationSpec, role: Role): unknown => {
  const start = podOf(templateOf(role, spec[role].template), containerOf(role));
  if ("error" in start) return undefined;
  const { pod, sidecars } = mutated(start, { role, name, spec, own: spec[role] });
  const main = { ...pod, container: { name: containerOf(role), ...pod.container } };
  return asTemplate(main, sidecars);
};

const bare = (role: Role): string =>
  JSON.stringify({ metadata: {}, spec: { containers: [{ name: containerOf(role) }] } });

const templatesOf = (name: string, spec: SparkApplicationSpec): Templates =>
  Object.fromEntries(
    roles
      .map((role) => [role, templated(name, spec, role)] as const)
      .filter(([role, template]) => JSON.stringify(template) !== bare(role)),
  );

const roleSpecs = ({ templates }: Subject): object =>
  Object.fromEntries(Object.entries(templates).map(([role, podTemplateSpec]) => [`${role}Spec`, { podTemplateSpec }]));

const programIn = ({ language, mainClass, resource, arguments: given }: Program): object => {
  const args = given.length === 0 ? {} : { driverArgs: given };
  const file = { java: "jars", python: "pyFiles", r: "sparkRFiles" }[language];
  return { mainClass, ...(resource === "spark-internal" ? {} : { [file]: resource }), ...args };
};

/** No limit: as large as the numbers of upstream's status. */
const endless = 2_147_483_647;

/** Seconds between two attempts, which kubeflow's webhook sets. */
const interval = (seconds = 5): number => seconds * 1_000;

const restartOf = ({ restartPolicy: policy = {} }: SparkApplicationSpec): object => {
  const { type = "Never", onFailureRetries: failures = 0, onSubmissionFailureRetries: refusals = 0 } = policy;
  const backoff = {
    restartBackoffMillis: interval(policy.onFailureRetryInterval),
    restartBackoffMillisForSchedulingFailure: interval(policy.onSubmissionFailureRetryInterval),
  };
  if (type === "Always") return { restartPolicy: "Always", maxRestartAttempts: endless, ...backoff };
  if (type === "Never" || failures + refusals === 0) return { restartPolicy: "Never" };
  return {
    restartPolicy: "OnFailure",
    maxRestartAttempts: failures + refusals,
    ...{ maxRestartOnFailure: failures, maxRestartOnSchedulingFailure: refusals },
    ...backoff,
  };
};

/** kubeflow's API knows no limit of a start, and keeps the pods of an application until that is deleted. */
const tolerationsOf = (spec: SparkApplicationSpec): object => ({
  restartConfig: restartOf(spec),
  applicationTimeoutConfig: { driverStartTimeoutMillis: 0, driverReadyTimeoutMillis: 0, executorStartTimeoutMillis: 0 },
  resourceRetainPolicy: "Always",
  ...((spec.timeToLiveSeconds ?? 0) > 0 ? { ttlAfterStopMillis: Number(spec.timeToLiveSeconds) * 1_000 } : {}),
});

const metricsOf = ({ name, spec }: Subject): object => {
  if (!needsMetricsMap(spec)) return {};
  const { metadata, data } = metricsMap(name, spec);
  return { configMapSpecs: [{ name: metadata.name, data }] };
};

const specOf = (subject: Subject, labels: Readonly<Record<string, string>>): object | Refused => {
  const { name, spec } = subject;
  const line = argumentsOf({ ...subject, labels, submissionId: "" });
  const added = confs(spec, rulesFor(spec.sparkVersion), false);
  const made = prepare({ ...line, master: "k8s://", name, confs: [...added, ...line.confs], submittedAt: 0 });
  if ("refused" in made) return made;
  return {
    runtimeVersions: { sparkVersion: spec.sparkVersion },
    ...programIn(made.program),
    ...(line.proxyUser === undefined ? {} : { proxyUser: line.proxyUser }),
    sparkConf: sparkConfOf(subject, made.conf),
    ...roleSpecs(subject),
    ...metricsOf(subject),
    applicationTolerations: tolerationsOf(spec),
  };
};

/** Fields without a counterpart, and what to do. */
const unservedIn = (spec: SparkApplicationSpec): readonly string[] => {
  const ends = "let this run end, or remove the field";
  const rows: readonly (readonly [unknown, string])[] = [
    [
      spec.suspend === true,
      "spec.suspend: no driver runs that could be moved: create the application in the other API",
    ],
    [spec.batchScheduler, `spec.batchScheduler: its group of pods belongs to this API: ${ends}`],
    [
      spec.sparkUIOptions,
      `spec.sparkUIOptions: write the Service and Ingress into spec.driverServiceIngressList: ${ends}`,
    ],
    [spec.driverIngressOptions, `spec.driverIngressOptions: write them into spec.driverServiceIngressList: ${ends}`],
    [spec.driverPodDisruptionBudget, `spec.driverPodDisruptionBudget: spark.apache.org has none: ${ends}`],
    ...roles.map(
      (role) =>
        [
          spec[role].memoryLimit,
          `spec.${role}.memoryLimit: spark.apache.org has no such field, and Spark overwrites the limit of a template: ${ends}`,
        ] as const,
    ),
  ];
  return rows.flatMap(([value, says]) => (value === undefined || value === false || value === "" ? [] : [says]));
};

const differsIn = ({ name, spec }: Subject): readonly string[] => {
  const { type = "Never" } = spec.restartPolicy ?? {};
  return [
    `the next driver pod is named ${name}-N-driver, with the number of its attempt`,
    ...(type === "Never" ? [] : ["the wait before a restart stays the same, where it grows with each attempt now"]),
    ...(type === "OnFailure" ? ["failures and refused submissions also count together"] : []),
    "an edited spec restarts nothing: it counts from the next attempt on",
    `the Service ${name}-ui-svc of the web UI is not made for the next attempt`,
  ];
};

/** Translates a parsed spec. `object` is the whole application. */
export const toApache = (object: Stored, given: SparkApplicationSpec): Translated => {
  const { name, namespace = "default", labels = {} } = object.metadata;
  const spec = withDefaults(given);
  const subject = { name, namespace, spec, templates: templatesOf(name, spec) };
  const made = specOf(subject, labels);
  const blocks = unservedIn(given);
  if ("refused" in made) return { object: undefined, differs: [], blocks: [...blocks, String(made.refused)] };
  const { group, version, kind } = apacheApplications;
  const target: Obj = { apiVersion: `${group}/${version}`, kind, metadata: carried(object), spec: made };
  return { object: target, differs: differsIn(subject), blocks };
};

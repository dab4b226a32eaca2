/**
 * A SparkApplication of `spark.apache.org` as one of `sparkoperator.k8s.io`: confs that its API has as fields become these,
 * and what Apache's operator adds to the confs is written out. Pure.
 */
import { omit } from "../../../core/json.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import type { Translated } from "../../../kube/api-move.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { isDynamic } from "../../schema/rules.ts";
import { runners } from "../../submission/client.ts";
import { sentinelLabel } from "../resource.ts";
import { tolerationsOf } from "../spec/read.ts";
import { keepsExecutors } from "../spec/run-spec.ts";
import type { ApacheSpec } from "../spec/schema.ts";
import { operatorConfs } from "../submission.ts";
import { carried } from "./carried.ts";

const confOf = ({ sparkConf = {} }: ApacheSpec, key: string): string | undefined => sparkConf[key];

const imageConf = (role: string): string => `spark.kubernetes.${role}container.image`;

const accountConf = (role: string): string => `spark.kubernetes.authenticate.${role}.serviceAccountName`;

/** Where the driver finds the API server, or runs its executors itself. */
const masterConf = "spark.kubernetes.driver.master";

/** Confs that are fields, or that the operator of that API sets itself. */
const asFields = [
  ...["", "driver.", "executor."].map(imageConf),
  ...["driver", "executor"].map(accountConf),
  masterConf,
  ...["spark.executor.instances", "spark.app.name", "spark.kubernetes.namespace", "spark.jars", "spark.submit.pyFiles"],
  ...["driver", "executor"].map((role) => `spark.kubernetes.${role}.podTemplateContainerName`),
];

/** Confs that Apache's operator adds where the application has none. */
const addedConfs = (spec: ApacheSpec): Readonly<Record<string, string>> => ({
  ...operatorConfs,
  "spark.kubernetes.executor.deleteOnTermination": `${!keepsExecutors(spec)}`,
});

const imageIn = (spec: ApacheSpec, role: string): string | undefined =>
  confOf(spec, imageConf(role))?.replaceAll("{{SPARK_VERSION}}", spec.runtimeVersions.sparkVersion);

const withText = (name: string, text: string | undefined): object => (text === undefined ? {} : { [name]: text });

/** Spark starts so many executors where nothing says how many; kubeflow's API would write 1. */
const sparksInstances = "2";

/** The number of executors as a field; a conf that is no number above 0 stays a conf. */
const instancesIn = (spec: ApacheSpec): number | undefined => {
  const given = confOf(spec, "spark.executor.instances");
  const text = given?.trim() ?? (isDynamic(spec) ? "" : sparksInstances);
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
};

const roleOf = (spec: ApacheSpec, role: "driver" | "executor"): object => {
  const template = spec[`${role}Spec`]?.podTemplateSpec;
  return {
    ...withText("image", imageIn(spec, `${role}.`)),
    ...withText("serviceAccount", confOf(spec, accountConf(role))),
    ...(template === undefined ? {} : { template }),
  };
};

const listed = (text: string | undefined): readonly string[] =>
  (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

type Program = { readonly fields: object; readonly resource: string; readonly deps: object };

/** The main resource, by the rules of the API that it comes from; its lists of files without the resource itself. */
const programOf = (spec: ApacheSpec): Program => {
  const { mainClass = "", jars = "", pyFiles = "", sparkRFiles = "" } = spec;
  const named = mainClass === "" ? {} : { mainClass };
  const others = (key: string, resource: string): readonly string[] =>
    listed(confOf(spec, key)).filter((one) => one !== resource);
  const javaDeps = (resource: string): object => {
    const more = others("spark.jars", resource);
    return more.length === 0 ? {} : { jars: more };
  };
  if (jars !== "") return { fields: { type: "Scala", ...named }, resource: jars, deps: javaDeps(jars) };
  if (pyFiles !== "") {
    const [first = "", ...rest] = mainClass === runners.python ? pyFiles.split(",") : [pyFiles];
    const given = confOf(spec, "spark.submit.pyFiles");
    const files = given === undefined ? (mainClass === runners.python ? rest : [pyFiles]) : listed(given);
    return { fields: { type: "Python" }, resource: first, deps: files.length === 0 ? {} : { pyFiles: files } };
  }
  if (sparkRFiles !== "") return { fields: { type: "R" }, resource: sparkRFiles, deps: {} };
  return { fields: { type: "Scala", ...named }, resource: "spark-internal", deps: javaDeps("") };
};

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

const restartOf = (spec: ApacheSpec): object => {
  const { restart } = tolerationsOf(spec);
  if (restart.policy === "Never" || restart.maxAttempts <= 0) return { type: "Never" };
  const intervals = {
    onFailureRetryInterval: seconds(restart.backoffOnFailureMs ?? restart.backoffMs),
    onSubmissionFailureRetryInterval: seconds(
      restart.backoffOnSchedulingFailureMs ?? restart.backoffOnFailureMs ?? restart.backoffMs,
    ),
  };
  if (restart.policy === "Always") return { type: "Always", ...intervals };
  const most = (own: number | undefined): number =>
    Math.min(restart.maxAttempts, own ?? restart.maxAttempts, 2_147_483_647);
  return {
    type: "OnFailure",
    onFailureRetries: most(restart.maxOnFailure),
    onSubmissionFailureRetries: most(restart.maxOnSchedulingFailure),
    ...intervals,
  };
};

const specOf = (spec: ApacheSpec): object => {
  const { fields, resource, deps } = programOf(spec);
  const instances = instancesIn(spec);
  const users = omit(spec.sparkConf ?? {}, ...asFields);
  const kept =
    instances === undefined && confOf(spec, "spark.executor.instances") !== undefined
      ? { "spark.executor.instances": String(confOf(spec, "spark.executor.instances")) }
      : {};
  const { ttlMs } = tolerationsOf(spec);
  return {
    ...fields,
    mode: "cluster",
    sparkVersion: spec.runtimeVersions.sparkVersion,
    ...withText("image", imageIn(spec, "")),
    mainApplicationFile: resource,
    ...(spec.driverArgs === undefined ? {} : { arguments: spec.driverArgs }),
    ...withText("proxyUser", spec.proxyUser === "" ? undefined : spec.proxyUser),
    ...(Object.keys(deps).length === 0 ? {} : { deps }),
    sparkConf: { ...addedConfs(spec), ...users, ...kept },
    driver: { ...roleOf(spec, "driver"), ...withText("kubernetesMaster", confOf(spec, masterConf)) },
    executor: { ...roleOf(spec, "executor"), ...(instances === undefined ? {} : { instances }) },
    restartPolicy: restartOf(spec),
    ...(ttlMs === undefined ? {} : { timeToLiveSeconds: seconds(ttlMs) }),
  };
};

/** Fields without a counterpart, and what to do. */
const unservedIn = ({ metadata }: Stored, spec: ApacheSpec): readonly string[] => {
  const ends = "let this run end, or remove the field";
  const { restart, executors } = tolerationsOf(spec);
  const tolerations = "spec.applicationTolerations";
  const rows: readonly (readonly [boolean, string])[] = [
    [metadata.labels?.[sentinelLabel] === "true", `metadata.labels[${sentinelLabel}]: no driver of it runs`],
    [(confOf(spec, "spark.master") ?? "k8s").startsWith("k8s") === false, `spark.master in spec.sparkConf: ${ends}`],
    ...(["configMapSpecs", "driverServiceIngressList", "driverHttpRouteList", "driverGrpcRouteList"] as const).map(
      (field) =>
        [
          (spec[field] ?? []).length > 0,
          `spec.${field}: sparkoperator.k8s.io has none, and the next attempt would lack them: ${ends}`,
        ] as const,
    ),
    [
      executors.init > 0,
      `${tolerations}.instanceConfig: sparkoperator.k8s.io has no thresholds of executors: remove it`,
    ],
    [
      restart.policy === "OnInfrastructureFailure",
      `${tolerations}.restartConfig.restartPolicy: write Never or OnFailure, which sparkoperator.k8s.io has, too`,
    ],
    [
      restart.policy === "Always" && restart.maxAttempts < 2_147_483_647,
      `${tolerations}.restartConfig.maxRestartAttempts: Always has no limit in sparkoperator.k8s.io: write 2147483647, or restartPolicy OnFailure`,
    ],
    [
      restart.resetMs !== undefined,
      `${tolerations}.restartConfig.restartCounterResetMillis: counters are not reset in sparkoperator.k8s.io: remove it`,
    ],
  ];
  return rows.flatMap(([is, says]) => (is ? [says] : []));
};

const differsIn = (name: string, spec: ApacheSpec): readonly string[] => {
  const { restart, timeouts, retain } = tolerationsOf(spec);
  const limited = timeouts.driverStartMs !== undefined || timeouts.driverReadyMs !== undefined;
  return [
    ...(confOf(spec, "spark.kubernetes.driver.pod.name") === undefined
      ? [`the driver pod of the next attempt is named ${name}-driver`]
      : []),
    ...(restart.policy === "Never" ? [] : ["the wait before a restart grows with each attempt"]),
    ...(restart.policy === "OnFailure" ? ["failures and refused submissions count each for themselves"] : []),
    ...(limited
      ? ["the start of the next driver has no limit: the annotation rekindle.dev/driver-start-timeout sets one"]
      : []),
    ...(retain === "Always" ? [] : ["the pods of an ended application stay until it is deleted"]),
    "an edited spec ends the run and begins another with it",
  ];
};

/** Translates a parsed spec. `object` is the whole application. */
export const toKubeflow = (object: Stored, spec: ApacheSpec): Translated => {
  const { name } = object.metadata;
  const { group, version, kind } = sparkApplications;
  const target: Obj = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: carried(object),
    spec: specOf(spec),
  };
  return { object: target, differs: differsIn(name, spec), blocks: unservedIn(object, spec) };
};

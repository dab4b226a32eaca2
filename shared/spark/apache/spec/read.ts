/**
 * Reads the spec of Apache's SparkApplication: limits, types, the rules with which no driver could start, and the
 * operator's defaults of `applicationTolerations`. The stored object stays as its user wrote it.
 */
import { fieldsOf } from "../../../core/json.ts";
import { localQueueOf, queueLabel } from "../../../kube/kueue.ts";
import { labelErrors } from "../../../kube/names.ts";
import { policiesOf } from "../../application/spec/policies.ts";
import { isOwn } from "../../executors/owner.ts";
import { confLimits } from "../../schema/limits.ts";
import { ownerAnnotation } from "../../schema/pod-query.ts";
import { specReader } from "./reader.ts";
import { type ApacheSpec, apacheLimits, apacheSpecSchema } from "./schema.ts";
import { versionRules, versionWarnings } from "./versions.ts";

/** Errors of a name that labels and Services cannot take. A digit may come first: newer API servers accept it. */
const nameRules = (name: string): readonly string[] =>
  labelErrors(name).length === 0
    ? []
    : [
        `metadata.name ${JSON.stringify(name)} is also a label and the start of a Service's name: use at most 63 lower case letters, digits and "-", and no "-" at its ends`,
      ];

const modeRules = ({ deploymentMode }: ApacheSpec): readonly string[] =>
  deploymentMode === "ClientMode"
    ? ["spec.deploymentMode: ClientMode would run the driver inside the operator; use ClusterMode"]
    : [];

const programRules = ({ mainClass, jars, pyFiles, sparkRFiles }: ApacheSpec): readonly string[] =>
  [mainClass, jars, pyFiles, sparkRFiles].every((text) => (text ?? "").trim() === "")
    ? ["spec.mainClass is missing: set it, or spec.jars, spec.pyFiles or spec.sparkRFiles"]
    : [];

/** The fields that a list's entry lacks: its Service's name, its route's name, or the gateways of the route. */
const lacking = (entry: unknown, route: "ingress" | "httpRoute" | "grpcRoute"): readonly string[] => {
  const fields = fieldsOf(entry);
  const named = ["serviceMetadata", `${route}Metadata`].filter((name) => !fieldsOf(fields[name])["name"]);
  const parents = fieldsOf(fields[`${route}Spec`])["parentRefs"];
  const unbound = route !== "ingress" && !(Array.isArray(parents) && parents.length > 0);
  return [...named.map((name) => `${name}.name`), ...(unbound ? [`${route}Spec.parentRefs`] : [])];
};

const routeRules = (spec: ApacheSpec): readonly string[] => {
  const lists = [
    ["driverServiceIngressList", spec.driverServiceIngressList, "ingress"],
    ["driverHttpRouteList", spec.driverHttpRouteList, "httpRoute"],
    ["driverGrpcRouteList", spec.driverGrpcRouteList, "grpcRoute"],
  ] as const;
  return lists.flatMap(([list, entries = [], route]) =>
    entries.flatMap((entry, at) =>
      lacking(entry, route).map((field) => `spec.${list}[${at}].${field} is missing: set it`),
    ),
  );
};

const rulesOf = (name: string, spec: ApacheSpec): readonly string[] => [
  ...nameRules(name),
  ...modeRules(spec),
  ...programRules(spec),
  ...versionRules(spec.runtimeVersions),
  ...routeRules(spec),
  ...confLimits(spec.sparkConf ?? {}),
];

/** Fields that are accepted and have no effect, or another one than they seem to have. */
const warningsOf = ({ files, runtimeVersions, applicationTolerations, sparkConf }: ApacheSpec): readonly string[] => {
  const { initExecutors = 0, minExecutors = 0, maxExecutors = 0 } = applicationTolerations?.instanceConfig ?? {};
  return [
    ...(files === undefined ? [] : ["spec.files has no effect: write spark.files in spec.sparkConf"]),
    ...versionWarnings(runtimeVersions),
    ...(sparkConf?.["spark.kubernetes.namespace"] === undefined
      ? []
      : ["spark.kubernetes.namespace in spec.sparkConf has no effect: pods run in the application's namespace"]),
    ...(initExecutors <= 0 && (minExecutors > 0 || maxExecutors > 0)
      ? [
          "spec.applicationTolerations.instanceConfig: without initExecutors, minExecutors and maxExecutors have no effect: set initExecutors",
        ]
      : []),
  ];
};

export const readApache = specReader({ limits: apacheLimits, schema: apacheSpecSchema, rulesOf, warningsOf });

type Marked = {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/** The effect that troubles of a run may have here: the Event alone. */
const onlyTold = [
  ["onExecutorsGone", "rekindle.dev/on-executors-gone"],
  ["onDriverHang", "rekindle.dev/on-driver-hang"],
] as const;

/** Why an object has no group of its own; undefined: it may have one. */
const noGang = (
  kind: "application" | "cluster",
  queue: string | undefined,
  plansGangs: boolean,
): string | undefined => {
  if (kind === "cluster")
    return "true is for applications; the workers of a cluster come one by one: remove the annotation";
  if (queue !== undefined)
    return `true is for applications without a LocalQueue; Kueue admits this one as a whole, by ${queue}: remove the annotation`;
  return plansGangs
    ? undefined
    : "true needs the setting gang: builtin, by which places are planned: set it, or remove the annotation";
};

/**
 * Errors about labels and annotations of an object of `spark.apache.org` that ask for what Rekindle does not do for its
 * kind: it would run otherwise than they say. `plansGangs`: the deployment plans places for groups; true where that is unknown.
 */
export const unservedIn = (object: Marked, kind: "application" | "cluster", plansGangs = true): readonly string[] => {
  const { annotations = {} } = object.metadata;
  const { policies } = policiesOf(object);
  const queue = localQueueOf(object);
  const whyNoGang = noGang(kind, queue, plansGangs);
  return [
    ...(queue === undefined || kind === "application"
      ? []
      : [
          `LocalQueue ${queue}: Rekindle asks Kueue for no quota of a SparkCluster: remove the label or annotation that names the queue, and let Kueue admit each pod, by the label ${queueLabel} of the pods' templates in spec.masterSpec and spec.workerSpec`,
        ]),
    ...(isOwn(annotations) && kind === "cluster"
      ? [
          `metadata.annotations[${ownerAnnotation}]: own is for applications; a cluster has workers, and the drivers of others ask them for executors: remove the annotation`,
        ]
      : []),
    ...onlyTold.flatMap(([policy, annotation]) =>
      policies[policy] === "tell"
        ? []
        : [
            `metadata.annotations[${annotation}]: ${policies[policy]} is for applications of sparkoperator.k8s.io; this one would only be told of by an Event: remove the annotation`,
          ],
    ),
    ...(policies.gang === "true" && whyNoGang !== undefined
      ? [`metadata.annotations[rekindle.dev/gang]: ${whyNoGang}`]
      : []),
  ];
};

export type RestartPolicy = "Always" | "Never" | "OnFailure" | "OnInfrastructureFailure";

/** `applicationTolerations` with the operator's defaults. An absent number means: no limit, no such time. */
export type Tolerations = {
  readonly restart: {
    readonly policy: RestartPolicy;
    readonly maxAttempts: number;
    readonly backoffMs: number;
    readonly resetMs: number | undefined;
    readonly maxOnFailure: number | undefined;
    readonly backoffOnFailureMs: number | undefined;
    readonly maxOnSchedulingFailure: number | undefined;
    readonly backoffOnSchedulingFailureMs: number | undefined;
  };
  readonly timeouts: {
    readonly driverStartMs: number | undefined;
    readonly driverReadyMs: number | undefined;
    readonly executorStartMs: number | undefined;
    readonly forceTerminationMs: number;
  };
  readonly executors: {
    readonly init: number;
    readonly min: number;
    readonly max: number;
    /** The driver asks for executors as it needs them, so no number is the full one. */
    readonly dynamic: boolean;
  };
  readonly retain: "Always" | "OnFailure" | "Never";
  readonly retainMs: number | undefined;
  readonly ttlMs: number | undefined;
};

/** No wait is longer, ms: a hundred years. A longer one would lead beyond the times that the API can write. */
const longestMs = 100 * 365 * 24 * 3_600_000;

const wait = (ms: number): number => Math.max(0, Math.min(ms, longestMs));

/** A time that a negative number turns off. */
const unlessNegative = (ms: number | undefined): number | undefined =>
  ms === undefined || ms < 0 ? undefined : wait(ms);

/** A timer that any number up to 0 turns off; its default is five minutes. */
const timer = (ms = 300_000): number | undefined => (ms <= 0 ? undefined : wait(ms));

export const tolerationsOf = ({ sparkConf, applicationTolerations: given = {} }: ApacheSpec): Tolerations => {
  const { restartConfig: restart = {}, applicationTimeoutConfig: timeouts = {}, instanceConfig = {} } = given;
  return {
    restart: {
      policy: restart.restartPolicy ?? "Never",
      maxAttempts: restart.maxRestartAttempts ?? 3,
      backoffMs: wait(restart.restartBackoffMillis ?? 30_000),
      resetMs: unlessNegative(restart.restartCounterResetMillis),
      maxOnFailure: restart.maxRestartOnFailure,
      backoffOnFailureMs: unlessNegative(restart.restartBackoffMillisForFailure),
      maxOnSchedulingFailure: restart.maxRestartOnSchedulingFailure,
      backoffOnSchedulingFailureMs: unlessNegative(restart.restartBackoffMillisForSchedulingFailure),
    },
    timeouts: {
      driverStartMs: timer(timeouts.driverStartTimeoutMillis),
      driverReadyMs: timer(timeouts.driverReadyTimeoutMillis),
      executorStartMs: timer(timeouts.executorStartTimeoutMillis),
      forceTerminationMs: wait(timeouts.forceTerminationGracePeriodMillis ?? 300_000),
    },
    executors: {
      init: instanceConfig.initExecutors ?? 0,
      min: instanceConfig.minExecutors ?? 0,
      max: instanceConfig.maxExecutors ?? 0,
      dynamic: sparkConf?.["spark.dynamicAllocation.enabled"]?.trim().toLowerCase() === "true",
    },
    retain: given.resourceRetainPolicy ?? "Never",
    retainMs: unlessNegative(given.resourceRetainDurationMillis),
    ttlMs: unlessNegative(given.ttlAfterStopMillis),
  };
};

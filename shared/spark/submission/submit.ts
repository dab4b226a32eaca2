/** Builds the objects of one attempt of a SparkApplication: those created before the driver pod, and that pod. */
import type { Obj } from "../../core/object.ts";
import { rulesFor } from "../configuration/versions.ts";
import { executorOf } from "../executor-pod/builder.ts";
import type { ExecutorBasis } from "../executor-pod/request.ts";
import { firstId } from "../executors/allotment.ts";
import { admittedBy, executorsWanted, isOwn, madeHere, obstaclesIn, queueErrors } from "../executors/owner.ts";
import { podOddities } from "../ignored/pods.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { brokenRules, withDefaults } from "../schema/rules.ts";
import {
  confs,
  confsOfOwn,
  confsOfQueue,
  driverOwner,
  epochConfs,
  executorOwner,
  before as marked,
  podLabels,
  withoutAttempt,
} from "./additions.ts";
import { type Arguments, argumentsOf, metricsMap, needsMetricsMap } from "./arguments/argv.ts";
import { wrongScratch } from "./arguments/pod.ts";
import { type Built, build, prepare } from "./client.ts";
import { type Ignored, ignoredIn } from "./ignored.ts";
import { mutated } from "./mutation.ts";
import type { PlannedPods } from "./planned-pods.ts";
import { assembled, asTemplate, executorPod, owned, type SparkPod, templateOf } from "./pods/pod.ts";
import { type Identity, identityOf } from "./steps/step.ts";
import { notesOf, oversizedConfigMap } from "./warnings.ts";

export type SubmissionInput = {
  readonly app: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: SparkApplicationSpec;
  /** The number of the driver, from 1; the same attempt gives the same objects. */
  readonly attempt: number;
  /** Epoch ms, as `spark.app.submitTime` carries it. */
  readonly submittedAt: number;
  /** The API server's address for the driver: `https://kubernetes.default.svc`. */
  readonly apiServer: string;
  /** The user that submits, for whom the driver runs; by default the one of Spark's images. */
  readonly user?: string;
};

export type Submission = {
  readonly submissionId: string;
  readonly applicationId: string;
  readonly driverPodName: string;
  /** ConfigMaps, Secrets, claims and the driver's service: the kubelet needs them when the driver pod comes. */
  readonly before: readonly Obj[];
  readonly driver: Obj;
  /** The pods with which the run begins, for those that count them before they exist. */
  readonly planned: PlannedPods;
  /** The basis of executors, where `rekindle.dev/executors: own` makes Rekindle their allocator. */
  readonly executors?: ExecutorBasis;
  /** Confs and fields of the application that its run does not get, for people and events. */
  readonly ignored: readonly Ignored[];
  /**
   * Returns the fields that take effect differently from how they are written, for people; the ignored ones among them. Doors
   * tell them, and no step needs them.
   */
  readonly notes: () => readonly string[];
};

type Refused = { readonly refused: string };

export type SubmissionResult = Submission | Refused;

/** The user that upstream's submitter and Spark's images run as. */
const sparkUser = "spark";

const labelled = (pod: SparkPod, labels: Readonly<Record<string, string>>): SparkPod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
});

const annotated = (pod: SparkPod, annotations: Readonly<Record<string, string>>): SparkPod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
});

const inTheWay = ({ app, spec }: SubmissionInput): readonly string[] => [
  ...brokenRules({ name: app.name, namespace: app.namespace, spec }),
  ...wrongScratch(spec),
  ...queueErrors({ ...app, spec }),
  ...(spec.mode === "client" ? ["spec.mode: client mode would run the driver inside the operator; use cluster"] : []),
];

/** The executors' template for the driver. JSON is YAML. */
const executorTemplate = (input: SubmissionInput, submissionId: string): { readonly text: string } | Refused => {
  const { app, spec, attempt } = input;
  const start = executorPod(spec.executor.template);
  if ("error" in start) return { refused: `spec.executor.template: ${start.error}` };
  const tagged = labelled(owned(start, executorOwner(app)), podLabels({ app, attempt, submissionId }));
  const { pod, sidecars } = mutated(tagged, { role: "executor", name: app.name, spec, own: spec.executor });
  return { text: JSON.stringify(asTemplate(pod, sidecars)) };
};

const ownedIn = ({ app }: SubmissionInput): boolean => isOwn(app.annotations ?? {});

/** The confs of the submission before those by which Rekindle makes itself the allocator. */
const givenConfs = ({ app, spec, attempt }: SubmissionInput, line: Arguments, own: boolean) => [
  ...confs(spec, rulesFor(spec.sparkVersion), own),
  ...line.confs,
  ...epochConfs(app, attempt),
];

const built = (input: SubmissionInput, identity: Identity, line: Arguments, executor: string): Built | Refused => {
  const { app, spec } = input;
  const own = ownedIn(input);
  const given = givenConfs(input, line, own);
  const obstacles = own ? obstaclesIn({ conf: new Map(given), sparkVersion: spec.sparkVersion }) : [];
  if (obstacles.length > 0) return { refused: obstacles.join("; ") };
  const held = own ? confsOfOwn : confsOfQueue(app, given);
  const prepared = prepare({
    ...line,
    master: `k8s://${input.apiServer}`,
    name: app.name,
    confs: [...given, ...held],
    submittedAt: input.submittedAt,
  });
  if ("refused" in prepared) return prepared;
  return build({
    conf: prepared.conf,
    sparkVersion: spec.sparkVersion,
    identity,
    program: prepared.program,
    proxyUser: line.proxyUser,
    machine: { user: input.user ?? sparkUser },
    templates: { driver: templateOf("driver", spec.driver.template), executor },
  });
};

/** The knowledge of the driver's own allocator about its executors. Their ConfigMap is disabled: see `held`. */
const basisOf = (input: SubmissionInput, identity: Identity, made: Built, template: string): ExecutorBasis => ({
  conf: made.confs,
  sparkVersion: input.spec.sparkVersion,
  applicationId: made.applicationId,
  prefix: identity.prefix,
  user: input.spec.proxyUser || input.user || sparkUser,
  localDirs: made.confs.get("spark.local.dir") ?? identity.localDir,
  configMap: "",
  confFiles: [],
  template: JSON.parse(template),
  authSecret: undefined,
});

/** The secret that a driver would make: no amount depends on it. */
const authSecret = "planned";

/** The first pods; an executor is built as its allocator builds it. Rekindle refuses one that it could not create. */
const firstPods = ({ app, spec }: SubmissionInput, basis: ExecutorBasis, driver: Obj): PlannedPods | Refused => {
  const host = { name: driver.metadata.name ?? "", uid: "", ip: undefined };
  const one = executorOf({ ...basis, authSecret, executorId: `${firstId}`, driver: host });
  if ("refused" in one) return isOwn(app.annotations ?? {}) ? one : { driver, executors: 0 };
  const { executors: admitted = Number.POSITIVE_INFINITY } = admittedBy({ ...app, spec }) ?? {};
  return { driver, executor: one.pod, executors: Math.min(admitted, executorsWanted(spec)) };
};

const driverOf = (input: SubmissionInput, { pod, namespace, driverPodName }: Built, submissionId: string): Obj => {
  const { app, spec, attempt } = input;
  const tagged = labelled(owned(pod, driverOwner(app)), podLabels({ app, attempt, submissionId }));
  const marked = ownedIn(input) ? annotated(tagged, madeHere) : tagged;
  const desired = mutated(marked, { role: "driver", name: app.name, spec, own: spec.driver });
  const { metadata, spec: podSpec } = assembled(desired.pod, desired.sidecars);
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: driverPodName, namespace }, spec: podSpec };
};

/** The names of an attempt, known before its objects are built. */
export const identityFor = (
  { name, uid }: { readonly name: string; readonly uid: string },
  attempt: number,
): Identity => identityOf(name, `${uid}/${attempt}`);

const oddities = ({ driver, executor }: PlannedPods): readonly string[] => [
  ...podOddities("driver", driver),
  ...(executor === undefined ? [] : podOddities("executor", executor)),
];

/** Builds the objects of an attempt. Pure: the same input gives the same objects. */
export const submit = (given: SubmissionInput): SubmissionResult => {
  const input = { ...given, spec: withDefaults(given.spec) };
  const { app, spec, attempt } = input;
  const broken = inTheWay(input);
  if (broken.length > 0) return { refused: broken.join("; ") };
  const identity = identityFor(app, attempt);
  const { submissionId } = identity;
  const subject = { ...app, labels: app.labels ?? {}, spec, submissionId };
  const line = argumentsOf(subject);
  const executor = executorTemplate(input, submissionId);
  if ("refused" in executor) return executor;
  const made = built(input, identity, line, executor.text);
  if ("refused" in made) return made;
  const basis = basisOf(input, identity, made, executor.text);
  const mark = { app, attempt, submissionId };
  const metrics = needsMetricsMap(spec) ? [withoutAttempt(metricsMap(app.name, spec), app)] : [];
  const before = [...metrics, ...[...made.first, ...made.objects].map((object) => marked(object, mark))];
  const heavy = oversizedConfigMap(spec, before);
  if (heavy !== undefined) return { refused: heavy };
  const driver = driverOf(input, made, submissionId);
  const planned = firstPods(input, basis, driver);
  if ("refused" in planned) return planned;
  const own = ownedIn(input);
  const ignored = ignoredIn({ subject, own, conf: made.confs, planned });
  return {
    submissionId,
    applicationId: made.applicationId,
    driverPodName: made.driverPodName,
    before,
    driver,
    planned,
    ...(own ? { executors: basis } : {}),
    ignored,
    notes: () => [...notesOf(spec), ...oddities(planned), ...ignored.map(({ says }) => says)],
  };
};

/**
 * The kinds that admission knows, with their defaults and checks, which are upstream's. A SparkApplication or
 * SparkConnect that does not fit the namespace's quota, by the usage of the pods with which it begins, is refused
 * before its pods are. Pure: a repeat or a dry run makes no difference.
 */
import * as z from "zod";
import { fieldsOf, isRecord, isTooMuch } from "../../core/json.ts";
import { apiVersionOf, type Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import {
  type AdmissionRequest,
  type AdmittedObject,
  additions,
  isSameSpec,
  type Judgement,
  memoryLimitMark,
  namedAs,
  type PatchOperation,
  pass,
  type RequestedName,
  type Verdict,
  verdictOf,
} from "../../kube/admission.ts";
import { isSameKind } from "../../kube/declared-kind.ts";
import type { LimitsCheck } from "../../kube/limits.ts";
import { type PodDefaults, withPodDefaults } from "../../kube/pod-defaults.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { readApache, unservedIn } from "../apache/spec/read.ts";
import { apacheLimits } from "../apache/spec/schema.ts";
import { rehearsedApache } from "../apache/submission.ts";
import { policiesOf } from "../application/spec/policies.ts";
import { readCluster } from "../cluster/read.ts";
import { clusterLimits } from "../cluster/schema.ts";
import { notesOfServer } from "../connect/ignored.ts";
import { serverPod } from "../connect/objects.ts";
import { readConnectSpec } from "../connect/read.ts";
import { queueErrors } from "../executors/owner.ts";
import { readScheduleSpec, runAnnotations } from "../scheduled/read.ts";
import { type SparkApplicationSpec, specSchema } from "../schema/application.ts";
import { applicationLimits, connectLimits, scheduleLimits } from "../schema/limits.ts";
import { sparkApplications, sparkConnects } from "../schema/resource.ts";
import {
  confRules,
  nameRules,
  parseSpec,
  parseWith,
  scaleOddities,
  withConfDefaults,
  withDefaults,
} from "../schema/rules.ts";
import { type PlannedPods, plannedUsage } from "../submission/planned-pods.ts";
import { submit } from "../submission/submit.ts";
import { exceeded, type NamespaceRoom, type Requests, unstated } from "./quota.ts";
import { upstreamEstimate } from "./upstream-estimate.ts";

type Texts = Readonly<Record<string, string>>;

const nano = 1e9;

/**
 * How admission counts: with the deployment's confs below the application's, with what the API server adds to pods, and by
 * upstream's estimate if it is set.
 */
export type Counting = {
  readonly confs: Texts;
  readonly defaults?: PodDefaults | undefined;
  readonly estimate?: boolean | undefined;
};

/** The pods with which an object's run begins; of a SparkConnect its server, whose executors come when it runs. */
const podsOf = (kind: string, object: AdmittedObject, named: RequestedName, confs: Texts): PlannedPods | undefined => {
  if (kind === sparkConnects.kind) {
    const given = serverOf(object, named, confs);
    return "message" in given
      ? undefined
      : { driver: serverPod(given.owner, given.server, given.images), executors: 0 };
  }
  const parsed = parseWith(confs, { ...object, metadata: named });
  if (!parsed.ok) return undefined;
  const made = rehearsal({ ...named, ...marksOf(object), spec: parsed.spec });
  return "planned" in made ? made.planned : undefined;
};

/** The same pods as the API server would store them. */
const storedPodsOf = (
  kind: string,
  object: AdmittedObject,
  named: RequestedName,
  { confs, defaults }: Counting,
): PlannedPods | undefined => {
  const pods = podsOf(kind, object, named, confs);
  if (pods === undefined || defaults === undefined) return pods;
  const stored = (pod: Obj): Obj => ({ ...pod, spec: withPodDefaults(fieldsOf(pod.spec), named.namespace, defaults) });
  return {
    ...{ ...pods, driver: stored(pods.driver) },
    ...(pods.executor === undefined ? {} : { executor: stored(pods.executor) }),
  };
};

/** Upstream's estimate of an application; upstream counts nothing of a SparkConnect. */
const estimateOf = (kind: string, { spec }: AdmittedObject): Requests => {
  const { data } = specSchema.safeParse(spec);
  return data === undefined || kind !== sparkApplications.kind ? {} : upstreamEstimate(withDefaults(data));
};

const requestsOf = (pods: PlannedPods | undefined): Requests =>
  pods === undefined
    ? {}
    : Object.fromEntries([...plannedUsage(pods)].map(([name, amount]) => [name, Number(amount.nano) / nano]));

/** True of a run that the quota counts already. */
const runs = (object: AdmittedObject | null | undefined): boolean => {
  const status = object?.status;
  const state = isRecord(status) && isRecord(status["applicationState"]) ? status["applicationState"]["state"] : "";
  return state === "SUBMITTED" || state === "RUNNING";
};

const isServer = ({ kind }: AdmissionRequest): boolean => isSameKind(kind, sparkConnects);

/** The amounts that an object asks for by this way of counting; none for one that cannot be submitted. */
export const amountsOf = (
  { kind }: Pick<AdmissionRequest["kind"], "kind">,
  object: AdmittedObject,
  named: RequestedName,
  counting: Counting,
): Requests =>
  counting.estimate === true ? estimateOf(kind, object) : requestsOf(storedPodsOf(kind, object, named, counting));

const increase = (request: AdmissionRequest, counting: Counting): Requests => {
  const { kind, object, oldObject } = request;
  const requested = (one: AdmittedObject | null | undefined): Requests =>
    one ? amountsOf(kind, one, namedAs(one, request), counting) : {};
  const before = runs(oldObject) ? requested(oldObject) : {};
  return Object.fromEntries(
    Object.entries(requested(object)).map(([name, amount]) => [name, amount - (before[name] ?? 0)]),
  );
};

/** True when the request needs a read of the quotas. */
export const isCounted = (request: AdmissionRequest): boolean =>
  isServer(request)
    ? request.operation === "CREATE"
    : isSameKind(request.kind, sparkApplications) &&
      ["CREATE", "UPDATE"].includes(request.operation) &&
      !isSameSpec(request);

/** The verdict after the namespace's quotas: a refusal stays one. */
export const withinQuotas = (
  { quotas, defaults, unread = [] }: NamespaceRoom,
  request: AdmissionRequest,
  { verdict, ...given }: Omit<Counting, "defaults"> & { readonly verdict: Verdict },
): Verdict => {
  if (!verdict.allowed) return verdict;
  const counting = { ...given, defaults };
  const excess = exceeded(increase(request, counting), quotas);
  if (excess.length > 0) return { allowed: false, message: excess.join("; ") };
  const { kind, object } = request;
  const pods = object ? storedPodsOf(kind.kind, object, namedAs(object, request), counting) : undefined;
  const first = pods === undefined ? [] : [pods.driver, ...(pods.executor === undefined ? [] : [pods.executor])];
  return { ...verdict, warnings: [...verdict.warnings, ...unread, ...unstated(first, quotas)] };
};

const stateOf = (object: AdmittedObject): unknown => {
  const { status } = object;
  const application = isRecord(status) ? status["applicationState"] : undefined;
  return isRecord(application) ? application["state"] : undefined;
};

/** True before a run has begun: in a later phase, new defaults would change the run. */
const isNew = (object: AdmittedObject): boolean =>
  [undefined, "", "INVALIDATING"].some((state) => state === stateOf(object));

const hasType = (spec: unknown): boolean => isRecord(spec) && spec["type"] !== undefined && spec["type"] !== "";

/** The defaults of an application that has not begun. A spec that does not parse is left to the validation. */
const applicationDefaults = (object: AdmittedObject, confs: Texts): readonly PatchOperation[] => {
  const { spec } = object;
  if (!isNew(object) || !isRecord(spec)) return [];
  const parsed = specSchema.safeParse(hasType(spec) ? spec : { ...spec, type: "Scala" });
  if (!parsed.success) return [];
  // A default conf stands for its field, as a conf of the user's does. It is not written into the object.
  const { sparkConf: _, ...defaults } = withDefaults(withConfDefaults(parsed.data, confs));
  return additions(spec, defaults, "/spec");
};

const texts = z.record(z.string(), z.string());

const labelsOf = ({ metadata }: AdmittedObject): Texts => texts.safeParse(metadata["labels"]).data ?? {};
const annotationsOf = ({ metadata }: AdmittedObject): Texts => texts.safeParse(metadata["annotations"]).data ?? {};
const marksOf = (object: AdmittedObject) => ({ labels: labelsOf(object), annotations: annotationsOf(object) });

/** The UID of an object that is not stored yet. */
const unborn = "00000000-0000-0000-0000-000000000000";
const apiServer = "https://kubernetes.default.svc";

type Rehearsed = {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Texts;
  readonly annotations: Texts;
  readonly spec: SparkApplicationSpec;
};

/** Builds a submission that is never created, to check whether it could be. */
const rehearsal = ({ name, namespace, labels = {}, annotations, spec }: Rehearsed): ReturnType<typeof submit> =>
  submit({
    app: { name, namespace, uid: unborn, labels, annotations },
    ...{ spec, attempt: 1, submittedAt: 0, apiServer },
  });

const rehearsed = (object: AdmittedObject, { name, namespace }: RequestedName, confs: Texts): readonly string[] => {
  const parsed = parseWith(confs, { ...object, metadata: { name, namespace } });
  if (!parsed.ok) return [];
  const annotations = annotationsOf(object);
  // The note about memoryLimit holds only without admission.
  const noted = { ...parsed.spec, executor: { ...parsed.spec.executor, memoryLimit: undefined } };
  const result = rehearsal({ name, namespace, annotations, spec: noted });
  const { problems } = policiesOf({ metadata: { annotations } });
  return "refused" in result
    ? [`its submission will fail: ${result.refused}`, ...problems]
    : [...problems, ...scaleOddities(parsed.spec.dynamicAllocation), ...result.notes()];
};

/**
 * Refuses an object that upstream's webhook refuses, or that neither Spark nor Kubernetes could read. An error that
 * only a submission finds is a warning: upstream stores such an application, and shows the error in its status.
 */
const judgedApplication = (object: AdmittedObject, named: RequestedName, confs: Texts): Judgement => {
  const parsed = parseSpec({ ...object, metadata: named });
  return parsed.ok
    ? { broken: [], warnings: rehearsed(object, named, confs) }
    : { broken: [parsed.message], warnings: [] };
};

/** The server that a SparkConnect asks for. */
const serverOf = (object: AdmittedObject, named: RequestedName, confs: Texts) => {
  const read = readConnectSpec({ ...object, metadata: named });
  if (!read.ok) return read;
  const server = {
    ...{ ...named, labels: labelsOf(object), apiServer },
    spec: withConfDefaults(read.spec, confs),
  };
  const metadata = { ...named, uid: unborn, resourceVersion: "", annotations: annotationsOf(object) };
  const owner = { apiVersion: apiVersionOf(sparkConnects), kind: sparkConnects.kind, metadata, spec: object.spec };
  return { owner, server, images: read.images };
};

/** Admission of SparkConnects, by the rules of the reconcile, which are upstream's. */
const judgedConnect = (object: AdmittedObject, named: RequestedName, confs: Texts): Judgement => {
  const given = serverOf(object, named, confs);
  return "message" in given
    ? { broken: [given.message], warnings: [] }
    : { broken: [], warnings: notesOfServer(given.owner, given.server, given.images) };
};

const marked = z.looseObject({
  metadata: z.looseObject({ annotations: z.looseObject({ [memoryLimitMark]: z.string() }) }),
  spec: z.looseObject({
    containers: z.array(
      z.looseObject({
        name: z.string(),
        resources: z.looseObject({ limits: z.looseObject({}).optional() }).optional(),
      }),
    ),
  }),
});

/** Replaces Spark's memory limit with the one in the template's annotation. */
const podLimits = (object: AdmittedObject): readonly PatchOperation[] => {
  const parsed = marked.safeParse(object);
  if (!parsed.success) return [];
  const { metadata, spec } = parsed.data;
  const limit = metadata.annotations[memoryLimitMark];
  const at = spec.containers.findIndex(({ name }) => name === "spark-kubernetes-executor");
  const container = spec.containers[at];
  if (container === undefined || typeof limit !== "string") return [];
  const { resources } = container;
  const path = `/spec/containers/${at}/resources`;
  if (resources === undefined) return [{ op: "add", path, value: { limits: { memory: limit } } }];
  if (resources.limits === undefined) return [{ op: "add", path: `${path}/limits`, value: { memory: limit } }];
  return [{ op: "add", path: `${path}/limits/memory`, value: limit }];
};

const spec = z.looseObject({
  template: z.looseObject({ sparkConf: z.record(z.string(), z.string()).optional() }),
});

/** Warnings about the schedule's runs: builds a submission of the template, as for an application. */
const runSayings = (object: AdmittedObject, { name, namespace }: RequestedName, confs: Texts): readonly string[] => {
  const { template } = fieldsOf(object.spec);
  const run = parseWith(confs, { metadata: { name, namespace }, spec: template });
  if (!run.ok) return [`its runs will fail: in spec.template, ${run.message}`];
  const result = rehearsal({ name, namespace, annotations: runAnnotations(annotationsOf(object)), spec: run.spec });
  if ("refused" in result) return [`its runs will fail: in spec.template, ${result.refused}`];
  return result.ignored.map(({ says }) => `in spec.template, ${says}`);
};

/** Warnings about errors that upstream stores, and shows in the status of the schedule or of its runs. */
const toldLater = (object: AdmittedObject, named: RequestedName, confs: Texts): readonly string[] => {
  const created = object.metadata["creationTimestamp"];
  const now = instantOf(typeof created === "string" ? created : undefined) ?? 0;
  const read = readScheduleSpec({ ...object, metadata: { name: named.name } }, now);
  return [...(read.ok ? [] : [`it will not run: ${read.reason}`]), ...runSayings(object, named, confs)];
};

/** Admission of ScheduledSparkApplications: upstream refuses names and confs only. */
const judgedSchedule = (object: AdmittedObject, named: RequestedName, confs: Texts): Judgement => {
  const parsed = spec.safeParse(object.spec, reportingInput);
  if (!parsed.success) return { broken: [explain(parsed.error)], warnings: [] };
  const { template } = parsed.data;
  const broken = [...nameRules(named.name), ...confRules(template.sparkConf ?? {}, named.namespace)];
  return { broken, warnings: broken.length > 0 ? [] : toldLater(object, named, confs) };
};

/** Refuses an application of Apache's operator that could not be submitted. */
const judgedApache = (object: AdmittedObject, named: RequestedName, confs: Texts): Judgement => {
  const read = readApache({ metadata: named, spec: object.spec });
  const run = read.ok ? rehearsedApache({ ...named, ...marksOf(object) }, read.spec, confs) : { refused: read.message };
  const broken = "refused" in run ? [run.refused] : unservedIn({ metadata: marksOf(object) }, "application");
  return { broken, warnings: read.ok && broken.length === 0 ? read.warnings : [] };
};

/** Refuses a cluster of Apache's operator none of whose objects could exist. */
const judgedCluster = (object: AdmittedObject, named: RequestedName): Judgement => {
  const read = readCluster({ metadata: named, spec: object.spec });
  const broken = read.ok ? unservedIn({ metadata: marksOf(object) }, "cluster") : [read.message];
  return { broken, warnings: read.ok && broken.length === 0 ? read.warnings : [] };
};

/** A spec of applications in an object of this kind, and the annotations that its runs have. */
type Runs = (object: AdmittedObject) => { readonly spec: unknown; readonly annotations: Texts };

/** Errors of an object whose runs Kueue could not admit, or admit as a whole; none of a spec that does not parse. */
const unadmitted = (runs: Runs, object: AdmittedObject, named: RequestedName, confs: Texts): readonly string[] => {
  const { spec, annotations } = runs(object);
  const parsed = parseWith(confs, { metadata: named, spec });
  return parsed.ok ? queueErrors({ labels: labelsOf(object), annotations, spec: parsed.spec }) : [];
};

type KindAdmission = {
  /** Absent: the object has no limits. */
  readonly limits?: LimitsCheck;
  readonly patched?: (object: AdmittedObject, confs: Texts) => readonly PatchOperation[];
  readonly judged?: (object: AdmittedObject, named: RequestedName, confs: Texts) => Judgement;
  readonly runs?: Runs;
};

/** group/kind → its admission. Upstream has no defaults for schedules and SparkConnects. */
const admissions: Readonly<Record<string, KindAdmission>> = {
  "sparkoperator.k8s.io/SparkApplication": {
    limits: applicationLimits,
    patched: applicationDefaults,
    judged: judgedApplication,
    runs: (object) => ({ spec: object.spec, annotations: annotationsOf(object) }),
  },
  "sparkoperator.k8s.io/ScheduledSparkApplication": {
    limits: scheduleLimits,
    judged: judgedSchedule,
    runs: (object) => ({
      spec: fieldsOf(object.spec)["template"],
      annotations: runAnnotations(annotationsOf(object)),
    }),
  },
  "sparkoperator.k8s.io/SparkConnect": { limits: connectLimits, judged: judgedConnect },
  "spark.apache.org/SparkApplication": { limits: apacheLimits, judged: judgedApache },
  "spark.apache.org/SparkCluster": { limits: clusterLimits, judged: judgedCluster },
  "/Pod": { patched: podLimits },
};

const admissionOf = ({ kind, operation }: AdmissionRequest): KindAdmission => {
  const name = `${kind.group}/${kind.kind}`;
  const writes = operation === "CREATE" || operation === "UPDATE";
  return writes && Object.hasOwn(admissions, name) ? (admissions[name] ?? {}) : {};
};

/** Writes the defaults of fields that are absent. `confs`: the deployment's confs below those of each application. */
export const patchedBy = (request: AdmissionRequest, confs: Texts = {}): Verdict => {
  const { patched } = admissionOf(request);
  const { object } = request;
  return patched === undefined || !object || isTooMuch(object.spec) ? pass : { ...pass, patch: patched(object, confs) };
};

/** An update of an object that could outgrow its quota already is allowed: Kueue stops such a one by an update. */
const outgrows = (request: AdmissionRequest, confs: Texts): readonly string[] => {
  const { runs } = admissionOf(request);
  const errorsOf = (one: AdmittedObject | null | undefined): readonly string[] =>
    runs === undefined || !one ? [] : unadmitted(runs, one, namedAs(one, request), confs);
  return errorsOf(request.oldObject).length > 0 ? [] : errorsOf(request.object);
};

/** Refuses an object that could not run, with the deployment's confs below its own. */
export const judgedBy = (request: AdmissionRequest, confs: Texts = {}): Verdict => {
  const { judged, limits } = admissionOf(request);
  const { object } = request;
  if (judged === undefined || !object || isSameSpec(request)) return pass;
  const beyond = limits?.(object.spec) ?? "";
  if (beyond !== "") return { allowed: false, message: beyond };
  const { broken, warnings } = judged(object, namedAs(object, request), confs);
  return verdictOf({ broken: broken.length > 0 ? broken : outgrows(request, confs), warnings });
};

/**
 * Hands out an attempt and creates its objects; handles the API server's refusal of them. A run's auxiliary objects:
 * their creation, the UI information in the status, their removal at its end.
 */
import { forgetOldest, oncePer } from "../../../core/cache.ts";
import { all, get, list, type Reads } from "../../../core/decision.ts";
import type { Obj, Resource } from "../../../core/object.ts";
import type { Effect, Plan } from "../../../core/plan.ts";
import { until } from "../../../core/waiting-on.ts";
import { isEnding, ownedBy } from "../../../kube/pods.ts";
import { pods, services } from "../../../kube/resources.ts";
import {
  endsWithRun,
  postStartObjectsOf,
  preDriverObjectsOf,
  type RareKind,
  rareIn,
  rareKinds,
  subjectOf,
} from "../../auxiliary-objects/all.ts";
import { uiInfo, uiServiceName } from "../../auxiliary-objects/ingress.ts";
import type { AuxiliaryObject } from "../../auxiliary-objects/object.ts";
import { standIn } from "../../configuration/versions.ts";
import { prefixOf } from "../../executor-pod/builder.ts";
import type { ExecutorBasis } from "../../executor-pod/request.ts";
import { newAllotment } from "../../executors/allotment.ts";
import { endingOf } from "../../executors/losses.ts";
import type { SparkApplicationSpec } from "../../schema/application.ts";
import { ownerAnnotation } from "../../schema/pod-query.ts";
import { made, sparkApplications } from "../../schema/resource.ts";
import { needsOf, type PlannedPods } from "../../submission/planned-pods.ts";
import { type Submission, submit } from "../../submission/submit.ts";
import { policiesOf } from "../spec/policies.ts";
import type { Pods } from "../state/evidence.ts";
import { type Driver, type Memory, placedBy, relevant, type State } from "../state/memory.ts";
import { shownInfo, showsBegun } from "../state/status.ts";
import { type ApplicationContext, isMadeFor, ownSpec, policyOf, rareOf, removal, type Settings } from "./context.ts";
import { planOf, withoutSubmissionEvent } from "./plan.ts";
import { nextSubmission } from "./retry.ts";

/** The application at one of its attempts, as the auxiliary objects are built from it. */
const attemptOf = (
  { key, view, settings: { options } }: ApplicationContext,
  spec: SparkApplicationSpec,
  attempt: number,
) => subjectOf({ name: key.name, namespace: key.namespace, uid: view.uid, spec, options }, attempt);

const accompaniment = ({ resource, object, optional }: AuxiliaryObject, owner: string): Effect => ({
  do: "create",
  object,
  resource,
  owner,
  ...(optional ? { optional } : {}),
});

/** Remembers the rare kinds before their objects are created, so that clearing the run lists them. */
const withRare = (memory: Memory, companions: readonly AuxiliaryObject[]): Memory => {
  const rare: readonly RareKind[] = [...new Set([...(memory.rare ?? []), ...rareIn(companions)])].sort();
  return rare.length === 0 ? memory : { ...memory, rare: [...rare] };
};

type Exposure =
  | { readonly make: readonly Effect[]; readonly memory: Memory }
  | { readonly info: Readonly<Record<string, unknown>> };

/**
 * Creates the services and ingresses of a driver that has begun, after the submission as upstream does: a Service whose
 * address the API server gives slowly does not delay the driver. Then takes the UI service from the
 * answer to its creation, which has the address that the API server gave, and reads it where it was there before, until
 * the status shows its information.
 */
export function* exposureOf(context: ApplicationContext): Reads<Exposure> {
  const { key, view, memory, read, object, settings } = context;
  const { driver } = memory;
  if (!read.ok || driver === undefined) return { info: {} };
  const { attempt, submissionId, podName: driverPodName } = driver;
  const own = attemptOf(context, read.spec, attempt);
  const subject = { ...own, submissionId, applicationId: driver.applicationId ?? own.applicationId, driverPodName };
  const postStart = showsBegun(object, driver) ? [] : postStartObjectsOf(subject);
  const made = (view.done ?? []).some(({ do: act }) => act === "create");
  if (postStart.length > 0 && !made) {
    const make = postStart.map((one) => accompaniment(one, view.uid));
    return { make, memory: withRare(memory, postStart) };
  }
  if (!settings.options.uiService || shownInfo(object, driver)["webUIServiceName"] !== undefined) return { info: {} };
  const name = uiServiceName(key.name);
  const ref = { resource: services, namespace: key.namespace, name };
  const service = yield* get({ do: "get", ref });
  return { info: service !== undefined && ownedBy(service, view.uid) ? uiInfo(subject, service) : {} };
}

type Ended = { readonly stage: readonly Effect[]; readonly left: number; readonly memory: Memory };

/**
 * Deletes by UID the rare objects that end with the run. A kind with none left is not listed again. The quota of growths
 * is given back only when no executor is left that uses it.
 */
export function* endAuxiliaryObjects(context: ApplicationContext, found: Pods): Reads<Ended> {
  const { view, memory } = context;
  const ending: readonly RareKind[] = (memory.rare ?? []).filter((name) => endsWithRun[name]);
  const lists = yield* all(ending.map((name) => list(rareOf(context, name))));
  const there = ending.flatMap((name, index) => {
    const mine = (lists[index] ?? []).filter((object) => isMadeFor(object, rareKinds[name], view.uid));
    return mine.map((object) => ({ object, name }));
  });
  const isUsed = found.executors.some((pod) => endingOf(pod) === undefined);
  const free = there.filter(({ object, name }) => !isEnding(object) && !(name === "growth" && isUsed));
  const gone = ending.filter((kind) => there.every(({ name }) => name !== kind));
  const rare = (memory.rare ?? []).filter((name) => !gone.includes(name));
  const { rare: _, ...rest } = memory;
  return {
    stage: free.map(({ object, name }) => removal(object, rareKinds[name])),
    left: there.length,
    memory: rare.length === 0 ? rest : { ...rest, rare },
  };
}

const resourceOf: ReadonlyMap<string, Resource> = new Map([pods, ...made].map((resource) => [resource.kind, resource]));

export const creation = (object: Obj, owner: string): Effect => {
  const resource = resourceOf.get(object.kind);
  if (resource === undefined) throw new Error(`a submission made a ${object.kind}, which nothing here can create`);
  return { do: "create", object, resource, owner };
};

type Whole = Submission & { readonly guards: readonly AuxiliaryObject[] };

type Refused = { readonly refused: string };

/** The submission of an attempt. It depends on its arguments alone, so that a later step builds the same. */
const submitted = (context: ApplicationContext, attempt: number, submittedAt: number): Submission | Refused => {
  const { read, object, view, settings } = context;
  if (!read.ok) return { refused: read.message };
  const { name, namespace, labels, annotations } = object.metadata;
  const app = {
    name,
    namespace: namespace ?? "default",
    uid: view.uid,
    labels: labels ?? {},
    annotations: annotations ?? {},
  };
  const { spec } = attemptOf(context, read.spec, attempt);
  return submit({ app, spec, attempt, submittedAt, apiServer: settings.apiServer });
};

/** The pods with which a driver's run begins; undefined where its submission would be refused now. */
export const plannedPods = (context: ApplicationContext, { attempt, submittedAt }: Driver): PlannedPods | undefined => {
  const result = submitted(context, attempt, submittedAt);
  return "refused" in result ? undefined : result.planned;
};

/** The most bases that are kept, and the longest text of one's inputs: 1 MiB of texts at most. */
const most = 32;
const longest = 32_768;

/**
 * Bases of runs, by their inputs. Each step that creates executors needs one, and it costs as much as a whole submission.
 * Settings are inputs as well, so each deployment's have their own.
 */
const keptBases = oncePer((_: Settings) => new Map<string, ExecutorBasis>());

/** The basis of the present run's executors, also when the annotation was removed in the meantime. */
export const executorBasis = (
  context: ApplicationContext,
  { attempt, submittedAt }: Driver,
): ExecutorBasis | undefined => {
  const { object, key, view, read, settings } = context;
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [ownerAnnotation]: "own" };
  const kept = keptBases(settings);
  const { name, namespace, labels } = metadata;
  const inputs = JSON.stringify([key, view.uid, { name, namespace, labels, annotations }, read, attempt, submittedAt]);
  const known = kept.get(inputs);
  if (known !== undefined) return known;
  const own = { ...context, object: { ...object, metadata: { ...metadata, annotations } } };
  const result = submitted(own, attempt, submittedAt);
  const basis = "refused" in result ? undefined : result.executors;
  if (basis === undefined || inputs.length > longest) return basis;
  kept.set(inputs, basis);
  forgetOldest(kept, most);
  return basis;
};

/** The submission of an attempt, with its auxiliary objects. */
const submissionOf = (context: ApplicationContext, attempt: number, submittedAt: number): Whole | Refused => {
  const { read } = context;
  const result = submitted(context, attempt, submittedAt);
  if ("refused" in result || !read.ok) return "refused" in result ? result : { refused: "its spec cannot be read" };
  const subject = attemptOf(context, read.spec, attempt);
  const strange = [...result.before, result.driver].find(({ kind }) => !resourceOf.has(kind));
  if (strange !== undefined) return { refused: `it needs a ${strange.kind}, which Rekindle cannot create` };
  const { submissionId, applicationId, driverPodName } = result;
  return {
    ...result,
    guards: preDriverObjectsOf({ ...subject, submissionId, applicationId, driverPodName }, result.planned),
  };
};

/** The memory of a run whose allocator is Rekindle: the number of executors may change while it runs. */
const allotted = (
  { memory, object, settings }: ApplicationContext,
  attempt: number,
  { executors }: Whole,
): Partial<Memory> => {
  if (executors === undefined) return { spec: relevant(object, false) };
  const own = ownSpec(settings);
  const allotment = newAllotment(attempt, prefixOf(executors), memory.allotment);
  return { spec: relevant(object, own), allotment: { ...allotment, ...placedBy(object, own) } };
};

/** Plans the next attempt: the save of its identity is fenced, and comes before anything of it exists. */
export const submitNext = (context: ApplicationContext): Plan<Memory> => {
  const { memory, view } = context;
  const attempt = memory.attempt + 1;
  const submission = submissionOf(context, attempt, view.now);
  if ("refused" in submission)
    return refused(context, { ...memory, submissions: memory.submissions + 1 }, submission.refused);
  const next: Memory = {
    ...memory,
    attempt,
    submissions: memory.submissions + 1,
    executions: memory.executions + 1,
    plannedAt: view.now,
    driver: {
      attempt,
      submissionId: submission.submissionId,
      applicationId: submission.applicationId,
      podName: submission.driverPodName,
      submittedAt: view.now,
      needs: needsOf(submission.planned),
    },
    ...allotted(context, attempt, submission),
    state: { phase: "SUBMITTED" },
  };
  return creating(context, next, submission);
};

/** Creates the objects of an attempt whose driver no step has seen, again if need be, under the same names. */
export const submitAgain = (context: ApplicationContext): Plan<Memory> => {
  const { memory, view } = context;
  const submittedAt = memory.driver?.submittedAt ?? view.now;
  const submission = submissionOf(context, memory.attempt, submittedAt);
  if ("refused" in submission) return planOfRefusal(context, submission.refused);
  // Later than the first plan's, also within the same second: two creations may be under way.
  const plannedAt = Math.max(view.now, submittedAt + 1);
  return creating(context, { ...memory, plannedAt, state: { phase: "SUBMITTED" } }, submission);
};

const warning = ({ object }: ApplicationContext, { attempt }: Memory, reason: string, message: string): Effect => ({
  do: "record",
  about: object,
  resource: sparkApplications,
  occasion: `${attempt} ${message}`,
  type: "Warning",
  reason,
  message,
});

/** The most events about ignored parts of one application: users see them all in `rekindle status` and `render`. */
const mostIgnored = 8;

/**
 * Events for problems that stop nothing: an annotation out of range, whose default holds; a Spark version that uses
 * another version's rules; volumes, confs and fields that the run does not get.
 */
const warnings = (context: ApplicationContext, memory: Memory, { ignored }: Whole): readonly Effect[] => {
  const { problems } = policiesOf(context.object);
  const other = context.read.ok ? standIn(context.read.spec.sparkVersion) : undefined;
  return [
    ...ignored.slice(0, mostIgnored).map(({ reason, says }) => warning(context, memory, reason, says)),
    ...problems.map((problem) => warning(context, memory, "RekindleAnnotationIgnored", problem)),
    ...(other === undefined ? [] : [warning(context, memory, "RekindleSparkVersionUnknown", other)]),
  ];
};

const creating = (context: ApplicationContext, memory: Memory, submission: Whole): Plan<Memory> => {
  const { uid } = context.view;
  const { guards, before, driver } = submission;
  const first = [...before.map((object) => creation(object, uid)), ...guards.map((guard) => accompaniment(guard, uid))];
  return planOf(context, withRare(memory, guards), undefined, {
    safety: { fenced: true },
    stages: [first, [creation(driver, uid)], warnings(context, memory, submission)],
    next: { do: "wait", waitsFor: until(`driver pod ${submission.driverPodName}`, "started") },
  });
};

/** The plan after the API server refused an object: the attempt was submitted, and never executed. */
export const planOfRefusal = (context: ApplicationContext, error: string): Plan<Memory> => {
  const { driver: _, ...memory } = withoutSubmissionEvent(context.memory);
  return refused(context, { ...memory, executions: Math.max(0, memory.executions - 1) }, error);
};

/** The error in upstream's own words, for which its users' alerts look. */
const submissionError = (error: string): string => `failed to run spark-submit: ${error}`.slice(0, 4_096);

const refused = (context: ApplicationContext, memory: Memory, error: string): Plan<Memory> => {
  const { now } = context.view;
  const failures = (memory.failures ?? 0) + 1;
  const submittedAt = context.memory.driver?.submittedAt ?? now;
  const failure = { ...memory, submittedAt, endedAt: now, failures, forgiven: 0, free: false };
  const retryAt = nextSubmission(policyOf(context), context.policies, failure);
  const ended = { endedAt: now, error: submissionError(error) };
  const state: State = { phase: "SUBMISSION_FAILED", ...ended, ...(retryAt === undefined ? {} : { retryAt }) };
  return planOf(context, { ...memory, failures, state }, undefined, { next: { do: "again" } });
};

/** Hands out an attempt and creates its objects; handles the API server's refusal of them. */

import type { Obj, Resource } from "../../../core/object.ts";
import type { Effect, Plan } from "../../../core/plan.ts";
import { until } from "../../../core/waiting-on.ts";
import { pods } from "../../../kube/resources.ts";
import { preDriverObjectsOf } from "../../auxiliary-objects/all.ts";
import type { AuxiliaryObject } from "../../auxiliary-objects/object.ts";
import { standIn } from "../../configuration/versions.ts";
import { prefixOf } from "../../executor-pod/builder.ts";
import type { ExecutorBasis } from "../../executor-pod/request.ts";
import { begun } from "../../executors/allotment.ts";
import { ownerAnnotation, readOtherwise } from "../../executors/owner.ts";
import { made, sparkApplications } from "../../schema/resource.ts";
import { type Submission, submit } from "../../submission/submit.ts";
import { ignoredVolumes } from "../../submission/warnings.ts";
import { policiesOf } from "../spec/policies.ts";
import { type Driver, isOwnRun, type Memory, relevant, type State } from "../state/memory.ts";
import { accompaniment, attemptOf, withRare } from "./auxiliary-objects.ts";
import { type ApplicationContext, policyOf } from "./context.ts";
import { planOf, unsubmitted } from "./plan.ts";
import { nextSubmission } from "./retry.ts";

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

/** The basis of the present run's executors, also when the annotation was removed in the meantime. */
export const executorBasis = (
  context: ApplicationContext,
  { attempt, submittedAt }: Driver,
): ExecutorBasis | undefined => {
  const { metadata } = context.object;
  const annotations = { ...metadata.annotations, [ownerAnnotation]: "own" };
  const own = { ...context, object: { ...context.object, metadata: { ...metadata, annotations } } };
  const result = submitted(own, attempt, submittedAt);
  return "refused" in result ? undefined : result.executors;
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
  return { ...result, guards: preDriverObjectsOf({ ...subject, submissionId, applicationId, driverPodName }) };
};

/** The memory of a run whose allocator is Rekindle: the number of executors may change while it runs. */
const allotted = ({ memory, object }: ApplicationContext, attempt: number, { executors }: Whole): Partial<Memory> =>
  executors === undefined
    ? { spec: relevant(object, false) }
    : { spec: relevant(object, true), allotment: begun(attempt, prefixOf(executors), memory.allotment) };

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
  if ("refused" in submission) return withdrawn(context, submission.refused);
  return creating(context, { ...memory, plannedAt: view.now, state: { phase: "SUBMITTED" } }, submission);
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

/**
 * Events for problems that stop nothing: an annotation out of range, whose default holds; a Spark version that uses
 * another version's rules; volumes that no pod gets; confs of Spark's own allocator that Rekindle reads otherwise.
 */
const warnings = (context: ApplicationContext, memory: Memory): readonly Effect[] => {
  const { problems } = policiesOf(context.object);
  const other = context.read.ok ? standIn(context.read.spec.sparkVersion) : undefined;
  const otherwise = context.read.ok && isOwnRun(memory) ? readOtherwise(context.read.spec) : [];
  const ignored = context.read.ok ? ignoredVolumes(context.read.spec) : [];
  return [
    ...ignored.map((volume) => warning(context, memory, "RekindleVolumeIgnored", volume)),
    ...problems.map((problem) => warning(context, memory, "RekindleAnnotationIgnored", problem)),
    ...otherwise.map((conf) => warning(context, memory, "RekindleConfIgnored", conf)),
    ...(other === undefined ? [] : [warning(context, memory, "RekindleSparkVersionUnknown", other)]),
  ];
};

const creating = (context: ApplicationContext, memory: Memory, submission: Whole): Plan<Memory> => {
  const { uid } = context.view;
  const { guards, before, driver } = submission;
  const first = [...before.map((object) => creation(object, uid)), ...guards.map((guard) => accompaniment(guard, uid))];
  return planOf(context, withRare(memory, guards), undefined, {
    safety: { fenced: true },
    stages: [first, [creation(driver, uid)], warnings(context, memory)],
    next: { do: "wait", waitsFor: until(`driver pod ${submission.driverPodName}`, "started") },
  });
};

/** The plan after the API server refused an object: the attempt was submitted, and never executed. */
export const withdrawn = (context: ApplicationContext, error: string): Plan<Memory> => {
  const { driver: _, ...memory } = unsubmitted(context.memory);
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

/** Admission of Volcano's kinds: the defaults and the checks of each. Pure: queues and namespaces are given. */

import { isTooMuch, same } from "../../core/json.ts";
import {
  type AdmissionRequest,
  type AdmittedObject,
  isSameSpec,
  namedAs,
  type PatchOperation,
  pass,
  type Verdict,
  verdictOf,
} from "../../kube/admission.ts";
import { isSameKind } from "../../kube/declared-kind.ts";
import type { LimitsCheck } from "../../kube/limits.ts";
import { cronSaying } from "../cron/refusal.ts";
import { circleSaying } from "../queue/state/tree.ts";
import { cronLimits, flowLimits, jobLimits, otherLimits } from "../schema/limits.ts";
import { podGroups } from "../schema/resource.ts";
import type { QueueCheck } from "../validation/parse.ts";
import {
  changedJobSaying,
  cronWarnings,
  flowSaying,
  flowWarnings,
  jobPatch,
  jobWarnings,
  newJobSaying,
  templateWarnings,
} from "./job.ts";
import {
  asksNamespace,
  type FindQueue,
  groupPatch,
  groupSaying,
  hyperNodeSaying,
  podSaying,
  queueChangeSaying,
  queuePatch,
  readQueue,
  viewOf,
} from "./scheduler-kinds.ts";
import { jobQueueSaying, parentIn, type Queue, type QueueView } from "./tree.ts";

/** The objects that a review needs beside its own. Absent: they could not be read, and the checks on them pass. */
export type RelatedObjects = {
  /** All queues, as the API server has them. */
  readonly queues?: readonly AdmittedObject[] | undefined;
  /** Annotations of the object's namespace. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
};

type ReviewContext = {
  readonly request: AdmissionRequest;
  readonly object: AdmittedObject;
  readonly around: RelatedObjects;
};

type KindAdmission = {
  readonly needs: "queues" | "nothing";
  /** Absent: the limits of any object. */
  readonly limits?: LimitsCheck;
  readonly patched?: (context: ReviewContext) => readonly PatchOperation[];
  /** Returns why the object is refused; "" if it may be stored. */
  readonly says: (context: ReviewContext) => string;
  readonly warns?: (context: ReviewContext) => readonly string[];
};

const queuesIn = ({ queues }: RelatedObjects): readonly Queue[] | undefined =>
  queues?.flatMap((one) => {
    const read = readQueue(one, one.metadata.name ?? "");
    return read.ok ? [read.queue] : [];
  });

const finderOf = (around: RelatedObjects): FindQueue | undefined => {
  const all = queuesIn(around);
  if (all === undefined) return undefined;
  return (name): QueueView | undefined => {
    const found = all.find((queue) => queue.name === name);
    return found === undefined ? undefined : viewOf(found, all);
  };
};

const nameOf = ({ object, request }: ReviewContext): string => namedAs(object, request).name;

const queueCheckOf = ({ around }: ReviewContext): QueueCheck => {
  const find = finderOf(around);
  return (queue) => (find === undefined ? "" : jobQueueSaying(queue, find(queue)));
};

const jobSays = (context: ReviewContext): string => {
  const { request, object } = context;
  if (request.operation === "UPDATE") return changedJobSaying(nameOf(context), request.oldObject?.spec, object.spec);
  return newJobSaying(nameOf(context), object.spec, queueCheckOf(context));
};

const queueSays = (context: ReviewContext): string => {
  const { request, object, around } = context;
  const { operation, oldObject } = request;
  const name = request.name ?? nameOf(context);
  const all = queuesIn(around);
  const read = readQueue(object, object.metadata.name ?? name);
  if (operation === "DELETE") return queueChangeSaying({ operation, queue: bare(name), ...(all && { all }) });
  if (!read.ok) return read.message;
  const before = oldObject ? readQueue(oldObject, read.queue.name) : undefined;
  return queueChangeSaying({
    operation,
    queue: read.queue,
    ...(before?.ok === true ? { before: before.queue } : {}),
    ...(all === undefined ? {} : { all }),
  });
};

/** Upstream stores a queue that closes a circle. */
const queueWarnings = ({ request, object, around }: ReviewContext): readonly string[] => {
  const read = readQueue(object, object.metadata.name ?? "");
  if (!read.ok || request.operation === "DELETE") return [];
  const circle = circleSaying(read.queue, parentIn(queuesIn(around) ?? []));
  return circle === "" ? [] : [circle];
};

const none = new Map<string, never>();

const bare = (name: string): Queue => ({
  ...{ name, parent: "", state: "", annotations: {} },
  ...{ capability: none, deserved: none, guarantee: none, allocated: none },
});

/** group/kind → its checks and defaults. */
const admissions: Readonly<Record<string, KindAdmission>> = {
  "batch.volcano.sh/Job": {
    needs: "queues",
    limits: jobLimits,
    patched: ({ object }) => jobPatch(object),
    says: jobSays,
    warns: (context) => jobWarnings(nameOf(context), context.object.spec),
  },
  "batch.volcano.sh/CronJob": {
    needs: "queues",
    limits: cronLimits,
    says: (context) => cronSaying(nameOf(context), context.object.spec),
    warns: (context) =>
      cronWarnings(namedAs(context.object, context.request), context.object.spec, queueCheckOf(context)),
  },
  "scheduling.volcano.sh/Queue": {
    needs: "queues",
    patched: ({ object }) => queuePatch(object),
    says: queueSays,
    warns: queueWarnings,
  },
  "scheduling.volcano.sh/PodGroup": {
    needs: "queues",
    patched: ({ object, around }) => groupPatch(object, around.annotations ?? {}),
    says: ({ object, request, around }) =>
      request.operation === "CREATE" ? groupSaying(object, finderOf(around)) : "",
  },
  "flow.volcano.sh/JobFlow": {
    needs: "nothing",
    limits: flowLimits,
    says: ({ object }) => flowSaying(object.spec),
    warns: ({ object, request }) => flowWarnings(namedAs(object, request), object),
  },
  "flow.volcano.sh/JobTemplate": {
    needs: "queues",
    limits: jobLimits,
    says: () => "",
    warns: (context) => templateWarnings(nameOf(context), context.object, queueCheckOf(context)),
  },
  "topology.volcano.sh/HyperNode": { needs: "nothing", says: ({ object }) => hyperNodeSaying(object.spec) },
  "/Pod": { needs: "nothing", says: ({ object }) => podSaying(object) },
};

const admissionOf = ({ kind }: AdmissionRequest): KindAdmission | undefined => {
  const name = `${kind.group}/${kind.kind}`;
  return Object.hasOwn(admissions, name) ? admissions[name] : undefined;
};

/** True if the queues must be read before the object is judged. */
export const needsQueues = (request: AdmissionRequest): boolean => admissionOf(request)?.needs === "queues";

/** True if the object's namespace must be read before the object is patched. */
export const needsNamespace = (request: AdmissionRequest): boolean =>
  isSameKind(request.kind, podGroups) && request.object != null && asksNamespace(request.object);

const created = ({ operation }: AdmissionRequest): boolean => operation === "CREATE";

/** Writes missing fields of an object once: at its creation. */
export const patchedBy = (request: AdmissionRequest, around: RelatedObjects = {}): Verdict => {
  const { object } = request;
  const patched = admissionOf(request)?.patched;
  if (patched === undefined || !object || !created(request) || isTooMuch(object.spec)) return pass;
  return { ...pass, patch: patched({ request, object, around }) };
};

/** True if nothing that is judged has changed: the spec, and of a queue also annotations and status. */
const isUntouched = (request: AdmissionRequest): boolean => {
  if (!isSameSpec(request)) return false;
  if (request.kind.kind !== "Queue") return true;
  const judgedFields = (one: AdmittedObject | null | undefined): unknown => [one?.metadata["annotations"], one?.status];
  return same(judgedFields(request.object), judgedFields(request.oldObject));
};

/** Refuses objects that upstream refuses, and objects that could not run. */
export const judgedBy = (request: AdmissionRequest, around: RelatedObjects = {}): Verdict => {
  const found = admissionOf(request);
  const object = request.object ?? request.oldObject;
  if (found === undefined || !object || isUntouched(request)) return pass;
  const beyond = (found.limits ?? otherLimits)(object.spec);
  if (beyond !== "") return request.operation === "DELETE" ? pass : { allowed: false, message: beyond };
  const context = { request, object, around };
  const saying = found.says(context);
  return verdictOf({ broken: saying === "" ? [] : [saying], warnings: found.warns?.(context) ?? [] });
};

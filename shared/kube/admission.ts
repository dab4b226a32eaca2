/**
 * Admission: AdmissionReview, version 1, and its answer; the rules that change new pods that are not Rekindle's own:
 * the gate of queue admission, and the fields of a resource group. The API server sends only the pods that
 * `podsWrittenTo` matches.
 */
import * as z from "zod";
import { isRecord, isTooMuch, same } from "../core/json.ts";
import { chosenBy, type ResourceGroup } from "./resource-groups.ts";

const object = z.looseObject({
  metadata: z.looseObject({
    name: z.string().optional(),
    generateName: z.string().optional(),
    namespace: z.string().optional(),
  }),
  spec: z.unknown().optional(),
  status: z.unknown().optional(),
});

const review = z.object({
  apiVersion: z.literal("admission.k8s.io/v1"),
  kind: z.literal("AdmissionReview"),
  request: z.object({
    uid: z.string().min(1),
    kind: z.object({ group: z.string(), version: z.string(), kind: z.string() }),
    resource: z.object({ group: z.string(), version: z.string(), resource: z.string() }).optional(),
    subResource: z.string().optional(),
    name: z.string().optional(),
    namespace: z.string().optional(),
    operation: z.string(),
    object: object.nullish(),
    oldObject: object.nullish(),
    dryRun: z.boolean().nullish(),
    options: z.looseObject({ gracePeriodSeconds: z.number().nullish() }).nullish(),
  }),
});

export type AdmissionRequest = z.infer<typeof review>["request"];

export type AdmittedObject = z.infer<typeof object>;

/** The name of an object, also one that is still to be generated, and its namespace. */
export type RequestedName = { readonly name: string; readonly namespace: string };

/** The findings about one object: errors that forbid it, and warnings to its writer. */
export type Judgement = {
  /** Each names the field and what to change; empty when it may be stored. */
  readonly broken: readonly string[];
  readonly warnings: readonly string[];
};

/** Returns the form of a generated name: the API server appends 5 characters to the first 58. */
const generated = (base: string): string => `${base.slice(0, 58)}xxxxx`;

export const namedAs = ({ metadata }: AdmittedObject, { namespace }: AdmissionRequest): RequestedName => ({
  name: metadata.name ?? generated(metadata.generateName ?? ""),
  namespace: metadata.namespace ?? namespace ?? "default",
});

/** True if an update leaves the spec as it is: labels of an invalid object may be corrected, and it may be deleted. */
export const isSameSpec = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === "UPDATE" &&
  ![object, oldObject].some((one) => isTooMuch(one?.spec)) &&
  same(object?.spec, oldObject?.spec);

/** The label of executor pods whose memory limit admission writes, and the annotation that holds the limit. */
export const memoryLimitMark = "rekindle.dev/memory-limit";

/** An operation of RFC 6902, as far as defaults need it. */
export type PatchOperation = { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown };

export type Verdict =
  | {
      readonly allowed: true;
      readonly patch: readonly PatchOperation[];
      /** Shown to the writer, although the object is stored. */
      readonly warnings: readonly string[];
    }
  | { readonly allowed: false; readonly message: string };

/** Returns the request of a review; undefined for anything else, other versions of it included. */
export const readReview = (given: unknown): AdmissionRequest | undefined => review.safeParse(given).data?.request;

/** The API server cuts a longer warning itself, in the middle of a word. */
const longestWarning = 256;
const longestMessage = 4_096;

/** Shortens a text to one line that a header can carry. */
const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= longestWarning ? line : `${line.slice(0, longestWarning - 1)}…`;
};

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/** Allows the request without patch and warnings. */
export const pass: Extract<Verdict, { allowed: true }> = { allowed: true, patch: [], warnings: [] };

export const verdictOf = ({ broken, warnings }: Judgement): Verdict =>
  broken.length > 0 ? { allowed: false, message: broken.join("; ") } : { ...pass, warnings };

/** Returns the review with the verdict. */
export const answerTo = ({ uid }: AdmissionRequest, verdict: Verdict): unknown => {
  const answer = verdict.allowed
    ? {
        allowed: true,
        ...(verdict.patch.length === 0 ? {} : { patchType: "JSONPatch", patch: base64(JSON.stringify(verdict.patch)) }),
        ...(verdict.warnings.length === 0 ? {} : { warnings: verdict.warnings.map(shortened) }),
      }
    : { allowed: false, status: { code: 422, reason: "Invalid", message: verdict.message.slice(0, longestMessage) } };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, ...answer } };
};

const pointer = (path: string, key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Returns the operations that give `from` all fields of `to`; other fields of `from` stay. */
export const additions = (from: unknown, to: unknown, path: string): readonly PatchOperation[] => {
  if (!isRecord(from) || !isRecord(to))
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ op: "replace", path, value: to }];
  return Object.entries(to).flatMap(([key, value]): readonly PatchOperation[] => {
    if (value === undefined) return [];
    const at = pointer(path, key);
    return Object.hasOwn(from, key) ? additions(from[key], value, at) : [{ op: "add", path: at, value }];
  });
};

/** Annotation of pods that ask for the gate, and the gate's own name. */
export const queueGate = "scheduling.volcano.sh/queue-allocation-gate";

export type PodRules = {
  /** Pods that ask for it by annotation wait for their queue behind a gate: Volcano's SchedulingGatesQueueAdmission. */
  readonly queueGate: boolean;
  readonly groups: readonly ResourceGroup[];
};

export const noPodRules: PodRules = { queueGate: false, groups: [] };

const shape = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).nullish() }),
  spec: z.looseObject({
    schedulerName: z.string().nullish(),
    nodeName: z.string().nullish(),
    nodeSelector: z.record(z.string(), z.string()).nullish(),
    tolerations: z.array(z.unknown()).nullish(),
    affinity: z.unknown().optional(),
    schedulingGates: z.array(z.looseObject({ name: z.string() })).nullish(),
  }),
});

type Pod = z.infer<typeof shape>;

const annotationOf = ({ metadata }: Pod, key: string): string | undefined => metadata.annotations?.[key];

const belongs = (pod: Pod, namespace: string, group: ResourceGroup): boolean => {
  const chosen = chosenBy(group);
  return chosen.by === "namespaces"
    ? chosen.names.includes(namespace)
    : chosen.pairs.some(([key, value]) => annotationOf(pod, key) === value);
};

const written = (field: string, value: unknown): PatchOperation => ({ op: "add", path: `/spec/${field}`, value });

const groupPatch = ({ spec }: Pod, group: ResourceGroup): readonly PatchOperation[] => {
  const { labels, affinity, schedulerName } = group;
  const has = spec.tolerations ?? [];
  const tolerations = group.tolerations.filter((one) => !has.some((other) => same(one, other)));
  return [
    ...(Object.keys(labels).length === 0 ? [] : [written("nodeSelector", { ...spec.nodeSelector, ...labels })]),
    ...(affinity === undefined || isRecord(spec.affinity) ? [] : [written("affinity", affinity)]),
    ...(tolerations.length === 0 ? [] : [written("tolerations", [...has, ...tolerations])]),
    ...(schedulerName === "" ? [] : [written("schedulerName", schedulerName)]),
  ];
};

/** Kubernetes' own scheduler, which removes no gate. */
const defaultScheduler = "default-scheduler";

/** Adds the gate, but not to a pod that has a node, nor to one that default-scheduler would never release. */
const gatePatch = (pod: Pod, scheduler: string): readonly PatchOperation[] => {
  const { schedulingGates: gates, nodeName } = pod.spec;
  const asks = annotationOf(pod, queueGate) === "true";
  const has = gates?.some(({ name }) => name === queueGate) === true;
  if (!asks || has || (nodeName ?? "") !== "" || ["", defaultScheduler].includes(scheduler)) return [];
  return [written("schedulingGates", [...(gates ?? []), { name: queueGate }])];
};

/** Patches a pod by the first group that it belongs to. */
const patchOf = (object: AdmittedObject, namespace: string, rules: PodRules): readonly PatchOperation[] => {
  const parsed = shape.safeParse(object);
  if (!parsed.success) return [];
  const pod = parsed.data;
  const group = rules.groups.find((one) => belongs(pod, namespace, one));
  const scheduler = group?.schedulerName || (pod.spec.schedulerName ?? "");
  return [
    ...(rules.queueGate ? gatePatch(pod, scheduler) : []),
    ...(group === undefined ? [] : groupPatch(pod, group)),
  ];
};

/** Returns the patch for the creation of a pod; empty for every other request. */
export const podPatch = (request: AdmissionRequest, rules: PodRules): readonly PatchOperation[] => {
  const { kind, operation, object, namespace = "" } = request;
  if (kind.group !== "" || kind.kind !== "Pod" || operation !== "CREATE" || !object) return [];
  return patchOf(object, object.metadata.namespace ?? namespace, rules);
};

/** Writes a text as a CEL literal. */
const literal = (text: string): string => JSON.stringify(text);

const annotated = (key: string, value: string): string =>
  `(has(object.metadata.annotations) && ${literal(key)} in object.metadata.annotations && object.metadata.annotations[${literal(key)}] == ${literal(value)})`;

const chosenOf = (group: ResourceGroup): readonly string[] => {
  const chosen = chosenBy(group);
  return chosen.by === "annotations"
    ? chosen.pairs.map(([key, value]) => annotated(key, value))
    : [`request.namespace in [${chosen.names.map(literal).join(", ")}]`];
};

/** Returns a CEL expression for the pods that `podPatch` may change; undefined if there are none. */
export const podsWrittenTo = (rules: PodRules): string | undefined => {
  const { groups } = rules;
  const terms = [...(rules.queueGate ? [annotated(queueGate, "true")] : []), ...groups.flatMap(chosenOf)];
  return terms.length === 0 ? undefined : [...new Set(terms)].join(" || ");
};

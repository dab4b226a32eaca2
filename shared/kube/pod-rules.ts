/**
 * Rules by which admission changes new pods that are not Rekindle's own: the gate of queue admission, and the fields of
 * a resource group. The API server sends only the pods that `podsWrittenTo` matches.
 */
import * as z from "zod";
import { same } from "../core/json.ts";
import type { AdmissionRequest, AdmittedObject, PatchOperation } from "./admission.ts";
import { chosenBy, type ResourceGroup } from "./resource-groups.ts";
import { isRecord } from "./responses.ts";

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

/** The knowledge of a reader of the API: the current objects, and all that it has seen. */
import * as z from "zod";
import { checkpointResource } from "../../adapters/checkpoints/object.ts";
import { everyKind } from "../../cli/kinds/all.ts";
import type { Kind } from "../../cli/kinds/kind.ts";
import type { Obj, Resource, Stored } from "../../core/object.ts";
import { labelOf, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";

export const applications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
};
const events: Resource = { group: "", version: "v1", plural: "events", kind: "Event" };

/** The kinds other than SparkApplication, as the command line knows them. */
export const otherKinds: readonly Kind[] = everyKind.filter(({ resource }) => resource.kind !== applications.kind);

/** Resources that the reader watches. */
export const followed: readonly Resource[] = [
  ...[applications, pods, events, checkpointResource],
  ...otherKinds.map(({ resource }) => resource),
];

export type ObservedCluster = {
  /** Every object ever seen, by UID, as it was last seen; in the order of their appearance. */
  readonly seen: ReadonlyMap<string, Stored>;
  /** UIDs of deleted objects. */
  readonly gone: ReadonlySet<string>;
};

const application = z.object({
  spec: z.looseObject({ executor: z.looseObject({ instances: z.number().optional() }).optional() }),
  status: z
    .looseObject({
      applicationState: z.looseObject({ state: z.string().optional(), errorMessage: z.string().optional() }).optional(),
      executionAttempts: z.number().optional(),
    })
    .optional(),
});

export type ApplicationView = {
  readonly state: string;
  readonly error: string;
  readonly wants: number;
  readonly attempts: number;
};

export const applicationView = (object: Obj): ApplicationView => {
  const { data } = application.safeParse(object);
  const state = data?.status?.applicationState;
  return {
    state: state?.state ?? "",
    error: state?.errorMessage ?? "",
    wants: data?.spec.executor?.instances ?? 1,
    attempts: data?.status?.executionAttempts ?? 0,
  };
};

const record = z.object({
  spec: z.looseObject({
    waitsFor: z.string().optional(),
    memory: z.looseObject({
      attempt: z.number(),
      state: z.looseObject({ phase: z.string() }),
    }),
  }),
});

export type RecordView = {
  readonly app: string;
  readonly attempt: number;
  readonly phase: string;
  readonly waitsFor: string;
};

/** Returns the shown fields of a record; undefined where it is not one of an application. */
export const recordView = (object: Obj): RecordView | undefined => {
  const { data } = record.safeParse(object);
  if (data === undefined) return undefined;
  const { memory, waitsFor = "" } = data.spec;
  return {
    app: object.metadata.annotations?.["rekindle.dev/name"] ?? "",
    attempt: memory.attempt,
    phase: memory.state.phase,
    waitsFor,
  };
};

export type PodView = {
  readonly name: string;
  readonly app: string;
  readonly role: "driver" | "executor" | "other";
  /** The id of an executor; 0 for other pods. */
  readonly id: number;
  readonly attempt: string;
  readonly phase: string;
  readonly node: string;
  /** Undefined while the container has not ended. */
  readonly exit: number | undefined;
  readonly waits: string;
  /** Name of the pod that owns it: an executor's driver. */
  readonly owner: string | undefined;
};

const placed = z.object({ spec: z.looseObject({ nodeName: z.string() }) });

const roleOf = (object: Obj): PodView["role"] => {
  const role = labelOf(object, "spark-role");
  return role === "driver" || role === "executor" ? role : "other";
};

export const podView = (object: Obj): PodView => {
  const { phase = "", containerStatuses } = podStatus(object);
  const states = (containerStatuses ?? []).map(({ state }) => state);
  return {
    name: object.metadata.name,
    app: labelOf(object, "sparkoperator.k8s.io/app-name") ?? "",
    role: roleOf(object),
    id: Number(labelOf(object, "spark-exec-id") ?? 0),
    attempt: labelOf(object, "rekindle.dev/attempt") ?? "",
    phase,
    node: placed.safeParse(object).data?.spec.nodeName ?? "",
    exit: states.find((state) => state?.terminated !== undefined)?.terminated?.exitCode,
    waits: states.find((state) => state?.waiting !== undefined)?.waiting?.reason ?? "",
    owner: object.metadata.ownerReferences?.find(({ kind }) => kind === "Pod")?.name,
  };
};

const ofKind = ({ seen }: ObservedCluster, kind: string): readonly Stored[] =>
  [...seen.values()].filter((object) => object.kind === kind);

/** Returns the names of all applications ever seen; the newest last. */
export const namesIn = (scene: ObservedCluster): readonly string[] => {
  const names = ofKind(scene, applications.kind).map(({ metadata }) => metadata.name);
  return names.filter((name, at) => names.lastIndexOf(name) === at);
};

/** Returns the newest existing object of a kind that Rekindle runs. */
export const newestIn = ({ seen, gone }: ObservedCluster): Stored | undefined => {
  const kinds = everyKind.map(({ resource }) => resource.kind);
  return [...seen.values()].filter(({ kind, metadata }) => kinds.includes(kind) && !gone.has(metadata.uid)).at(-1);
};

/** Returns the pods of an object of another kind, by the labels that its kind sets, deleted ones included. */
export const podsOfKind = (scene: ObservedCluster, kind: Kind, name: string): readonly PodView[] => {
  const labels = Object.entries(kind.podLabels(name));
  return ofKind(scene, pods.kind)
    .filter((pod) => labels.every(([label, value]) => labelOf(pod, label) === value))
    .map(podView);
};

/** Returns the newest existing application of this name. */
export const applicationNamed = (scene: ObservedCluster, name: string): Stored | undefined =>
  ofKind(scene, applications.kind)
    .filter(({ metadata }) => metadata.name === name && !scene.gone.has(metadata.uid))
    .at(-1);

export const recordNamed = (scene: ObservedCluster, name: string): Stored | undefined =>
  ofKind(scene, checkpointResource.kind)
    .filter(({ metadata }) => metadata.name === name && !scene.gone.has(metadata.uid))
    .at(-1);

/** Returns all pods of one application object that were ever seen, deleted ones included. */
export const podsOf = (scene: ObservedCluster, uid: string): readonly PodView[] =>
  ofKind(scene, pods.kind)
    .filter((pod) => labelOf(pod, "rekindle.dev/app-uid") === uid)
    .map(podView);

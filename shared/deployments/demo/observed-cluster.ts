/** What a reader with nothing but the API knows: the objects as they are, and all that it ever saw. */
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

/** The kinds beside applications, as the command line knows them. */
export const otherKinds: readonly Kind[] = everyKind.filter(({ resource }) => resource.kind !== applications.kind);

/** What the reader follows. */
export const followed: readonly Resource[] = [
  ...[applications, pods, events, checkpointResource],
  ...otherKinds.map(({ resource }) => resource),
];

export type ObservedCluster = {
  /** Every object ever seen, by UID, as it was last seen; in the order of their appearance. */
  readonly seen: ReadonlyMap<string, Stored>;
  /** UIDs of those that are gone. */
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
      driver: z.looseObject({ submissionId: z.string() }).optional(),
      state: z.looseObject({ phase: z.string() }),
    }),
  }),
});

export type RecordView = {
  readonly app: string;
  readonly attempt: number;
  readonly submission: string;
  readonly phase: string;
  readonly waitsFor: string;
};

/** Undefined when the checkpoint is none that a newcomer could be told about. */
export const recordView = (object: Obj): RecordView | undefined => {
  const { data } = record.safeParse(object);
  if (data === undefined) return undefined;
  const { memory, waitsFor = "" } = data.spec;
  return {
    app: object.metadata.annotations?.["rekindle.dev/name"] ?? "",
    attempt: memory.attempt,
    submission: memory.driver?.submissionId ?? "",
    phase: memory.state.phase,
    waitsFor,
  };
};

export type PodView = {
  readonly name: string;
  readonly app: string;
  readonly role: "driver" | "executor" | "other";
  /** Of an executor: its number. */
  readonly id: number;
  readonly attempt: string;
  readonly phase: string;
  readonly node: string;
  /** Undefined while it has not ended. */
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

/** Names of all applications ever seen; the newest last. */
export const namesIn = (scene: ObservedCluster): readonly string[] => {
  const names = ofKind(scene, applications.kind).map(({ metadata }) => metadata.name);
  return names.filter((name, at) => names.lastIndexOf(name) === at);
};

/** The newest object of a kind that Rekindle runs and that is still there. */
export const newestIn = ({ seen, gone }: ObservedCluster): Stored | undefined => {
  const kinds = everyKind.map(({ resource }) => resource.kind);
  return [...seen.values()].filter(({ kind, metadata }) => kinds.includes(kind) && !gone.has(metadata.uid)).at(-1);
};

/** Pods of an object of another kind, by the labels that its kind gives them; gone ones too. */
export const podsOfKind = (scene: ObservedCluster, kind: Kind, name: string): readonly PodView[] => {
  const labels = Object.entries(kind.podLabels(name));
  return ofKind(scene, pods.kind)
    .filter((pod) => labels.every(([label, value]) => labelOf(pod, label) === value))
    .map(podView);
};

/** The application of this name as it is; of several in a row the newest. */
export const applicationNamed = (scene: ObservedCluster, name: string): Stored | undefined =>
  ofKind(scene, applications.kind)
    .filter(({ metadata }) => metadata.name === name && !scene.gone.has(metadata.uid))
    .at(-1);

export const recordNamed = (scene: ObservedCluster, name: string): Stored | undefined =>
  ofKind(scene, checkpointResource.kind)
    .filter(({ metadata }) => metadata.name === name && !scene.gone.has(metadata.uid))
    .at(-1);

/** All pods of one application object that were ever seen, gone ones too. */
export const podsOf = (scene: ObservedCluster, uid: string): readonly PodView[] =>
  ofKind(scene, pods.kind)
    .filter((pod) => labelOf(pod, "rekindle.dev/app-uid") === uid)
    .map(podView);

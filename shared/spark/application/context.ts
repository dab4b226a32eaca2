/** What every act of a SparkApplication's step works with. */
import { list, type Reads } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Ref, Stored } from "../../core/object.ts";
import type { Effect, View } from "../../core/plan.ts";
import type { Query } from "../../core/query.ts";
import { pods } from "../../kube/resources.ts";
import { type RareKind, rareKinds } from "../auxiliary-objects/all.ts";
import type { Options } from "../auxiliary-objects/options.ts";
import { settlesAt } from "../executors/allotment.ts";
import { isLiving, membersOf } from "../executors/members.ts";
import type { ParsedSpec } from "../schema/parse.ts";
import { alive, type Pods, sortOut } from "./driver/evidence.ts";
import { judged } from "./driver/failure-causes.ts";
import type { RestartPolicy } from "./driver/retry.ts";
import type { Driver, Memory } from "./memory.ts";
import type { Policies } from "./policies.ts";
import { made } from "./resource.ts";
import { isOwnRun } from "./run-spec.ts";

/** What a deployment decides for all its SparkApplications. */
export type Settings = {
  /** How pods reach the API server, for `spark.master`. */
  readonly apiServer: string;
  /** Distance between two drivers, ms: see engine/settings.ts. */
  readonly settledMs: number;
  /** The same for what is created soon after a look or not at all, and how soon that is, ms. */
  readonly prompt: { readonly fenceMs: number; readonly settledMs: number };
  readonly options: Options;
};

export type ApplicationContext = {
  readonly key: Key;
  readonly view: View<Memory>;
  readonly object: Stored;
  readonly memory: Memory;
  /** `spec` as read at the door: parsed, or why it cannot be. */
  readonly read: ParsedSpec;
  readonly settings: Settings;
  /** What was learned for `status.driverInfo`. */
  readonly info?: Readonly<Record<string, unknown>>;
  /** What the object's annotations ask for. */
  readonly policies: Policies;
};

export const policyOf = (scene: ApplicationContext): RestartPolicy =>
  scene.read.ok ? (scene.read.spec.restartPolicy ?? {}) : {};

type Listing = Extract<Query, { do: "list" }>;

/** Every pod that carries the application's name; whose it is, the owner references say. */
export const podsOf = (key: Key): Listing => ({
  do: "list",
  resource: pods,
  namespace: key.namespace,
  labels: { "sparkoperator.k8s.io/app-name": key.name },
});

/** Executors alone: a second look, in words of its own, at those that the first may not have shown. */
export const executorsAgain = (key: Key): Listing => ({
  do: "list",
  resource: pods,
  namespace: key.namespace,
  labels: { "sparkoperator.k8s.io/app-name": key.name, "spark-role": "executor" },
  again: true,
});

/** The driver's pod itself, by its name. */
export const bodyOf = (key: Key, driver: Driver): Extract<Query, { do: "get" }> => ({
  do: "get",
  ref: { resource: pods, namespace: key.namespace, name: driver.podName },
});

/** Whose leftovers are looked for. */
type Maker = Pick<ApplicationContext, "key"> & { readonly view: Pick<View<Memory>, "uid"> };

const madeOf = ({ key, view }: Maker, resource: Ref["resource"]): Listing => ({
  do: "list",
  resource,
  namespace: key.namespace,
  labels: { "rekindle.dev/app-uid": view.uid },
});

/** What submissions made beside the driver pods: of kinds that are rare only if this application ever had one. */
export const leftoversOf = (scene: Maker & { readonly memory: Pick<Memory, "rare"> }): readonly Listing[] =>
  [...made, ...(scene.memory.rare ?? []).map((name) => rareKinds[name])].map((resource) => madeOf(scene, resource));

/** Companions of one rare kind. */
export const rareOf = (scene: ApplicationContext, name: RareKind): Listing => madeOf(scene, rareKinds[name]);

/** The pods that carry the application's name, told apart. */
export function* readPods({ key, view, memory }: ApplicationContext): Reads<Pods> {
  return sortOut(yield* list(podsOf(key)), view.uid, memory.driver);
}

/** Ends by right: whatever stands under this UID, and nothing else of that name. */
export const removal = (object: Stored, resource: Ref["resource"]): Effect => {
  const { name, namespace, uid } = object.metadata;
  return { do: "delete", ref: { resource, name, ...(namespace === undefined ? {} : { namespace }) }, uid };
};

/** Strays are ended on sight, in every phase. */
export const endStrays = (found: Pods | undefined): readonly Effect[] =>
  alive(found?.strays ?? []).map((pod) => removal(pod, pods));

/** Nobody else ends the executors that Rekindle made; those that have ended stay for who looks into them. */
const ownLiving = (memory: Memory, { executors }: Pods): readonly Stored[] =>
  isOwnRun(memory)
    ? membersOf(executors)
        .filter(isLiving)
        .map(({ pod }) => pod)
    : [];

/** Strays, and the pods of a run that is over or was given up, while they may still live. */
export const endOver = (memory: Memory, found: Pods): readonly Effect[] => {
  const { state } = memory;
  const given = "cause" in state && state.cause !== undefined && judged[state.cause];
  const driver = found.driver === undefined ? [] : [found.driver];
  const run = given ? [...driver, ...found.executors] : ownLiving(memory, found);
  return [...endStrays(found), ...alive(run).map((pod) => removal(pod, pods))];
};

/** When nothing of the newest save that planned a driver, or executors, can arrive any more, epoch ms. */
export const settledAt = ({ memory, settings }: Pick<ApplicationContext, "memory" | "settings">): number =>
  Math.max(
    (memory.plannedAt ?? 0) + settings.settledMs,
    ...(memory.allotment?.underway ?? []).map((round) => settlesAt(round, settings.settledMs)),
  );

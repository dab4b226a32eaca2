/** Applications, memories and pods from a few fields, and a world in which a decision reads until it has a plan. */

import { digestOf, same } from "../../../../shared/core/json.ts";
import type { Key } from "../../../../shared/core/key.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import {
  type Effect,
  type Looking,
  type Plan,
  type Probe,
  type ProbeResult,
  type Query,
  type Refusal,
  type Returning,
  wholeOf,
} from "../../../../shared/core/plan.ts";
import { decide } from "../../../../shared/spark/application/decide.ts";
import { startWhole } from "../../../../shared/spark/application/gang/admission.ts";
import { type Memory, normaliser } from "../../../../shared/spark/application/state/memory.ts";
import { defaultOptions, type Options } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { podsOf } from "../../../../shared/spark/schema/pod-query.ts";
import { asStep, resultOf } from "../../../support/decisions.ts";
import { does } from "../../../support/plans.ts";

export const key: Key = { cluster: "here", kind: "SparkApplication", namespace: "default", name: "spark-pi" };
export const settings = {
  apiServer: "https://kubernetes.default.svc",
  settledMs: 16_000,
  prompt: { fenceMs: 3_000, settledMs: 10_000 },
  options: defaultOptions,
};

/** 2026-11-02T08:00:00Z. */
export const eight = Date.UTC(2026, 10, 2, 8);

export const spec: Readonly<Record<string, unknown>> = {
  type: "Scala",
  mode: "cluster",
  sparkVersion: "4.0.4",
  image: "spark:4.0.4",
  mainClass: "org.apache.spark.examples.SparkPi",
  mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
  driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
  executor: { instances: 1, cores: 1, memory: "512m" },
};

type Application = {
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly metadata?: Partial<Stored["metadata"]>;
};

export const application = (more: Application = {}): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: {
    name: "spark-pi",
    namespace: "default",
    uid: "app-1",
    resourceVersion: "100",
    generation: 1,
    ...more.metadata,
  },
  spec: more.spec ?? spec,
  ...(more.status === undefined ? {} : { status: more.status }),
});

/** Returns the digest of a spec that a memory holds. */
export const digested = (of: object): string => digestOf({ ...of, suspend: undefined, timeToLiveSeconds: undefined });

export const remembered = (more: Partial<Memory> = {}): Memory => ({
  generation: 1,
  spec: digested(spec),
  normaliser,
  attempt: 1,
  submissions: 1,
  executions: 1,
  plannedAt: eight - 60_000,
  state: { phase: "RUNNING" },
  ...more,
});

export const driver = {
  attempt: 1,
  submissionId: "submission-1",
  applicationId: "spark-1",
  podName: "spark-pi-driver",
  submittedAt: eight - 60_000,
  uid: "driver-1",
} as const;

/** The fields of a pod. `owner` is the UID of its owner. */
export type Short = {
  readonly name?: string;
  readonly uid?: string;
  readonly role?: string;
  readonly owner?: string;
  readonly submission?: string;
  readonly attempt?: string;
  readonly executor?: number;
  readonly phase?: string;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly finishedAt?: string;
  readonly ending?: boolean;
  readonly waiting?: string;
};

const containerOf = ({ exitCode, waiting, reason, finishedAt }: Short) => {
  if (exitCode !== undefined)
    return { terminated: { exitCode, ...(reason === undefined ? {} : { reason }), finishedAt } };
  return waiting === undefined ? { running: {} } : { waiting: { reason: waiting } };
};

export const pod = (short: Short = {}): Stored => {
  const { name = "spark-pi-driver", uid = "driver-1", role = "driver", owner = "app-1", phase = "Running" } = short;
  const labels = {
    "sparkoperator.k8s.io/app-name": "spark-pi",
    "sparkoperator.k8s.io/submission-id": short.submission ?? "submission-1",
    "spark-role": role,
    ...(short.attempt === "none" ? {} : { "rekindle.dev/attempt": short.attempt ?? "1" }),
    ...(short.executor === undefined ? {} : { "spark-exec-id": String(short.executor) }),
  };
  const kind = owner === "app-1" ? "SparkApplication" : "Pod";
  const containers = [{ name: `spark-kubernetes-${role}`, state: containerOf(short) }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid,
      resourceVersion: "1",
      labels,
      ownerReferences: [{ apiVersion: "v1", kind, name: "owner", uid: owner }],
      ...(short.ending === true ? { deletionTimestamp: "2026-11-02T07:59:59Z" } : {}),
    },
    status: {
      phase,
      ...(short.exitCode === undefined && short.reason !== undefined ? { reason: short.reason } : {}),
      containerStatuses: containers,
    },
  };
};

export type World = {
  readonly object: Stored | undefined;
  readonly memory?: Memory | undefined;
  readonly now?: number;
  readonly pods?: readonly Stored[];
  /** The pods that a read by name finds, if they differ from those that a list finds. */
  readonly live?: readonly Stored[];
  /** The pods that a second list finds, if they differ from those of the first. */
  readonly again?: readonly Stored[];
  readonly services?: readonly Stored[];
  readonly configMaps?: readonly Stored[];
  readonly refused?: readonly Refusal[];
  readonly returning?: Returning;
  readonly slow?: boolean;
  /** Optional patches are refused. */
  readonly denied?: boolean;
  /** Objects of other kinds, by the plural of their resource. */
  readonly others?: Readonly<Record<string, readonly Stored[]>>;
  readonly options?: Partial<Options>;
  /** Driver and executors start as a group that waits for its places. */
  readonly gang?: boolean;
  /**
   * The answers of pods by the last part of the path, and the results of getIfAllowed by name; otherwise unreachable.
   */
  readonly hears?: Readonly<Record<string, ProbeResult>>;
};

const deaf: ProbeResult = { heard: false, why: "unreachable", message: "connection refused" };

const hearing = ({ hears = {} }: World, query: Probe): ProbeResult =>
  (query.do === "getIfAllowed" ? hears[query.ref.name] : hears[query.path.at(-1) ?? ""]) ?? deaf;

const answer = (world: World, query: Looking): readonly Stored[] => {
  const { pods = [], services = [], configMaps = [], others = {} } = world;
  const all: Readonly<Record<string, readonly Stored[]>> = { pods, services, configmaps: configMaps, ...others };
  if (query.do === "list")
    return query.resource.plural === "pods" && !same(query, podsOf(key))
      ? (world.again ?? pods)
      : (all[query.resource.plural] ?? []);
  const { resource, name } = query.ref;
  const named = resource.plural === "pods" ? (world.live ?? pods) : (all[resource.plural] ?? []);
  return named.filter(({ metadata }) => metadata.name === name);
};

export type Decided = {
  readonly plan: Plan<Memory>;
  readonly looks: readonly Query[];
  /** The effects that the step did before its last plan. */
  readonly before: readonly Effect[];
  /** The plans before the last one, whose effects those are. */
  readonly earlier: readonly Plan<Memory>[];
};

const passedOf = ({ denied = false }: World, done: readonly Effect[]): readonly Effect[] =>
  denied ? done.filter((effect) => effect.do === "patch" && effect.optional === true) : [];

/**
 * Decides as a step does: answers every query, and decides again from the planned memory after each plan that
 * continues.
 */
export const decided = (world: World): Decided => {
  const { object, now = eight, refused = [] } = world;
  let { memory } = world;
  let before: readonly Effect[] = [];
  const gang = world.gang === true ? { gang: startWhole } : {};
  const under = { ...settings, options: { ...defaultOptions, ...world.options }, ...gang };
  const looks: Query[] = [];
  const reads = asStep({
    objects: (query) => {
      looks.push(query);
      return answer(world, query);
    },
    probe: (query) => {
      looks.push(query);
      return hearing(world, query);
    },
  });
  const earlier: Plan<Memory>[] = [];
  const { returning } = world;
  const pace = world.slow === true ? { slow: true } : {};
  for (let round = 0; round < 8; round++) {
    const about = { object, uid: "app-1", memory, now, refused, returning, ...pace };
    const plan = resultOf(decide(under, key, { ...about, done: before, passed: passedOf(world, before) }), reads);
    if (does(plan, "continue") !== true) return { plan, looks, before, earlier };
    memory = plan.memory;
    earlier.push(plan);
    before = [...before, ...plan.stages.flat()];
  }
  throw new Error("more to decide, eight times");
};

/** Returns an effect as a text. */
export const said = (effect: Effect): string => {
  switch (effect.do) {
    case "keepLog":
      return `keep the log of ${effect.ref.name}, attempt ${effect.log.attempt}${effect.log.outlives ? ", beyond its application" : ""}`;
    case "create": {
      const attempt = wholeOf(effect).metadata.labels?.["rekindle.dev/attempt"];
      const which = attempt === undefined ? "" : ` of attempt ${attempt}`;
      return `create ${effect.resource.plural} ${effect.object.metadata.name}${which}${effect.optional ? ", if it can" : ""}`;
    }
    case "delete": {
      const fence = [effect.uid, effect.resourceVersion].filter(Boolean).join(" at ");
      const word = effect.lastWord === undefined ? "" : ` as ${effect.lastWord["phase"]} ${effect.lastWord["reason"]}`;
      const now = effect.graceSeconds === 0 ? " at once" : "";
      return `delete ${effect.ref.resource.plural} ${effect.ref.name} if it is ${fence}${now}${word}`;
    }
    case "evict":
      return `evict ${effect.ref.resource.plural} ${effect.ref.name} if it is ${effect.uid}`;
    case "patch":
      return `change ${effect.ref.resource.plural} ${effect.ref.name} if it is ${effect.uid} at ${effect.resourceVersion}`;
    case "record":
      return `tell ${effect.type} ${effect.reason} (${effect.occasion}): ${effect.message}`;
  }
};

/** Returns a query as a text. */
export const asked = (query: Query): string =>
  query.do === "list"
    ? `list ${query.resource.plural}`
    : query.do === "proxyGet"
      ? `ask ${query.pod.name}:${query.port} ${query.path.join("/")}`
      : `${query.do} ${query.ref.resource.plural} ${query.ref.name}`;

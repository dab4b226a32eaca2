/** SparkConnects and the objects beside them, and a decision that is run until its plan; all instants are literals. */

import type { Key } from "../../../../shared/core/key.ts";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import type { Effect, Plan, ProbeResult, Query, Refusal } from "../../../../shared/core/plan.ts";
import { defaultOptions, type Options } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { decide } from "../../../../shared/spark/connect/decide.ts";
import type { Memory } from "../../../../shared/spark/connect/memory.ts";
import { resultOf } from "../../../support/decisions.ts";
import { does } from "../../../support/plans.ts";

export const key: Key = { cluster: "here", kind: "SparkConnect", namespace: "ns", name: "sc" };

/** 2026-11-02T08:00:00Z. */
export const eight = Date.UTC(2026, 10, 2, 8);

export type Spec = Readonly<Record<string, unknown>>;

export const connect = (spec: Spec = {}, more: Partial<Stored> = {}): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1alpha1",
  kind: "SparkConnect",
  metadata: { name: "sc", namespace: "ns", uid: "c-1", resourceVersion: "5", generation: 1, labels: { team: "a" } },
  spec: { sparkVersion: "4.1.1", image: "spark:4.1.1", server: {}, executor: {}, ...spec },
  ...more,
});

export type Given = {
  readonly object?: Stored | undefined;
  readonly memory?: Memory;
  /** The objects that exist. */
  readonly there?: readonly Stored[];
  readonly now?: number;
  readonly refused?: readonly Refusal[];
  /** The answers of the server's REST API, by the last part of the path. */
  readonly rest?: Readonly<Record<string, unknown>>;
  /** The deployment's options by which servers are reached. */
  readonly exposure?: Partial<Options>;
  /** The deployment's confs. */
  readonly sparkDefaults?: Readonly<Record<string, string>>;
};

const answer = (query: Query, there: readonly Stored[]): readonly Stored[] =>
  query.do === "list"
    ? there.filter(
        ({ kind, metadata }) =>
          kind === query.resource.kind && metadata.labels?.["spark-role"] === query.labels["spark-role"],
      )
    : query.do === "get"
      ? there.filter(({ kind, metadata }) => kind === query.ref.resource.kind && metadata.name === query.ref.name)
      : [];

export type Decided = {
  readonly plan: Plan<Memory>;
  /** The effects that the step did before its last decision. */
  readonly before: readonly Effect[];
  /** The lists that the decision read, by plural. */
  readonly lists: readonly string[];
};

/** Decides as a step does: again after each plan that continues. */
export const decided = (given: Given = {}): Decided => {
  const { there = [], now = eight, refused = [], sparkDefaults = {}, rest } = given;
  const probe = (query: Query): ProbeResult => {
    if (query.do !== "proxyGet" || rest === undefined) throw new Error(`nobody answers a ${query.do}`);
    const value = rest[query.path.at(-1) ?? ""];
    return value === undefined ? { heard: false, why: "unreachable", message: "no answer" } : { heard: true, value };
  };
  const object = "object" in given ? given.object : connect();
  const exposure = { ...defaultOptions, ...given.exposure };
  const settings = { apiServer: "https://kubernetes.default.svc", sparkDefaults, exposure };
  const lists: string[] = [];
  const objects = (query: Query): readonly Stored[] => {
    if (query.do === "list") lists.push(query.resource.plural);
    return answer(query, there);
  };
  let { memory } = given;
  let before: readonly Effect[] = [];
  for (let round = 0; round < 4; round++) {
    const view = { object, uid: "c-1", memory, now, refused, done: before };
    const plan = resultOf(decide(settings, key, view), { objects, probe });
    if (does(plan, "continue") !== true) return { plan, before, lists };
    memory = plan.memory;
    before = [...before, ...plan.stages.flat()];
  }
  throw new Error("more to decide, four times");
};

export const planned = (given: Given = {}): Plan<Memory> => decided(given).plan;

/** Returns the objects that a first step creates. */
export const made = (object: Stored = connect(), given: Given = {}): readonly Obj[] =>
  planned({ ...given, object })
    .stages.flat()
    .flatMap((effect) => (effect.do === "create" ? [effect.object] : []));

/** Returns those objects as the API holds them afterwards. */
export const serverObjects = (object: Stored = connect()): readonly Stored[] =>
  made(object).map((one) => ({ ...one, metadata: { ...one.metadata, uid: `uid-${one.kind}`, resourceVersion: "7" } }));

const isPod = ({ kind }: Obj): boolean => kind === "Pod";

export const others = (): readonly Stored[] => serverObjects().filter((one) => !isPod(one));

/** Returns the server's pod with this status. */
export const server = (status: Spec, metadata: Partial<Stored["metadata"]> = {}): Stored => {
  const [pod] = serverObjects().filter(isPod);
  if (pod === undefined) throw new Error("no pod was made");
  return { ...pod, status, metadata: { ...pod.metadata, ...metadata } };
};

export const executor = (id: number, phase: string): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `sc-exec-${id}`, uid: `e-${id}`, resourceVersion: "1", labels: { "spark-role": "executor" } },
  status: { phase },
});

export const said = (plan: Plan<Memory>): readonly string[] =>
  plan.stages.map((stage) => stage.map(effectText).join(", "));

const effectText = (effect: Effect): string => {
  switch (effect.do) {
    case "create":
      return `create ${effect.resource.plural} ${effect.object.metadata.name}`;
    case "delete":
      return `delete ${effect.ref.resource.plural} ${effect.ref.name} if it is ${effect.uid}`;
    case "keepLog":
      return `keep the log of ${effect.ref.name}`;
    case "evict":
      return `evict ${effect.ref.resource.plural} ${effect.ref.name} if it is ${effect.uid}`;
    case "patch":
      return `change ${effect.ref.resource.plural} ${effect.ref.name} if it is ${effect.uid} at ${effect.resourceVersion}: ${JSON.stringify(effect.patch)}`;
    case "record":
      return `tell ${effect.reason}`;
  }
};

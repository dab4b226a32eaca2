/** Records every change of gangs that the API shows: of their Jobs or SparkApplications, their PodGroups and their pods. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { metadata } from "../../../support/standins.ts";
import { openApi } from "../../cluster/node/api.ts";
import type { PodChange } from "./judgements.ts";

const condition = z.looseObject({ type: z.string(), reason: z.string().default(""), message: z.string().default("") });

const owned = metadata.extend({
  ownerReferences: z.array(z.looseObject({ kind: z.string(), name: z.string() })).default([]),
});

const group = z.object({
  metadata: owned,
  status: z
    .looseObject({ phase: z.string().default(""), conditions: z.array(condition).default([]) })
    .default({ phase: "", conditions: [] }),
});

const job = z.object({
  metadata,
  status: z
    .looseObject({
      state: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
      retryCount: z.number().default(0),
    })
    .default({ state: { phase: "" }, retryCount: 0 }),
});

const application = z.object({
  metadata,
  status: z
    .looseObject({ applicationState: z.looseObject({ state: z.string().default("") }).default({ state: "" }) })
    .default({ applicationState: { state: "" } }),
});

const current = z.looseObject({ currentStateSummary: z.string().default("") }).default({ currentStateSummary: "" });

const apacheApplication = z.object({
  metadata,
  status: z
    .looseObject({ currentState: current, stateTransitionHistory: z.record(z.string(), current).default({}) })
    .optional(),
});

const pod = z.object({
  metadata,
  spec: z.looseObject({ nodeName: z.string().optional() }),
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

const plan = z.object({ since: z.string(), places: z.record(z.string(), z.record(z.string(), z.number())) });

export type Plan = { readonly since: number; readonly nodes: readonly string[] };

/** The account of one gang, by the name of its Job or SparkApplication within the namespace. */
export type Gang = {
  /** Phases of the Job, or states of the application, in the order in which the API showed them. */
  readonly phases: string[];
  retries: number;
  /** The plan that its PodGroup has now. */
  plan: Plan | undefined;
  /** All plans that it has had, by the instant of each. */
  readonly plans: Map<number, Plan>;
  /** Why it waited: reasons with messages, each once. */
  readonly reasons: Set<string>;
};

type Followed = { metadata: { uid: string; resourceVersion: string } };

export type GangRecord = {
  /** Changes of the pods of the namespace. */
  readonly changes: (namespace: string) => readonly PodChange[];
  readonly of: (namespace: string, job: string) => Gang;
  /** Pods of the gang that exist now. */
  readonly pods: (namespace: string, job: string) => readonly PodChange[];
  readonly stop: () => void;
};

/** Follows the objects of one kind; `gone` is called for those that a new list lacks, too. */
const listening = (put: (one: Followed) => void, gone: (one: Followed) => void = () => {}) => {
  const known = new Map<string, Followed>();
  const seen = (one: Followed): void => {
    known.set(one.metadata.uid, one);
    put(one);
  };
  const lost = (one: Followed): void => {
    if (known.delete(one.metadata.uid)) gone(one);
  };
  return {
    put: seen,
    gone: lost,
    all: (items: readonly Followed[]) => {
      const uids = new Set(items.map(({ metadata: { uid } }) => uid));
      for (const one of [...known.values()]) if (!uids.has(one.metadata.uid)) lost(one);
      items.forEach(seen);
    },
  };
};

const planIn = (text: string | undefined): Plan | undefined => {
  if (text === undefined) return undefined;
  const { since, places } = plan.parse(JSON.parse(text));
  const nodes = Object.values(places).flatMap((byNode) =>
    Object.entries(byNode).flatMap(([node, count]) => Array.from({ length: count }, () => node)),
  );
  return { since: Date.parse(since), nodes: nodes.toSorted() };
};

const isOver = (phase: string): boolean => phase === "Succeeded" || phase === "Failed";

/** Follows Jobs, PodGroups and pods until `stop`. */
export const openRecord = async (kubeconfig: string): Promise<GangRecord> => {
  const api = await openApi(kubeconfig);
  const gangs = new Map<string, Gang>();
  const changes: (PodChange & { readonly namespace: string })[] = [];
  const of = (namespace: string, name: string): Gang => {
    const key = `${namespace}/${name}`;
    const known = gangs.get(key) ?? {
      ...{ phases: [], retries: 0, plan: undefined, plans: new Map(), reasons: new Set<string>() },
    };
    gangs.set(key, known);
    return known;
  };
  const shown = ({ phases }: Gang, phase: string): void => {
    if (phase !== "" && phases.at(-1) !== phase) phases.push(phase);
  };
  const jobSeen = (one: Followed): void => {
    const { metadata: meta, status } = job.parse(one);
    const gang = of(meta.namespace, meta.name);
    gang.retries = status.retryCount;
    shown(gang, status.state.phase);
  };
  const applicationSeen = (one: Followed): void => {
    const { metadata: meta, status } = application.parse(one);
    shown(of(meta.namespace, meta.name), status.applicationState.state);
  };
  const apacheSeen = (one: Followed): void => {
    const { metadata: meta, status } = apacheApplication.parse(one);
    const gang = of(meta.namespace, meta.name);
    const history = Object.values(status?.stateTransitionHistory ?? {});
    for (const { currentStateSummary: state } of history) if (!gang.phases.includes(state)) shown(gang, state);
    shown(gang, status?.currentState.currentStateSummary ?? "");
  };
  const groupSeen = (one: Followed): void => {
    const { metadata: meta, status } = group.parse(one);
    const owner = meta.ownerReferences.find(({ kind }) => kind === "Job" || kind === "SparkApplication");
    if (owner === undefined) return;
    const gang = of(meta.namespace, owner.name);
    gang.plan = planIn(meta.annotations["rekindle.dev/plan"]);
    if (gang.plan !== undefined) gang.plans.set(gang.plan.since, gang.plan);
    for (const { type, reason, message } of status.conditions)
      if (type === "Unschedulable") gang.reasons.add(`${reason}: ${message}`);
  };
  const podChanged = (one: Followed, isGone: boolean): void => {
    const { metadata: meta, spec, status } = pod.parse(one);
    const owner =
      meta.labels["volcano.sh/job-name"] ??
      meta.labels["sparkoperator.k8s.io/app-name"] ??
      meta.labels["spark.operator/spark-app-name"];
    if (owner === undefined) return;
    const { namespace, name, uid } = meta;
    const state = isGone ? "gone" : isOver(status.phase) ? "over" : "alive";
    const placed = spec.nodeName === undefined || spec.nodeName === "" ? {} : { node: spec.nodeName };
    changes.push({ at: Date.now(), namespace, job: owner, pod: name, uid, state, ...placed });
  };
  api.follow<Followed>("/apis/batch.volcano.sh/v1alpha1/jobs", listening(jobSeen));
  api.follow<Followed>("/apis/sparkoperator.k8s.io/v1beta2/sparkapplications", listening(applicationSeen));
  const ofApache = "/apis/spark.apache.org/v1/sparkapplications";
  if ((await api.call("GET", ofApache)).status === 200) api.follow<Followed>(ofApache, listening(apacheSeen));
  api.follow<Followed>("/apis/scheduling.volcano.sh/v1beta1/podgroups", listening(groupSeen));
  api.follow<Followed>(
    "/api/v1/pods",
    listening(
      (one) => podChanged(one, false),
      (one) => podChanged(one, true),
    ),
  );
  const within = (namespace: string) => changes.filter((change) => change.namespace === namespace);
  return {
    of,
    changes: within,
    pods: (namespace, name) =>
      [
        ...new Map(
          within(namespace)
            .filter((change) => change.job === name)
            .map((change) => [change.uid, change]),
        ).values(),
      ].filter(({ state }) => state !== "gone"),
    stop: api.close,
  };
};

/** Resolves when the condition holds; throws `what` and the account at the timeout. */
export const until = async (
  what: string,
  holds: () => boolean,
  account: () => string,
  timeoutMs: number,
): Promise<void> => {
  const end = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not ${what} after ${timeoutMs / 1_000} s: ${account()}`);
    await sleep(20);
  }
};

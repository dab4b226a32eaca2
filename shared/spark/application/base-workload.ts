/**
 * The base of an application whose annotation names a LocalQueue: driver and first executors, which Kueue admits by a Workload
 * of Rekindle. Until then the application counts as suspended; then its pods get what Kueue's integration would write.
 *
 * B1. A run begins, and goes on, only while steps read the Workload as admitted; quota is given back when no pod is left.
 * B2. The base has as many executors as Kueue has admitted: `minExecutors` at least, where Rekindle allocates dynamically.
 */
import { list, type Reads } from "../../core/decision.ts";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import { digest } from "../../core/key.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import { type Effect, type Listing, type Plan, waitOf } from "../../core/plan.ts";
import type { WaitingOn } from "../../core/waiting-on.ts";
import {
  assignmentsIn,
  finishing,
  isOwnQueue,
  isTrue,
  jobUidLabel,
  localQueueOf,
  readyOnce,
  statusWithoutQuota,
  statusWrite,
  untilAdmitted,
  workloads,
} from "../../kube/kueue.ts";
import { growthStateOf } from "../../kube/kueue-growth.ts";
import { type Placement, readPlacements, withPlacement } from "../../kube/kueue-placement.ts";
import { isRankedOtherwise, readRank } from "../../kube/kueue-priority.ts";
import { classOf, podSetFor, workloadFor } from "../../kube/kueue-workload.ts";
import { derivedLabel } from "../../kube/names.ts";
import { hasBeenReady, isEnding, isOver, ownedBy, podSpecIn, podStatus } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { scaleOf } from "../executors/demand.ts";
import { podSet } from "../executors/flavors.ts";
import { executorsWanted, isOwn } from "../executors/owner.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { reference } from "../submission/additions.ts";
import type { PlannedPods } from "../submission/planned-pods.ts";
import { type ApplicationContext, readPods, removal } from "./run/context.ts";
import { plannedPods } from "./run/submit.ts";
import type { Pods } from "./state/evidence.ts";
import type { Memory } from "./state/memory.ts";

/** The Workload of the base, as a step has read it. */
export type Base = {
  /** The context with the spec as Kueue has admitted it. */
  readonly context: ApplicationContext;
  readonly workload: Stored | undefined;
  readonly isAdmitted: boolean;
  /** A flavor that cannot be read: nothing is done without it. */
  readonly lacks?: string | undefined;
  /** The pods of the Workload that is to be created. */
  readonly planned?: PlannedPods | undefined;
};

const nameOf = ({ key, view }: Pick<ApplicationContext, "key" | "view">): string =>
  derivedLabel(key.name, `base-${digest(view.uid).slice(0, 8)}`);

const isGranted = (workload: Stored | undefined): boolean =>
  workload !== undefined && growthStateOf(workload) === "granted";

/** Reads the Workload; one that grants nothing a second time by its name if pods would end for that: a list may be behind. */
function* readWorkload(context: ApplicationContext): Reads<Stored | undefined> {
  const { uid } = context.view;
  const { namespace } = context.key;
  const isOwned = (one: Stored): boolean => ownedBy(one, uid);
  const runs = context.memory.driver !== undefined && context.memory.state.phase !== "SUSPENDED";
  const query: Listing = { do: "list", resource: workloads, namespace, labels: { [jobUidLabel]: uid } };
  const found = (yield* list(runs ? query : { ...query, spared: true })).find(isOwned);
  if (isGranted(found) || !runs) return found;
  return (yield* list({ ...query, labels: {}, field: `metadata.name=${nameOf(context)}` })).find(isOwned);
}

/** The executors that the Workload asks for, and those that Kueue has admitted. */
const countsIn = (workload: Stored): readonly [asked: unknown, admitted: unknown] => [
  recordsIn(fieldsOf(workload.spec)["podSets"]).find(({ name }) => name === podSet)?.["count"] ?? 0,
  assignmentsIn(workload).find(({ name }) => name === podSet)?.["count"] ?? 0,
];

/** True if the Workload asks for something else than the application. What is granted to a dynamic one only grows by growths. */
const isOutdated = ({ object, read }: ApplicationContext, workload: Stored, wanted: number): boolean => {
  if (fieldsOf(workload.spec)["queueName"] !== localQueueOf(object)) return true;
  const isHeld = isTrue(workload, "QuotaReserved");
  const sets = recordsIn(fieldsOf(workload.spec)["podSets"]);
  const classes = sets.map(({ template }) => classOf(podSpecIn(template)));
  if (!isHeld && isRankedOtherwise(workload, object, classes)) return true;
  const isDynamic = read.ok && scaleOf(read.spec) !== undefined;
  return countsIn(workload)[0] !== wanted && !(isDynamic && isHeld);
};

/** The fields of a role with what Kueue adds to its pods; its gates in the template, as Kueue's integration writes them. */
const placed = <One extends SparkApplicationSpec["driver"]>(
  role: One,
  nodes: SparkApplicationSpec["nodeSelector"],
  placement: Placement,
): One => {
  const { labels = {}, annotations = {}, nodeSelector = nodes, tolerations = [], template } = role;
  const pod = withPlacement(
    { metadata: { name: "", labels, annotations }, spec: { nodeSelector, tolerations } },
    placement,
  );
  const { schedulingGates, ...rest } = pod.spec;
  const gated = { ...fieldsOf(template), spec: { ...podSpecIn(template), schedulingGates } };
  return {
    ...role,
    labels: pod.metadata.labels,
    annotations: pod.metadata.annotations,
    ...rest,
    ...(schedulingGates === undefined ? {} : { template: gated }),
  };
};

const withPlacements = (spec: SparkApplicationSpec, of: ReadonlyMap<string, Placement>): SparkApplicationSpec => {
  const [driver, executor] = [of.get("driver"), of.get(podSet)];
  const { nodeSelector, ...rest } = spec;
  return {
    ...rest,
    driver: driver === undefined ? spec.driver : placed(spec.driver, nodeSelector, driver),
    executor: executor === undefined ? spec.executor : placed(spec.executor, nodeSelector, executor),
  };
};

/** True while its user suspends the application. */
const isSuspended = ({ object }: ApplicationContext): boolean => fieldsOf(object.spec)["suspend"] === true;

/** The pods of the next run; undefined where its submission would be refused. */
const planned = (context: ApplicationContext): PlannedPods | undefined =>
  plannedPods(context, {
    ...{ attempt: context.memory.attempt + 1, submittedAt: context.view.now },
    ...{ podName: "", submissionId: "" },
  });

/**
 * Reads whether Kueue admits the base. One that it does not admit by a Workload of Rekindle counts as admitted, as does one
 * whose submission is refused, so that its status says why.
 */
export function* readBase(context: ApplicationContext): Reads<Base> {
  const { object, read, view } = context;
  if (!read.ok || !isOwnQueue(object) || !isLabelValue(view.uid))
    return { context, workload: undefined, isAdmitted: true };
  const { spec } = read;
  const wanted = executorsWanted(spec);
  const workload = yield* readWorkload(context);
  const isAdmitted = workload !== undefined && isGranted(workload) && !isOutdated(context, workload, wanted);
  const admitted = isAdmitted ? Math.min(wanted, Number(countsIn(workload)[1])) : wanted;
  const whole = {
    ...context,
    read: { ...read, spec: { ...spec, executor: { ...spec.executor, instances: admitted } } },
  };
  if (workload === undefined && context.memory.driver === undefined && !isSuspended(context)) {
    const pods = planned(whole);
    return { context: whole, workload, isAdmitted: pods === undefined, planned: pods };
  }
  if (!isAdmitted) return { context: whole, workload, isAdmitted };
  const { placements, lacks } = yield* readPlacements(workload);
  const placedSpec = withPlacements(whole.read.spec, placements);
  return { context: { ...whole, read: { ...read, spec: placedSpec } }, workload, isAdmitted, lacks };
}

/** Creates the Workload. */
const creation = ({ key, view, object, read }: ApplicationContext, pods: PlannedPods, rank: Json): Effect => {
  const { driver, executor, executors } = pods;
  const scale = read.ok && isOwn(object.metadata.annotations ?? {}) ? scaleOf(read.spec) : undefined;
  const least = Math.max(1, scale?.least ?? executors);
  const minCount = least < executors ? { minCount: least } : {};
  const owner = { ...reference({ name: key.name, namespace: key.namespace, uid: view.uid }), controller: true };
  const workload = workloadFor({
    ...{ object, name: nameOf({ key, view }), owner: { ...owner, blockOwnerDeletion: true }, rank },
    podSets: [
      podSetFor("driver", 1, driver),
      ...(executor === undefined || executors === 0
        ? []
        : [{ ...podSetFor(podSet, executors, executor), ...minCount }]),
    ],
  });
  return { do: "create", object: workload, resource: workloads, owner: view.uid };
};

const finished = (workload: Stored, phase: string, now: number): Effect =>
  finishing(workload, phase === "COMPLETED", `SparkApplication is ${phase}`, now);

const ends: ReadonlySet<string> = new Set(["COMPLETED", "FAILED"]);

const removed = (one: Stored): readonly Effect[] => (isEnding(one) ? [] : [removal(one, workloads)]);

/** The effects while the application waits: its Workload is queued again, or deleted to be replaced. */
const whileWaiting = (context: ApplicationContext, workload: Stored): readonly Effect[] => {
  const state = growthStateOf(workload);
  const { read, view } = context;
  if (state === "evicted") return [statusWrite(workload, statusWithoutQuota(workload, view.now))];
  const isUseless = state === "over" || (read.ok && isOutdated(context, workload, read.spec.executor.instances ?? 0));
  return isUseless ? removed(workload) : [];
};

/** The effects on the Workload once no pod uses its quota. */
const effectsOf = ({ context, isAdmitted }: Base, workload: Stored, phase: string): readonly Effect[] => {
  if (ends.has(phase)) return [finished(workload, phase, context.view.now)];
  if (phase !== "SUSPENDED") return [];
  if (isSuspended(context)) return removed(workload);
  return isAdmitted ? [] : whileWaiting(context, workload);
};

type Made = { readonly effects: readonly Effect[]; readonly lacks?: string };

/** Creates the Workload that is missing, or says which priority class cannot be read. */
function* created({ context, planned: pods }: Base): Reads<Made> {
  if (pods === undefined) return { effects: [] };
  const classes = [pods.driver, pods.executor].map((pod) => classOf(podSpecIn(pod)));
  const { rank, lacks = "" } = yield* readRank(context.object, classes);
  return rank === undefined ? { effects: [], lacks } : { effects: [creation(context, pods, rank)] };
}

/** The wait for an object without which nothing is done. */
const unread = (message: string): WaitingOn => ({ on: "trouble", message });

/** The interval in which a step looks for an admission or an eviction, ms; sooner after it has asked for one. */
const pollMs = 10_000;
const soonMs = 1_000;

const polled = (plan: Plan<Memory>, { context }: Base, ms: number, lacks?: string): Plan<Memory> => {
  const { next } = plan;
  if (next.do === "forget") return plan;
  const wait = waitOf(plan);
  const admission = lacks === undefined ? untilAdmitted(localQueueOf(context.object) ?? "") : unread(lacks);
  const waitsFor = plan.memory.state.phase === "SUSPENDED" ? { waitsFor: admission } : {};
  const polls = { ...wait, ...waitsFor, pollMs: Math.min(wait.pollMs ?? ms, ms) };
  return { ...plan, next: { ...polls, do: next.do === "rest" ? "wait" : next.do } };
};

/** Says that driver and initial executors are ready. */
const readied = ({ context, workload, isAdmitted }: Base, phase: string, { executors }: Pods): readonly Effect[] => {
  const { read, view } = context;
  if (workload === undefined || !isAdmitted || !read.ok || phase !== "RUNNING") return [];
  const there = executors.filter(hasBeenReady).length;
  return readyOnce(workload, there >= (read.spec.executor.instances ?? 0), view.now);
};

/** The effects on the Workload while no pod uses its quota. */
function* whileIdle(base: Base, phase: string): Reads<Made> {
  return base.workload === undefined ? yield* created(base) : { effects: effectsOf(base, base.workload, phase) };
}

/** Adds what a step does about the Workload, after all else that it does. */
export function* withBase(base: Base, plan: Plan<Memory>): Reads<Plan<Memory>> {
  if (!isOwnQueue(base.context.object)) return plan;
  const { phase } = plan.memory.state;
  const { workload, context } = base;
  const isWaiting = phase === "SUSPENDED" && !isSuspended(context);
  if (workload === undefined ? !isWaiting : ends.has(phase) && isTrue(workload, "Finished")) return plan;
  const found = yield* readPods(context);
  const { effects, lacks } = found.all.every((pod) => isOver(podStatus(pod)))
    ? yield* whileIdle(base, phase)
    : { effects: readied(base, phase, found) };
  if (effects.length === 0) return polled(plan, base, pollMs, lacks);
  const safety = { ...plan.safety, live: true } as const;
  return polled({ ...plan, stages: [...plan.stages, effects], safety }, base, soonMs);
}

/** The plan while a flavor cannot be read. */
export const withoutFlavor = ({ context }: Base, message: string): Plan<Memory> => ({
  memory: context.memory,
  stages: [],
  next: { do: "wait", pollMs, waitsFor: unread(message) },
});

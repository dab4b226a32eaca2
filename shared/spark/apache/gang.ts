/**
 * Starts driver and initial executors of Apache's SparkApplication as one group, where `gang` is builtin and its annotation
 * asks for it. The attempt begins once an admission round has planned places for all members; driver and own executors are
 * pinned to them. A group that has lost its places ends the attempt as lost quota does: the next one waits, and no restart
 * is spent.
 */
import { get, type Reads } from "../../core/decision.ts";
import { omit } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect, Plan } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { memberKeys, queueNameKey } from "../../kube/gang-members.ts";
import { type GangPlan, isWaiting, nodesOf, placer, planOf as planIn } from "../../kube/gang-plan.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import { classOf } from "../../kube/kueue-workload.ts";
import { isEnding, ownedBy, podSpecIn, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import {
  countsOf,
  createsExecutors,
  driverTask,
  executorTask,
  isEvicted,
  isSame,
  isTakenBack,
  isTimely,
  pinnedPod,
  statedGroup,
  whyOf,
  withPins,
} from "../application/gang/places.ts";
import { removal } from "../application/run/context.ts";
import { policiesOf } from "../application/spec/policies.ts";
import { volcanoPodGroups } from "../schema/resource.ts";
import { statedTotal } from "../submission/planned-pods.ts";
import { type Context, type PlacesWait, submissionOf, type WholeStart } from "./context.ts";
import { type Memory, recordOf } from "./memory.ts";
import { readPods } from "./pods.ts";
import { groupIn, isPlanned, mayMakePods } from "./quota.ts";
import { isOwnAttempt } from "./run.ts";
import { ownerOf } from "./submission.ts";

/** Poll interval of an attempt that may still be taken back, ms. */
const openPollMs = 5_000;

const nameOf = ({ key }: Context): string => `apache-spark-${key.name}-pg`;

const ownGroup = `spark.kubernetes.driver.annotation.${memberKeys.group}`;

/** True for an attempt that starts, or has started, as a group of Rekindle's. */
const isWhole = (context: Context): boolean => {
  const { view, object, read } = context;
  if (isPlanned(context)) return view.memory?.run?.places !== undefined;
  const isAsked = policiesOf(object).policies.gang === "true" && localQueueOf(object) === undefined;
  return isAsked && read.ok && read.spec.sparkConf?.[ownGroup] === undefined;
};

const memberConfs = (group: string): readonly (readonly [string, string])[] =>
  [driverTask, executorTask].flatMap((role) => [
    [`spark.kubernetes.${role}.annotation.${memberKeys.group}`, group] as const,
    [`spark.kubernetes.${role}.annotation.${memberKeys.task}`, role] as const,
    [`spark.kubernetes.${role}.scheduler.name`, placer] as const,
  ]);

/** The context whose pods are members of the group. */
const withMembers = (context: Context): Context => {
  const { settings, read, key, view, run, submission } = context;
  if ("refused" in submission || !mayMakePods(context)) return context;
  const app = { name: key.name, namespace: key.namespace, uid: view.uid };
  const members = memberConfs(nameOf(context));
  const attempted = { app, attempt: run.attempt, own: submission.executors !== undefined, members };
  return { ...context, submission: submissionOf(settings, read, attempted) };
};

/** The PodGroup of the attempt; undefined where it has none to submit. */
const groupFor = (context: Context): Obj | undefined => {
  const { key, view, object, submission } = context;
  const planned = "refused" in submission ? undefined : submission.planned;
  if (planned === undefined) return undefined;
  const { name, namespace } = key;
  const { annotations, minMember } = statedGroup(planned, policiesOf(object).policies.gangRequired === "true");
  const queue = object.metadata.annotations?.[queueNameKey];
  const priorityClassName = classOf(podSpecIn(planned.driver));
  return {
    ...{ apiVersion: apiVersionOf(volcanoPodGroups), kind: volcanoPodGroups.kind },
    metadata: {
      ...{ name: nameOf(context), namespace, annotations },
      ownerReferences: [{ ...ownerOf({ name, namespace, uid: view.uid }), controller: true }],
    },
    spec: {
      minMember,
      minResources: statedTotal(planned),
      ...(queue === undefined ? {} : { queue }),
      ...(priorityClassName === "" ? {} : { priorityClassName }),
    },
  };
};

function* readGroup(context: Context): Reads<Stored | undefined> {
  const ref = { resource: volcanoPodGroups, namespace: context.key.namespace, name: nameOf(context) };
  const group = yield* get({ do: "get", ref });
  return group !== undefined && ownedBy(group, context.view.uid) ? group : undefined;
}

const held = (
  context: Context,
  { stage = [], group, lost }: { stage?: readonly Effect[]; group?: Stored; lost?: string },
): Context => {
  const what = `group ${context.key.namespace}/${nameOf(context)} of the driver and its executors`;
  const why = group === undefined ? undefined : whyOf(group);
  const places: PlacesWait = {
    text: `waits for places of ${what}${why === undefined ? "" : `: ${why}`}`,
    waitsFor: until(what, "admitted", why),
    stage,
    ...(lost === undefined ? {} : { lost }),
  };
  return { ...context, places };
};

/** The attempt with its driver pinned to its place. */
const pinnedTo = (context: Context, plan: GangPlan | undefined): Context => {
  const { submission } = context;
  if ("refused" in submission || plan === undefined) return context;
  const [node] = nodesOf(plan, driverTask);
  return { ...context, submission: { ...submission, driver: pinnedPod(submission.driver, node) } };
};

/** Judges an attempt that has no driver yet. One that was planned has lost a group that waits again. */
const beforeDriver = (context: Context, group: Stored | undefined): Context => {
  const desired = groupFor(context);
  if (desired === undefined) return context;
  const isUnder = isPlanned(context);
  if (isUnder && (group === undefined || isWaiting(group)))
    return held(context, { lost: "The places of its group were taken back" });
  if (group === undefined)
    return held(context, {
      stage: [{ do: "create", object: desired, resource: volcanoPodGroups, owner: context.view.uid }],
    });
  if (isEnding(group)) return held(context, { group });
  const isOwn = isUnder || (context.view.memory?.grouped === context.run.attempt && isSame(group, desired));
  if (!isOwn) return held(context, { stage: [removal(group, volcanoPodGroups)], group });
  const plan = planIn(group);
  const isLate = plan !== undefined && !isTimely(plan, context.view.now);
  return isWaiting(group) || isLate ? held(context, { group }) : pinnedTo(context, plan);
};

/** Judges a run whose group gives its room to another: until its driver is on its way out, nothing is created. */
function* givingRoom(context: Context, group: Stored): Reads<Context | "stays"> {
  const { driver } = yield* readPods(context.key, context.view.uid, context.run, true);
  const phase = driver === undefined ? "Failed" : podStatus(driver).phase;
  if (phase === "Succeeded") return context;
  if (driver === undefined || isEnding(driver) || phase === "Failed")
    return held(context, { group, lost: "Its group gives its room to another group" });
  return "stays";
}

/** Returns what the group lets the attempt do; "stays": nothing. */
function* judged(context: Context, group: Stored | undefined): Reads<Context | "stays"> {
  const state = groupIn(context);
  if (state === "initializing") return beforeDriver(context, group);
  if (group === undefined || !["starting", "running"].includes(state)) return context;
  if (isTakenBack(group)) return held(context, { group, lost: "The places of its group were taken back" });
  return isEvicted(group) ? yield* givingRoom(context, group) : context;
}

const isCreation = (effect: Effect): boolean => effect.do === "create" && effect.resource === volcanoPodGroups;

const isDriver = (effect: Effect): boolean =>
  effect.do === "create" && effect.resource === pods && effect.body === undefined;

/** The group of the state in which a plan leaves the application. */
const stateAfter = ({ memory }: Plan<Memory>, { view, object }: Context) =>
  groupIn({ view: { ...view, memory }, object });

/** True while the attempt may need its group. A suspended application that waits reserves no places. */
const needsGroup = (context: Context, plan: Plan<Memory>): boolean => {
  const state = stateAfter(plan, context);
  if (state !== "initializing") return ["starting", "running"].includes(state);
  return isWhole(context) && !(context.read.ok && context.read.spec.suspend === true && !isPlanned(context));
};

/** The places of the executors as the record of an attempt keeps them. */
const withPlaces = ({ run, ...memory }: Memory, group: Stored | undefined): Memory => {
  const plan = group === undefined ? undefined : planIn(group);
  const places = plan === undefined ? {} : countsOf(nodesOf(plan, executorTask));
  return { ...memory, ...(run === undefined ? {} : { run: { ...run, places } }) };
};

/** Looks again soon at a run whose group may still be taken back. */
const watched = (plan: Plan<Memory>, context: Context, group: Stored | undefined): Plan<Memory> => {
  const { next } = plan;
  if (next.do !== "wait" || group === undefined || planIn(group) === undefined) return plan;
  const isAwaited = stateAfter(plan, context) === "starting";
  if (!isAwaited && policiesOf(context.object).policies.gangRequired !== "true") return plan;
  return { ...plan, next: { ...next, pollMs: Math.min(next.pollMs ?? openPollMs, openPollMs) } };
};

/** No attempt has this id: it stands for the attempt of a group whose record was lost. */
const unknown = -1;

/** The attempt whose group is there: the one that asked for it, or the next one where that has lost its places. */
const groupedBy = ({ places, run, view }: Context, { memory, stages }: Plan<Memory>): number => {
  if (stages.flat().some(isCreation)) return run.attempt;
  const next = places?.lost === undefined ? undefined : recordOf(memory, undefined)?.attempt.id;
  return next ?? view.memory?.grouped ?? unknown;
};

/** The plan of the act with the group's part: what is remembered of it, its members' places, and its end. */
function* completed(context: Context, plan: Plan<Memory>, group: Stored | undefined): Reads<Plan<Memory>> {
  const { run } = context;
  const begins = plan.stages.flat().some(isDriver);
  const memory = begins ? withPlaces(plan.memory, group) : plan.memory;
  const places = memory.run?.places;
  const isPlaced = places !== undefined && isOwnAttempt(memory, run.attempt) && createsExecutors(plan.stages);
  const stages = isPlaced ? yield* withPins(context, places, plan.stages, group) : plan.stages;
  const isThere = group !== undefined || plan.stages.flat().some(isCreation);
  const ends =
    group !== undefined && !isEnding(group) && !needsGroup(context, plan) ? [[removal(group, volcanoPodGroups)]] : [];
  return {
    ...watched(plan, context, group),
    memory: isThere ? { ...memory, grouped: groupedBy(context, plan) } : omit(memory, "grouped"),
    stages: [...stages, ...ends],
  };
}

/** Decides a step of an application; one that asks for no group, and has none, is decided by the act alone. */
export const startApacheWhole: WholeStart = function* (given, act) {
  const whole = isWhole(given);
  if (!whole && given.view.memory?.grouped === undefined) return yield* act(given);
  const context = whole ? withMembers(given) : given;
  const group = yield* readGroup(context);
  const begun = whole ? yield* judged(context, group) : context;
  const { memory } = given.view;
  if (begun !== "stays") return yield* completed(begun, yield* act(begun), group);
  if (memory === undefined) return yield* act(context);
  return { memory, stages: [], next: { do: "wait", pollMs: openPollMs, waitsFor: until("its driver", "ended") } };
};

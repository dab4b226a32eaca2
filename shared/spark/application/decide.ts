/** The decision of one step of a SparkApplication: interrupts first, then the act of the phase. Pure. */

import { type Decision, list, type Reads, settled } from "../../core/decision.ts";
import { fieldsOf, isRecord, omit } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator, Watching } from "../../core/operator.ts";
import { type Effect, type Looking, type Next, notYetRecorded, type Plan, type View } from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until, type WaitingOn, until as waitUntil } from "../../core/waiting-on.ts";
import { localQueueOf, untilAdmitted } from "../../kube/kueue.ts";
import { isEnding } from "../../kube/pods.ts";

import { type Startup, withStartup } from "../../kube/startup.ts";
import { podsOf } from "../schema/pod-query.ts";
import { sparkApplications } from "../schema/resource.ts";
import { parseWith } from "../schema/rules.ts";
import { readBase, withBase, withoutFlavor } from "./base-workload.ts";
import { clearAttempt, readAttempt, windDown } from "./driver/cleanup.ts";
import { monitorDriver } from "./driver/monitor.ts";
import { applicationRuns } from "./executors/kind.ts";
import * as closing from "./executors/monitor.ts";
import { measuresOf, measuresOfSave } from "./metrics.ts";
import { adopted, blank, mayHideDriver, recovery } from "./recovery.ts";
import {
  type ApplicationContext,
  endOver,
  endStrays,
  ownSpec,
  policyOf,
  readPods,
  type Settings,
  settledAt,
} from "./run/context.ts";
import { lastLogs, logOf } from "./run/kept-log.ts";
import { endAll, planOf, resting, withHistory } from "./run/plan.ts";
import { endAuxiliaryObjects, planOfRefusal, submitNext } from "./run/submit.ts";
import { policiesOf } from "./spec/policies.ts";
import { type Pods, sortOut } from "./state/evidence.ts";
import { type Act, acts, clearedInto, suspendable } from "./state/machine.ts";
import {
  isOwnRun,
  type Memory,
  normaliser,
  type Phase,
  parseMemory,
  placedBy,
  relevant,
  type State,
} from "./state/memory.ts";
import { shownState } from "./state/status.ts";
import { sparkApplicationWatcher } from "./watches.ts";

/** The pods that are to start: the driver; once it runs, executors that the plan's status does not show past their start. */
function* startingPods(
  key: Key,
  { uid }: View<Memory>,
  { memory: { state, driver }, status }: Plan<Memory>,
): Reads<readonly Stored[]> {
  const found = sortOut(yield* list(podsOf(key)), uid, driver);
  const shown = fieldsOf(status?.["executorState"]);
  if (state.phase === "RUNNING")
    return found.executors.filter(({ metadata: { name } }) => (shown[name] ?? "PENDING") === "PENDING");
  return found.driver === undefined ? [] : [found.driver];
}

type Role = Pick<Startup, "role" | "waitsFor">;

const roleOf = ({ state }: Memory): Role | undefined => {
  if (state.phase === "SUBMITTED") return { role: "driver", waitsFor: (text) => until("the driver", "started", text) };
  if (state.phase !== "RUNNING") return undefined;
  const waitsFor: Role["waitsFor"] = (why, besides = until("the driver", "finished"), { pod }) => ({
    on: "podStart",
    pod: `executor pod ${pod}`,
    why,
    besides,
  });
  return { role: "executor", waitsFor };
};

/** Adds the reasons why the run's pods do not start. A timer checks the start of a driver just created. */
export function* startingUp(key: Key, view: View<Memory>, object: Stored, plan: Plan<Memory>): Decision<Memory> {
  const { memory } = plan;
  const role = roleOf(memory);
  if (role === undefined) return plan;
  const pods = startingPods(key, view, plan);
  return yield* withStartup(view, { object, resource: sparkApplications, run: memory.attempt, pods, ...role }, plan);
}

/** Reads `spec.suspend` without the schema: a suspended application with an invalid spec stays suspended. */
const suspends = ({ spec }: Stored): boolean => isRecord(spec) && spec["suspend"] === true;

/** Takes in the object's current spec: a changed spec invalidates the run, a suspension interrupts it. */
const interrupted = (context: ApplicationContext, isHeld: boolean): Memory => {
  const memory = rebased(context);
  const suspend = isHeld || suspends(context.object);
  const { phase } = memory.state;
  if (suspend && suspendable[phase]) return { ...memory, state: { phase: "SUSPENDING" } };
  if (!suspend && phase === "SUSPENDED") return { ...memory, state: { phase: "RESUMING" } };
  return memory;
};

/** Compares specs when the generation differs. Another normaliser's digest is replaced, and restarts no run. */
const rebased = ({ memory, object, settings }: ApplicationContext): Memory => {
  const generation = object.metadata.generation ?? 0;
  if (memory.generation === generation && memory.normaliser === normaliser) return memory;
  const { allotment } = memory;
  const own = isOwnRun(memory);
  const run = own && ownSpec(settings);
  const spec = relevant(object, run);
  const placed = own && allotment !== undefined ? { allotment: { ...allotment, ...placedBy(object, run) } } : {};
  const taken = { ...memory, ...placed, generation, spec, normaliser };
  // The digest of a run that began before the setting was turned on is compared as it was made.
  const unchanged = memory.normaliser !== normaliser || [spec, relevant(object, own)].includes(memory.spec);
  if (unchanged) return taken;
  const anew = { ...omit(taken, "failures", "forgiven"), submissions: 0, executions: 0 };
  const nothingRuns = memory.state.phase === "" || memory.state.phase === "SUSPENDED";
  return nothingRuns ? anew : { ...anew, state: { phase: "INVALIDATING" } };
};

/** The event of a run that goes on with a changed placement, recorded before the save that takes the change in. */
const placementEvent = ({ memory, object }: ApplicationContext, taken: Memory): readonly Effect[] => {
  const [before, after] = [memory, taken].map(({ allotment }) => allotment?.placed);
  const isNews = before !== after && taken.generation > memory.generation && taken.state.phase !== "INVALIDATING";
  if (before === undefined || !isNews) return [];
  const message =
    "the run continues: executors that are created later are placed as the changed spec says, and running executors stay";
  const event = { type: "Normal", reason: "SparkApplicationWebhookFieldsUpdated", message } as const;
  return [{ do: "record", about: object, resource: sparkApplications, occasion: `${taken.generation}`, ...event }];
};

/** Ends a run, and goes on in the same step as an ended application. */
const enter = (context: ApplicationContext, state: State): Decision<Memory> =>
  rest({ ...context, memory: withHistory(context, context.memory.state.phase, { ...context.memory, state }) });

/** Enters a phase that has no driver. */
const enterBare = (context: ApplicationContext, phase: "PENDING_RERUN" | "SUSPENDED"): Plan<Memory> => {
  const { driver: _, ...memory } = context.memory;
  return planOf(context, { ...memory, state: { phase } }, undefined, { next: { do: "again" } });
};

/** Submits the next attempt once the newest save that planned a driver has settled. */
const resubmit = (context: ApplicationContext): Decision<Memory> =>
  clearAttempt(context, () => {
    const settled = settledAt(context);
    if (context.view.now >= settled) return submitNext(context);
    return planOf(context, context.memory, undefined, {
      next: { do: "wait", wakeAt: settled, waitsFor: waitUntil("the last submission", "settled") },
    });
  });

/** Clears an ended run once no creation of its driver can arrive any more, so that no attempt gets two driver pods. */
function* clearEnded(context: ApplicationContext, from: number, waitsFor: WaitingOn): Decision<Memory> {
  const found = yield* readPods(context);
  const due = Math.max(from, settledAt(context));
  if (context.view.now >= due) return yield* clearAttempt(context, (cleared) => enterBare(cleared, "PENDING_RERUN"));
  return planOf(context, context.memory, found, {
    stages: [endOver(context.memory, found)],
    next: { do: "wait", wakeAt: due, waitsFor },
  });
}

const succeed = (context: ApplicationContext): Decision<Memory> => {
  const { state } = context.memory;
  const endedAt = "endedAt" in state ? state.endedAt : context.view.now;
  if (policyOf(context).type === "Always") return clearEnded(context, endedAt, { on: "time", of: "run" });
  return enter(context, { phase: "COMPLETED", endedAt });
};

function* fail(context: ApplicationContext): Decision<Memory> {
  const { state } = context.memory;
  if (state.phase !== "FAILING" && state.phase !== "SUBMISSION_FAILED") return yield* rest(context);
  const { endedAt, error, retryAt, cause } = state;
  if (retryAt === undefined)
    return yield* enter(context, { phase: "FAILED", endedAt, error, ...(cause === undefined ? {} : { cause }) });
  const waitsFor = { on: "retry", after: error } as const;
  if (state.phase === "FAILING") return yield* clearEnded(context, retryAt, waitsFor);
  const found = yield* readPods(context);
  if (context.view.now >= retryAt) return yield* resubmit(context);
  return planOf(context, context.memory, found, {
    stages: [endStrays(found)],
    next: { do: "wait", wakeAt: retryAt, waitsFor },
  });
}

/** Follows a finished application: last executor states, strays, objects that end with the run, time to live. */
function* rest(context: ApplicationContext): Decision<Memory> {
  const found = yield* readPods(context);
  const { stage, left, memory } = yield* endAuxiliaryObjects(context, found);
  if (left > 0) {
    const next: Next = stage.length > 0 ? { do: "again" } : { do: "wait", pollMs: 15_000 };
    return planOf(context, memory, found, { stages: [endOver(memory, found), stage], next });
  }
  return expire({ ...context, memory }, found);
}

/** The application's time to live, else the deployment's, in seconds. 0 means none only for the deployment. */
const timeToLive = ({ read, settings }: ApplicationContext): number | undefined => {
  const own = read.ok ? read.spec.timeToLiveSeconds : undefined;
  return own ?? (settings.options.defaultTimeToLiveSeconds > 0 ? settings.options.defaultTimeToLiveSeconds : undefined);
};

/** Deletes an expired application once all saves have settled: a slow creation by a schedule could recreate it. */
const expire = (context: ApplicationContext, found: Pods): Plan<Memory> => {
  const { key, memory, object, view, settings } = context;
  const ttl = timeToLive(context);
  if (ttl === undefined || !("endedAt" in memory.state)) return resting(context, found);
  const due = Math.max(memory.state.endedAt + Math.max(0, ttl) * 1_000, settledAt(context));
  if (view.now < due) return resting(context, found, { expiresAt: due });
  const { stage } = endAll(context, found);
  const stages = [stage];
  if (shownState(object) !== memory.state.phase)
    return planOf(context, memory, found, { stages, next: { do: "wait", pollMs: 1_000 } });
  const logs = lastLogs({ options: settings.options, pods: found.all }, view.uid);
  return { memory, stages: [...stages, logs, [expiry(key, object)]], next: { do: "again" } };
};

/** Deletes the object only at this resourceVersion: a changed spec may ask for another run. */
const expiry = ({ namespace, name }: Key, { metadata: { uid, resourceVersion } }: Stored): Effect => ({
  do: "delete",
  ref: { resource: sparkApplications, namespace, name },
  uid,
  resourceVersion,
});

/** A suspended application waits for its user, or for Kueue. */
function* wait(context: ApplicationContext): Decision<Memory> {
  const queue = localQueueOf(context.object);
  const waitsFor: WaitingOn =
    queue === undefined ? { on: "field", path: "spec.suspend", value: "false" } : untilAdmitted(queue);
  return resting(context, yield* readPods(context), { waitsFor });
}

function* clearing(context: ApplicationContext): Decision<Memory> {
  const { phase } = context.memory.state;
  const after = phase === "SUSPENDING" ? clearedInto.SUSPENDING : clearedInto.INVALIDATING;
  const { found } = yield* readAttempt(context);
  const account = closing.interrupted(context, found);
  if (account !== undefined && notYetRecorded(context.view, account.first).length > 0)
    return { memory: context.view.memory ?? context.memory, stages: [account.first], next: { do: "continue" } };
  const { memory } = account ?? context;
  return yield* clearAttempt({ ...context, memory }, (cleared) => enterBare(cleared, after));
}

const acting: Readonly<Record<Act, (context: ApplicationContext) => Decision<Memory>>> = {
  submit: (context) => settled(submitNext(context)),
  follow: (context) => monitorDriver(context, act),
  succeed,
  fail,
  clear: clearing,
  resubmit,
  wait,
  rest,
};

const act = (context: ApplicationContext): Decision<Memory> => acting[acts[context.memory.state.phase]](context);

/** Decides one step of a SparkApplication. */
export function* decide(settings: Settings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object } = view;
  if (object === undefined || isEnding(object))
    return yield* windDown({ key, kind: applicationRuns, view, settings, memory: view.memory ?? blank(0, "") });
  const read = parseWith(settings.options.sparkDefaults, object);
  const policy = read.ok ? (read.spec.restartPolicy ?? {}) : {};
  const pods = view.memory === undefined && mayHideDriver(object) ? yield* list(podsOf(key)) : [];
  const memory = view.memory ?? adopted(object, relevant(object, false), policy, pods);
  const given: ApplicationContext = {
    key,
    kind: applicationRuns,
    view,
    object,
    memory,
    read,
    settings,
    policies: policiesOf(object).policies,
  };
  const base = yield* readBase(given);
  if (base.lacks !== undefined) return withoutFlavor(base, base.lacks);
  const { context } = base;
  const refusal = view.refused.find((one) => one.effect.do === "create");
  if (refusal !== undefined && memory.state.phase === "SUBMITTED") return planOfRefusal(context, refusal.message);
  const from = view.memory === undefined ? shownState(object) : memory.state.phase;
  const taken = interrupted(context, !base.isAdmitted);
  const news = placementEvent(context, taken);
  if (notYetRecorded(view, news).length > 0) return { memory, stages: [news], next: { do: "continue" } };
  const now = { ...context, memory: withHistory(context, from, taken) };
  const plan = yield* withBase(base, yield* settings.gang === undefined ? act(now) : settings.gang(now, act));
  return yield* startingUp(key, view, object, plan);
}

const prefix = "held up by the platform, which uses up no retry: ";

/** Returns the status with the trouble as its message, or undefined: a message of the application's own stays. */
export const heldUp = (object: Stored, message: string): Readonly<Record<string, unknown>> | undefined => {
  const status = fieldsOf(object.status);
  const state = fieldsOf(status["applicationState"]);
  const shown = state["errorMessage"] ?? "";
  if (typeof shown !== "string" || (shown !== "" && !shown.startsWith(prefix))) return undefined;
  return {
    ...status,
    driverInfo: status["driverInfo"] ?? {},
    applicationState: { ...state, state: state["state"] ?? "", errorMessage: `${prefix}${message}` },
  };
};

/** Phases that only a change of the object ends. */
const ends: ReadonlySet<Phase> = new Set(["COMPLETED", "FAILED"]);

/** Returns the update, or undefined before the first phase. */
export const statusUpdate = ({ memory: { state, attempt } }: Plan<Memory>): StateUpdate | undefined => {
  if (state.phase === "") return undefined;
  const message = "error" in state ? { message: state.error } : {};
  return { state: state.phase, attempt, terminal: ends.has(state.phase), ...message };
};

/**
 * The pods may come from a watch while the application is new or its driver is followed: a watch shows the changes of pods in
 * their order, so with a state of the driver it has shown all that happened before, and an end is final.
 */
const watched = (key: Key, { object, memory }: Watching<Memory>): readonly Looking[] => {
  const isNew = memory === undefined && object?.status === undefined;
  return isNew || (memory !== undefined && acts[memory.state.phase] === "follow") ? [podsOf(key)] : [];
};

/** The operator of SparkApplications under the given settings. */
export const sparkApplication = (settings: Settings): Operator<Memory> => ({
  ...sparkApplicationWatcher,
  parse: parseMemory,
  decide: (key, view) => decide(settings, key, view),
  statusUpdate,
  recovery: { ...recovery, logOf: (pod) => logOf(settings.options, pod) },
  keepsSpecs: true,
  watched,
  heldUp,
  measuresOf,
  measuresOfSave,
});

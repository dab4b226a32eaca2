/**
 * The decision of one Job step: the policy events, the one action that they lead to, and its plan; and the Job as the
 * engine knows it: what to watch, how to read its memory. Pure.
 */
import { all, type Decision, get, list, type Reads, settled } from "../../core/decision.ts";
import { fieldsOf, isRecord, omit } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { refTo, type Stored } from "../../core/object.ts";
import type { Operator, Watching } from "../../core/operator.ts";
import {
  type Effect,
  type Looking,
  type OwnedObjects,
  onLiveReads,
  type Plan,
  type Rebuilt,
  type Recovery,
  type Remains,
  type View,
} from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until } from "../../core/waiting-on.ts";
import { evictedKey } from "../../kube/gang-eviction.ts";
import { scheduledByKey } from "../../kube/gang-plan.ts";
import { isEnding, ownedBy, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import { commandsIn, leftover, ordersFor } from "../command/order.ts";
import { measuresOfJob } from "../metrics.ts";
import { pluginProblems } from "../plugins/all.ts";
import type { Priorities } from "../podgroup/group.ts";
import { claimName } from "../pods/names.ts";
import { foundedFor } from "../queue/watches.ts";
import { component, jobs, keys, type Phase, queues } from "../schema/resource.ts";
import { type JobSpec, tasksOf, type Volume } from "../schema/spec.ts";
import { specIn } from "../validation/parse.ts";
import { annotationPoliciesOf } from "./annotations.ts";
import { applyAction, endsAll, type SelectedAction } from "./apply-action.ts";
import { got, groupAgain, groupsOf, type JobContext, ownerOf, podsOf } from "./context.ts";
import { isPodDenial, withDenials } from "./denied-pods.ts";
import { eventsToRecord, longestMessage, troubleWord } from "./events.ts";
import { isFinished, moveFor } from "./machine.ts";
import { enterPhase, type Memory, parseMemory, salvageMemory, seeded, shownPhase } from "./memory.ts";
import { awaiting, withObservedPods } from "./observed-pods.ts";
import { readPriorities } from "./owned-objects.ts";
import { heldPlan, invalid, payingPlan, planOf, refusedPlan } from "./plan.ts";
import { againOf, type Member, membersOf } from "./pods.ts";
import { admittedPart, readQuota } from "./quota.ts";
import { isToEnd, selectAction } from "./select-action.ts";
import { jobWatcher } from "./watches.ts";

const waitsFor: Startup["waitsFor"] = (why, besides = until("its pods", "started"), { pod }) => ({
  on: "podStart",
  pod: `pod ${pod}`,
  why,
  besides,
});

/** Adds to the plan what the job's pods wait for. Gated pods wait for their group and are skipped. */
const startingUp = ({ view, object, members, memory }: JobContext, plan: Plan<Memory>): Decision<Memory> => {
  const pods = members.filter(({ version }) => version === memory.version).map(({ pod }) => pod);
  const startup = { object, resource: jobs, run: memory.version, role: "task", pods: settled(pods), waitsFor };
  return withStartup(view, startup, plan);
};

/** Returns the spec with a name for each claim that the job creates. */
const claimed = (spec: JobSpec, key: Key, uid: string): JobSpec => {
  if (spec.volumes === undefined) return spec;
  const owner = { name: key.name, namespace: key.namespace, uid };
  const named = (volume: Volume, at: number): Volume =>
    volume.volumeClaim !== undefined && (volume.volumeClaimName ?? "") === ""
      ? { ...volume, volumeClaimName: claimName(owner, at) }
      : volume;
  return { ...spec, volumes: spec.volumes.map(named) };
};

const lacksNames = ({ volumes = [] }: JobSpec): boolean =>
  volumes.some(({ volumeClaim, volumeClaimName = "" }) => volumeClaim !== undefined && volumeClaimName === "");

/**
 * Returns the patch that upstream applies to the job before it creates anything: the names of its claims, and the
 * annotation of a queue that sends the pods to other clusters. Undefined if the job has both.
 */
const lacking = ({ object, spec, memory }: JobContext, stored: JobSpec): Json | undefined => {
  const names = lacksNames(stored) ? { spec: { volumes: spec.volumes } } : {};
  const shown = object.metadata.annotations?.[keys.forwarding] === "true";
  const forwarding = memory.forwarding && !shown ? { metadata: { annotations: { [keys.forwarding]: "true" } } } : {};
  const patch = { ...names, ...forwarding };
  return Object.keys(patch).length === 0 ? undefined : patch;
};

const writing = ({ object, memory }: JobContext, patch: Json): Plan<Memory> => {
  const { uid, resourceVersion } = object.metadata;
  const effect: Effect = { do: "patch", ref: refTo(jobs, object), uid, resourceVersion, patch };
  return { memory, stages: [[effect]], next: { do: "again" } };
};

const queueOf = (spec: Pick<JobSpec, "queue">): Looking => ({
  do: "get",
  ref: { resource: queues, name: spec.queue ?? "default" },
});

/**
 * Reads of the group. A job with a record has a group named after its UID, or a legacy one; a job without record and
 * status has none yet.
 */
const groupQueries = (key: Key, { uid, memory, object }: View<Memory>): readonly Looking[] => {
  const groups = groupsOf(key, uid);
  if (memory !== undefined) return memory.legacy === true ? groups : groups.slice(0, 1);
  return shownPhase({ ...EMPTY, ...object }) === undefined ? [] : groups;
};

/** The objects that every step of a job reads. */
type JobReads = {
  readonly pods: readonly Stored[];
  readonly group: Stored | undefined;
  readonly commands: readonly Stored[];
  /** Undefined unless the job is Pending; empty if the queue does not exist. */
  readonly queue: readonly Stored[] | undefined;
  readonly priorities: Priorities;
};

/** Reads the queue of a Pending job: it may be missing, or send the job's pods to other clusters. */
function* readQueue(spec: JobSpec, { phase }: Memory): Reads<readonly Stored[] | undefined> {
  return phase === "Pending" ? yield* list(queueOf(spec)) : undefined;
}

function* readJob(key: Key, view: View<Memory>, spec: JobSpec, memory: Memory): Reads<JobReads> {
  const [[pods, groups, commands], queue, priorities] = yield* all([
    all([list(podsOf(key)), readGroups(key, view), list(commandsIn(key.namespace))]),
    readQueue(spec, memory),
    readPriorities(spec),
  ]);
  return { pods, group: groups.find((group) => ownedBy(group, view.uid)), commands, queue, priorities };
}

function* readGroups(key: Key, view: View<Memory>): Reads<readonly Stored[]> {
  return (yield* all(groupQueries(key, view).map(list))).flat();
}

const EMPTY: Stored = { apiVersion: "", kind: "", metadata: { name: "", uid: "", resourceVersion: "" } };

/** Remembers a group with the job's own name, so that later steps read it under that name. */
const namedAlike = ({ key, group }: JobContext): Pick<Memory, "legacy"> =>
  group?.metadata.name === key.name ? { legacy: true } : {};

/** True if the job's group has been marked since it was read: the end of an evicted pod is no event. */
function* isMarkedMeanwhile(context: JobContext): Reads<boolean> {
  const { group } = context;
  if (group?.metadata.annotations?.[scheduledByKey] === undefined) return false;
  const [found] = yield* list(groupAgain(context));
  return found?.metadata.annotations?.[evictedKey] !== group.metadata.annotations[evictedKey];
}

/** Reads the pod that the action rests on once more, as the first read may be stale; true if it is as expected. */
function* isConfirmed(context: JobContext, { witness, because }: SelectedAction): Reads<boolean> {
  if (witness === undefined) return true;
  if (because?.event === "PodEvicted" && (yield* isMarkedMeanwhile(context))) return false;
  const found = yield* get(got(context.key, pods, witness.name));
  const own = found !== undefined && ownedBy(found, ownerOf(context).uid) ? found : undefined;
  return own?.metadata.uid === witness.uid;
}

/** True if the job has ended and the status does not show it yet: its group is deleted in this step. */
const isNewEnd = ({ object }: JobContext, { phase }: Memory): boolean =>
  isFinished(phase) && shownPhase(object) !== phase;

/** Reads a missing group a second time before the step retires or deletes it: one negative answer is not enough. */
function* withGroupLeft(context: JobContext, choice: SelectedAction, after: Memory): Reads<JobContext> {
  if (context.group !== undefined) return context;
  if (!endsAll(moveFor(context.memory.phase, choice.action)) && !isNewEnd(context, after)) return context;
  const found = yield* list(groupAgain(context));
  return { ...context, group: found.find((group) => ownedBy(group, context.view.uid)) };
}

function* act(before: JobContext): Decision<Memory> {
  const isShown = shownPhase(before.object) === before.memory.phase;
  const choice = selectAction(before, isShown);
  if (!(yield* isConfirmed(before, choice)))
    return onLiveReads({ memory: before.memory, stages: [], next: { do: "wait", pollMs: 1_000 } });
  const after = applyAction(before, choice, isShown);
  const context = yield* withGroupLeft(before, choice, after);
  const { untold: _, ...memory } = context === before ? after : applyAction(context, choice, isShown);
  const next = { ...context, memory };
  const acted = choice.because !== undefined;
  const opens = acted || !isShown || memory.phase !== context.memory.phase;
  const outcome = {
    sure: !acted || choice.witness !== undefined,
    more: opens && selectAction(next, true).because !== undefined,
    settled: !acted,
    ...(choice.wakeAt === undefined ? {} : { wakeAt: choice.wakeAt }),
  };
  const debt = eventsToRecord(context, next, choice.laters);
  return debt.length > 0 ? payingPlan(next, outcome, debt) : yield* planOf(next, outcome);
}

/** Returns the policies of the annotations, and a warning for each annotation and plugin flag that is ignored. */
const policiesOf = (key: Key, object: Stored, spec: JobSpec): Pick<JobContext, "annotationPolicies" | "problems"> => {
  const { annotationPolicies, problems } = annotationPoliciesOf(object, spec);
  const unread = problems.map((message) => ({ reason: "RekindleAnnotationIgnored", message }));
  const ofPlugins = pluginProblems({ owner: ownerOf({ object, key }), tasks: tasksOf(spec) }, spec.plugins);
  return { annotationPolicies, problems: [...unread, ...ofPlugins] };
};

const forwards = (queue: Stored | undefined): boolean => {
  const { extendClusters } = fieldsOf(queue?.spec);
  return Array.isArray(extendClusters) && extendClusters.length > 0;
};

const withObserved = (bare: JobContext, forwarding: boolean): JobContext => ({
  ...bare,
  memory: { ...withObservedPods(bare), forwarding, ...namedAlike(bare) },
});

/** Decides one step of a Job. */
export function* decide(key: Key, view: View<Memory>): Decision<Memory> {
  const { object } = view;
  if (object === undefined || isEnding(object)) return yield* gone(key, view);
  const memory = view.memory ?? seeded(object, view.now);
  const read = specIn(object);
  if (!read.ok) return invalid({ object, memory, message: read.message, now: view.now });
  const { queue, ...there } = yield* readJob(key, view, read.spec, memory);
  const spec = claimed(read.spec, key, view.uid);
  const members = membersOf({ name: key.name, uid: view.uid }, there.pods);
  const again = againOf(members, memory);
  const orders = ordersFor(object, jobs, there.commands);
  const bare: JobContext = {
    key,
    view,
    object,
    spec,
    memory,
    members: members.filter((member) => !again.includes(member)),
    again,
    group: there.group,
    priorities: there.priorities,
    orders,
    ...policiesOf(key, object, spec),
  };
  const forwarding = queue === undefined ? memory.forwarding : forwards(queue[0]);
  const observed = withObserved(bare, forwarding);
  const quota = yield* readQuota(observed);
  const context = quota === undefined ? observed : { ...withObserved(admittedPart(bare, quota), forwarding), quota };
  const unwritten = lacking(context, read.spec);
  if (unwritten !== undefined && view.refused.length === 0) return writing(context, unwritten);
  if (queue?.length === 0 && !isToEnd(context)) return waiting(context, `queue ${read.spec.queue} is not found`);
  const denials = view.refused.filter(isPodDenial);
  const judged = view.refused.filter((refusal) => !isPodDenial(refusal));
  if (judged.length > 0) return refusedPlan(context, judged);
  const going = withDenials(context, denials);
  return awaiting(going, memory) ?? (yield* startingUp(going, yield* act(going)));
}

/**
 * Plans for a job that is gone or under deletion; the latter creates nothing. The job's objects are garbage collected;
 * its commands have no owner and are deleted.
 */
function* gone(key: Key, view: View<Memory>): Decision<Memory> {
  const memory = view.memory ?? seeded({ ...EMPTY, ...view.object }, view.now);
  if (view.object !== undefined) return { memory, stages: [], next: { do: "rest" } };
  return { memory, stages: [leftover(view.uid, yield* list(commandsIn(key.namespace)))], next: { do: "forget" } };
}

const waiting = (context: JobContext, message: string): Plan<Memory> =>
  heldPlan(context, { reason: "QueueNotFound", message }, { first: foundedFor(context.spec.queue) });

/** Pods and groups. The step that shows the job's end deletes the pods' shared objects; claims hold data, and stay. */
const ownedObjects = (key: Key, uid: string): OwnedObjects => ({
  queries: [podsOf(key), ...groupsOf(key, uid)],
  owners: [uid],
});

/** True for an unfinished pod. A finished one stays, as in a terminated job. */
const isLive = (object: Stored): boolean => !["Succeeded", "Failed"].includes(podStatus(object).phase ?? "");

const membersIn = ({ key, object, found: [pods = []] }: Remains): readonly Member[] =>
  membersOf({ name: key.name, uid: object.metadata.uid }, pods);

/** Takes unreadable fields from the status and the pods. If `seen` is unreadable, no missing pod is waited for. */
const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, now, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = seeded(object, now);
  const members = membersIn(remains);
  const version = Math.max(kept.version ?? 0, base.version, ...members.map((member) => member.version));
  const memory: Memory = {
    ...base,
    ...kept,
    phase: kept.phase ?? base.phase,
    since: kept.since ?? base.since,
    version,
    retryCount: Math.max(kept.retryCount ?? 0, base.retryCount),
    keeps: kept.keeps ?? base.keeps,
    conditions: kept.conditions ?? base.conditions,
    seen: kept.seen ?? {},
    failed: kept.failed ?? {},
    done: kept.done ?? {},
    leaving: kept.leaving ?? {},
    completed: kept.completed ?? [],
    exhausted: kept.exhausted ?? [],
    doomed: kept.doomed ?? [],
    delays: kept.delays ?? [],
    forwarding: kept.forwarding ?? base.forwarding,
  };
  return { memory, kept: Object.keys(kept), problems };
};

/** Phases from which the job starts anew as the next version. A job on its way to an end goes on to that end. */
const atWork: ReadonlySet<Memory["phase"]> = new Set(["Pending", "Running"]);

/**
 * Returns the memory in a cluster to which no pod came along. A finished job stays finished, with its done pods. A job
 * at work becomes the next version and spends no retry; its active time begins anew when it runs.
 */
const voided = (memory: Memory): Memory => {
  const remembered = omit(memory, "retired", "unknown", "kept", "commands", "dismissed");
  const bare = { ...remembered, seen: {}, failed: {}, leaving: {}, doomed: [] };
  if (isFinished(memory.phase)) return bare;
  const anew = { ...omit(bare, "activeSince", "hindered"), done: {}, completed: [], exhausted: [], delays: [] };
  if (!atWork.has(memory.phase)) return anew;
  return { ...anew, phase: "Pending", version: memory.version + 1 };
};

/** Terminates the job, which no command undoes, and cancels its delayed actions. */
const ended = (memory: Memory, now: number, message: string): Memory => {
  if (isFinished(memory.phase) && memory.phase !== "Aborted") return memory;
  const over = enterPhase({ ...memory, seen: {}, doomed: [], delays: [] }, "Terminated", now);
  return { ...over, why: { reason: "TerminateJob", message } };
};

/** Drops or shortens texts for people, and keeps the fields that steps decide by. */
const trimmed = (memory: Memory): Memory => {
  const { why, ...rest } = omit(memory, "untold", "hindered");
  return why === undefined ? rest : { ...rest, why: { ...why, message: why.message.slice(0, longestMessage / 4) } };
};

/**
 * Recovery of a Job: which objects it owns, which fields of a damaged memory are kept, and what its memory means in
 * another cluster. A version of its pods is never handed out twice: the highest version found counts.
 */
export const recovery: Recovery<Memory> = { ownedObjects, isLive, rebuild, voided, ended, trimmed };

/** Terminal phases. Aborted is not one: an aborted job may be resumed. */
const ends: ReadonlySet<Phase> = new Set(["Completed", "Terminated", "Failed"]);

const messageIn = ({ status, memory }: Plan<Memory>): string | undefined => {
  const state = status?.["state"];
  const message = isRecord(state) ? state["message"] : memory.why?.message;
  return typeof message === "string" && message !== "" ? message : undefined;
};

/** The status update that a plan for a Job causes: the phase, and the message of the status. */
export const statusUpdate = (plan: Plan<Memory>): StateUpdate => {
  const { phase, retryCount } = plan.memory;
  const message = messageIn(plan);
  return {
    ...{ state: phase, attempt: retryCount + 1, terminal: ends.has(phase) },
    ...(message === undefined ? {} : { message }),
  };
};

/** Returns the whole status with the given message in `state.message`, upstream's own field. */
const heldUp = (job: Stored, message: string, planned?: Json): Json => {
  const status = planned ?? fieldsOf(job.status);
  const state = isRecord(status["state"]) ? status["state"] : { phase: "Pending" };
  return { ...status, state: { ...state, message } };
};

/** Reads that a watch may answer: of what changes, each change is an event of the job. */
const watched = (key: Key, { object, uid }: Watching<Memory>): readonly Looking[] => {
  const { queue } = fieldsOf(object?.spec);
  return [
    podsOf(key),
    ...groupsOf(key, uid),
    commandsIn(key.namespace),
    queueOf(typeof queue === "string" ? { queue } : {}),
  ];
};

export const volcanoJob: Operator<Memory> = {
  ...jobWatcher,
  component,
  parse: parseMemory,
  watched,
  decide,
  statusUpdate,
  recovery,
  heldUp,
  troubleWord,
  measuresOf: measuresOfJob,
};

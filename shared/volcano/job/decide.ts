/** The decision of one Job step: the policy events, the one action that they lead to, and its plan. Pure. */

import { all, type Decision, get, list, type Reads, settled } from "../../core/decision.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Looking, Plan, View } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import { commandsIn, leftover, ordersFor } from "../command/order.ts";
import { misread } from "../plugins/all.ts";
import type { Priorities } from "../podgroup/group.ts";
import { claimName } from "../pods/names.ts";
import { foundedFor } from "../queue/watches.ts";
import { jobs, keys, queues } from "../schema/resource.ts";
import type { JobSpec, Volume } from "../schema/spec.ts";
import { specIn } from "../validation/parse.ts";
import { annotationPoliciesOf } from "./annotations.ts";
import { applyAction, endsAll, type SelectedAction } from "./apply-action.ts";
import { got, groupAgain, groupsOf, type JobContext, ownerOf, podsOf, refOf } from "./context.ts";
import { owed } from "./events.ts";
import { isFinished, moveFor } from "./machine.ts";
import { type Memory, seeded, shownPhase } from "./memory.ts";
import { awaiting, withObservedPods } from "./observed-pods.ts";
import { readPriorities } from "./owned-objects.ts";
import { held, invalid, payingPlan, planOf, refusedPlan } from "./plan.ts";
import { againOf, membersOf } from "./pods.ts";
import { isToEnd, selectAction } from "./select-action.ts";

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
  const effect: Effect = { do: "patch", ref: refOf(jobs, object), uid, resourceVersion, patch };
  return { memory, stages: [[effect]], next: { do: "again" } };
};

const queueOf = (spec: JobSpec): Looking => ({
  do: "get",
  ref: { resource: queues, name: spec.queue ?? "default" },
  known: true,
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

/** Reads the pod that the action rests on once more, as the first read may be stale; true if it is as expected. */
function* isConfirmed(context: JobContext, { witness, because }: SelectedAction): Reads<boolean> {
  if (witness === undefined) return true;
  // A failed pod stays failed: a cached read suffices if it is no older than the key's earlier reads.
  const firm = because?.event === "PodFailed" ? ({ known: "firm" } as const) : {};
  const found = yield* get({ ...got(context.key, pods, witness.name), ...firm });
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
    return { memory: before.memory, stages: [], next: { do: "wait", pollMs: 1_000 } };
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
  const debt = owed(context, next, choice.laters);
  return debt.length > 0 ? payingPlan(next, outcome, debt) : yield* planOf(next, outcome);
}

/** Returns the policies of the annotations, and a warning for each annotation and plugin flag that is ignored. */
const policiesOf = (object: Stored, spec: JobSpec): Pick<JobContext, "wishes" | "problems"> => {
  const { wishes, problems } = annotationPoliciesOf(object, spec);
  const unread = problems.map((message) => ({ reason: "RekindleAnnotationIgnored", message }));
  const unknown = misread(spec.plugins).map((message) => ({ reason: "PluginFlagIgnored", message }));
  return { wishes, problems: [...unread, ...unknown] };
};

const forwards = (queue: Stored | undefined): boolean => {
  const { extendClusters } = fieldsOf(queue?.["spec"]);
  return Array.isArray(extendClusters) && extendClusters.length > 0;
};

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
    ...policiesOf(object, spec),
  };
  const forwarding = queue === undefined ? memory.forwarding : forwards(queue[0]);
  const context: JobContext = { ...bare, memory: { ...withObservedPods(bare), forwarding, ...namedAlike(bare) } };
  const unwritten = lacking(context, read.spec);
  if (unwritten !== undefined && view.refused.length === 0) return writing(context, unwritten);
  if (queue?.length === 0 && !isToEnd(context)) return waiting(context, `queue ${read.spec.queue} is not found`);
  if (view.refused.length > 0) return refusedPlan(context, view.refused);
  return awaiting(context, memory) ?? (yield* startingUp(context, yield* act(context)));
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
  held(context, { reason: "QueueNotFound", message }, { first: foundedFor(context.spec.queue) });

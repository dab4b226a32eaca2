/**
 * The decision of one step of a JobFlow, and the JobFlow as the engine knows it: what to watch, how to read its
 * memory, which updates to send, how to recover. A job is created from its template as soon as its dependencies are
 * met; its name derives from the template, so none is created twice whatever is lost. Pure.
 *
 * A job that was complete once is not created again. No job is deleted before `settledMs` have passed since its
 * creation: until then a slow invocation could still create it, and a deleted job would come again.
 */
import { all, type Decision, get, list, type Reads } from "../../core/decision.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import {
  type Effect,
  notYetRecorded,
  type OwnedObjects,
  type Plan,
  type Rebuilt,
  type Recovery,
  type Remains,
  type View,
} from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until, type WaitingOn, waitingText } from "../../core/waiting-on.ts";
import { createdAt } from "../../kube/history.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { isFinished, phaseOf, removal } from "../child-jobs.ts";
import { component, jobFlows, jobTemplates } from "../schema/resource.ts";
import type { Flow } from "../schema/workflows.ts";
import { creation, isProbe, probed, type Verdict } from "./job.ts";
import {
  isOver,
  type Memory,
  parseMemory,
  projected,
  salvageMemory,
  seeded,
  shownPhase,
  situationOf,
  table,
  withPhase,
} from "./memory.ts";
import { type Desired, jobName, jobsOf, readFlowSpec, targetsOf } from "./read.ts";
import { isRetried, retriesOf, withRetries } from "./retries.ts";
import { jobFlowWatcher } from "./watches.ts";

/** The settings of a deployment for all JobFlows: see engine/settings.ts. */
type Settings = { readonly settledMs: number };

type FlowContext = {
  readonly key: Key;
  readonly view: View<Memory>;
  readonly object: Stored;
  readonly memory: Memory;
  readonly desired: Desired;
  /** The flow's own jobs by name. */
  readonly made: ReadonlyMap<string, Stored>;
  readonly settings: Settings;
};

const pollMs = 15_000;
/** Probes are repeated as often as a kubelet does by default. */
const probeMs = 10_000;
const slowPollMs = 60_000;

const flowEvent = (about: Stored, reason: string, message: string, type: "Normal" | "Warning" = "Warning"): Effect => ({
  ...{ do: "record", about, resource: jobFlows },
  ...{ occasion: message, type, reason, message },
});

/** Notes the phases of the jobs, and which of them are complete. */
const observed = (memory: Memory, made: FlowContext["made"], now: number): Memory => {
  const complete = [...made.values()]
    .filter((job) => phaseOf(job) === "Completed")
    .map(({ metadata }) => metadata.name);
  const noting = [...made].map(([name, job]) => [name, withPhase(memory.histories[name], phaseOf(job), now)] as const);
  return {
    ...memory,
    completed: [...new Set([...memory.completed, ...complete])],
    histories: { ...memory.histories, ...Object.fromEntries(noting) },
  };
};

/** The reason why a flow waits; with `pollMs` if another look soon may help. */
type Waiting = { readonly why: WaitingOn; readonly pollMs?: number };

type Chance = { readonly create: Effect } | Waiting;

const nameOf = ({ object }: FlowContext, flow: string): string => jobName(object.metadata.name, flow);

const isDone = (context: FlowContext, target: string): boolean =>
  context.memory.completed.includes(nameOf(context, target));

/** Met if all dependencies are complete, or if all of them exist and pass the probe. */
function* dependencies(context: FlowContext, flow: Flow): Reads<Verdict> {
  const open = targetsOf(flow).filter((target) => !isDone(context, target));
  const [first] = open;
  if (first === undefined) return { met: true };
  const probe = flow.dependsOn?.probe;
  if (!isProbe(probe)) return { met: false, why: until(nameOf(context, first), "complete") };
  if (open.some((target) => !context.made.has(nameOf(context, target))))
    return { met: false, why: until(nameOf(context, first), "there") };
  const jobsOfAll = targetsOf(flow).map((target) => context.made.get(nameOf(context, target)));
  return yield* probed(jobsOfAll, probe);
}

const isProbed = (flow: Flow): boolean => isProbe(flow.dependsOn?.probe);

/** Returns the creation of a flow's job, or the reason why it must wait. */
function* chanceOf(context: FlowContext, flow: Flow): Reads<Chance> {
  const { key, object } = context;
  const verdict = yield* dependencies(context, flow);
  if (!verdict.met) return { why: verdict.why, ...(isProbed(flow) ? { pollMs: probeMs } : {}) };
  const ref = { resource: jobTemplates, namespace: key.namespace, name: flow.name };
  const template = yield* get({ do: "get", ref });
  if (template === undefined)
    return { why: until(`JobTemplate ${flow.name}`, "existing", `create it in namespace ${key.namespace}`), pollMs };
  return { create: creation(object, flow, template) };
}

const missing = ({ desired, made, memory, object }: FlowContext): readonly Flow[] =>
  desired.flows.filter(({ name }) => {
    const job = jobName(object.metadata.name, name);
    return !made.has(job) && !memory.completed.includes(job);
  });

/**
 * Returns the Events about created jobs when the jobs are seen. They are recorded before the memory notes the jobs:
 * after a death in between, the next step records the same Events.
 */
const created = ({ object, memory, made }: Pick<FlowContext, "object" | "memory" | "made">): readonly Effect[] =>
  [...made.keys()]
    .filter((name) => memory.histories[name] === undefined)
    .map((name) => flowEvent(object, "Created", `create a job named ${name}!`, "Normal"));

/** Returns the memory with the next phase, by the phases of all jobs but those that are created again. */
const moved = ({ memory, made, desired, object }: FlowContext): Memory => {
  const phases = [...made.values()].filter((job) => !isRetried(memory, job)).map(phaseOf);
  const count = (...wanted: readonly string[]): number => phases.filter((phase) => wanted.includes(phase)).length;
  const complete = desired.flows.filter(({ name }) => memory.completed.includes(jobName(object.metadata.name, name)));
  const situation = situationOf({
    failed: count("Failed", "Terminated"),
    running: count("Running"),
    complete: complete.length,
    all: desired.flows.length,
  });
  return { ...memory, phase: table[memory.phase][situation] };
};

type Warning = { readonly warned: string | undefined; readonly events: readonly Effect[] };

/** Reports once what a user must correct: a JobFlow's status has no field for it. */
const warning = ({ object, memory }: FlowContext, reason: string, message: string | undefined): Warning => ({
  warned: message,
  events:
    message === undefined || message === memory.warned ? [] : [flowEvent(object, reason, message.slice(0, 1_000))],
});

/** The instant from which a job may be deleted, epoch ms. */
const dueOf = ({ settings }: Pick<FlowContext, "settings">, job: Stored): number => createdAt(job) + settings.settledMs;

type Retrying = Pick<Warning, "events"> & { readonly removals: readonly Effect[]; readonly wakes: readonly number[] };

/** Deletes the failed jobs that are created again, as soon as they may be. */
const retrying = (context: FlowContext): Retrying => {
  const { memory, made, object, view } = context;
  const failed = [...made.values()].filter((job) => isRetried(memory, job) && !isEnding(job));
  const due = failed.filter((job) => dueOf(context, job) <= view.now);
  return {
    events: due.map(({ metadata: { name } }) =>
      flowEvent(object, "JobRetried", `job ${name} has failed: retry ${memory.retries?.[name]?.count}`),
    ),
    removals: due.map(removal),
    wakes: failed.map((job) => dueOf(context, job)).filter((at) => at > view.now),
  };
};

const isMendable = ({ why }: Waiting): boolean => why.on === "mistake" || (why.on === "state" && why.is === "existing");

const mendable = (waiting: readonly Waiting[]): string | undefined => {
  const first = waiting.find(isMendable);
  return first === undefined ? undefined : waitingText(first.why);
};

const remembering = ({ warned: _, ...memory }: Memory, warned: string | undefined): Memory =>
  warned === undefined ? memory : { ...memory, warned };

function* go(context: FlowContext): Decision<Memory> {
  const { object } = context;
  const memory = moved(context);
  const open = isOver(memory.phase) ? [] : missing(context);
  const chances = yield* all(open.map((flow) => chanceOf(context, flow)));
  const creates = chances.flatMap((chance) => ("create" in chance ? [chance.create] : []));
  const waiting = chances.flatMap((chance) => ("why" in chance ? [chance] : []));
  const polls = waiting.flatMap((one) => one.pollMs ?? []);
  const news = memory.phase !== shownPhase(object) || creates.length > 0;
  const { problem } = retriesOf(object);
  const { warned, events } =
    problem === undefined
      ? warning(context, "WaitingForDependency", mendable(waiting))
      : warning(context, "RekindleAnnotationIgnored", problem);
  const none: Retrying = { events: [], removals: [], wakes: [] };
  const retries = isOver(memory.phase) ? none : retrying(context);
  const stages = [[...events, ...retries.events], retries.removals, creates];
  return {
    // A creation that was refused before may be refused again.
    memory: remembering(memory, warned ?? (creates.length > 0 ? memory.warned : undefined)),
    stages: stages.filter((stage) => stage.length > 0),
    status: projected(object, memory, [...context.made.values()]),
    next: {
      do: news ? "again" : "wait",
      waitsFor: waiting[0]?.why ?? until("its jobs", "finished"),
      ...(polls.length > 0 ? { pollMs: Math.min(...polls) } : {}),
      ...(retries.wakes.length > 0 ? { wakeAt: Math.min(...retries.wakes) } : {}),
    },
  };
}

/** Plans a flow whose status shows its end: its jobs stay, or are deleted as soon as they may be. */
const afterEnd = ({ memory, desired, made, view, settings }: FlowContext): Plan<Memory> => {
  const left = memory.phase === "Succeed" && desired.deletes ? [...made.values()] : [];
  if (left.length === 0) return { memory, stages: [], next: { do: "rest" } };
  const due = (job: Stored): number => dueOf({ settings }, job);
  const removals = left.filter((job) => due(job) <= view.now && !isEnding(job)).map(removal);
  const later = Math.min(...left.map(due).filter((at) => at > view.now));
  return {
    memory,
    stages: removals.length > 0 ? [removals] : [],
    next: {
      do: "wait",
      waitsFor: until("its jobs", "deleted"),
      pollMs,
      ...(Number.isFinite(later) ? { wakeAt: later } : {}),
    },
  };
};

/** Creates and deletes nothing while the spec is invalid. */
const invalid = (object: Stored, memory: Memory, message: string): Plan<Memory> => ({
  memory,
  stages: [[flowEvent(object, "InvalidSpec", message.slice(0, 1_000))]],
  status: { ...fieldsOf(object.status), state: { phase: memory.phase } },
  next: { do: "rest", waitsFor: until("its spec", "corrected", message) },
});

/** Retries a refused creation later: the template may be corrected. */
const refused = (context: FlowContext, message: string): Plan<Memory> => {
  const { warned, events } = warning(context, "FailedCreate", message);
  return {
    memory: remembering(context.memory, warned),
    stages: events.length > 0 ? [events] : [],
    status: projected(context.object, context.memory, [...context.made.values()]),
    next: { do: "wait", pollMs: slowPollMs, waitsFor: until("its job", "accepted", message) },
  };
};

/** Decides one step of a JobFlow. Its jobs are owned by it and garbage collected with it. */
function* decide(settings: Settings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object, now } = view;
  const nothing: Memory = { phase: "Pending", completed: [], histories: {} };
  if (object === undefined) return { memory: view.memory ?? nothing, stages: [], next: { do: "forget" } };
  const before = view.memory ?? seeded(object);
  if (isEnding(object)) return { memory: before, stages: [], next: { do: "rest" } };
  const read = readFlowSpec(object);
  if (!read.ok) return invalid(object, before, read.message);
  const jobs = yield* list(jobsOf(key));
  const own = jobs.filter((job) => ownedBy(job, view.uid));
  const made = new Map(own.map((job) => [job.metadata.name, job]));
  const news = notYetRecorded(view, created({ object, memory: before, made }));
  if (news.length > 0) return { memory: before, stages: [news], next: { do: "continue" } };
  const over = isOver(before.phase) && shownPhase(object) === before.phase;
  const memory = over ? before : withRetries(observed(before, made, now), own, retriesOf(object).most);
  const context: FlowContext = { key, view, object, memory, desired: read.desired, made, settings };
  if (over) return afterEnd(context);
  const [refusal] = view.refused;
  return refusal === undefined ? yield* go(context) : refused(context, refusal.message);
}

const ownedObjects = (key: Key, uid: string): OwnedObjects => ({ queries: [jobsOf(key)], owners: [uid] });

/** Returns the names of the flow's existing jobs that are complete. */
const completeIn = ({ object, found: [all = []] }: Remains): readonly string[] =>
  all
    .filter((job) => ownedBy(job, object.metadata.uid) && phaseOf(job) === "Completed")
    .map(({ metadata }) => metadata.name);

const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { kept, problems } = salvageMemory(remains.stored);
  const base = seeded(remains.object);
  const known = [...(kept.completed ?? []), ...base.completed, ...completeIn(remains)];
  const memory: Memory = {
    ...kept,
    phase: kept.phase ?? base.phase,
    completed: [...new Set(known)],
    histories: kept.histories ?? base.histories,
  };
  return { memory, kept: Object.keys(kept), problems };
};

/** A complete job stays complete; the others did not come along and are created anew. */
const voided = ({ warned: _, ...memory }: Memory): Memory => {
  if (isOver(memory.phase)) return memory;
  const done = Object.entries(memory.histories).filter(([name]) => memory.completed.includes(name));
  return { ...memory, histories: Object.fromEntries(done) };
};

const ended = (memory: Memory, _: number, message: string): Memory =>
  isOver(memory.phase) ? memory : { ...memory, phase: "Failed", warned: message };

/** Keeps the latest phase of each job. */
const trimmed = ({ histories, ...memory }: Memory): Memory => ({
  ...memory,
  histories: Object.fromEntries(Object.entries(histories).map(([name, history]) => [name, history.slice(-1)])),
});

/** Recovery of a JobFlow: its jobs' names derive from its templates, so none is created twice whatever is lost. */
export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: (job) => !isFinished(job),
  rebuild,
  voided,
  ended,
  trimmed,
};

/** The status update that a plan for a JobFlow causes: its phase, or InvalidSpec. Its jobs have their own. */
export const statusUpdate = ({ memory: { phase, warned } }: Plan<Memory>, object: Stored): StateUpdate => {
  const over = isOver(phase);
  const read = readFlowSpec(object);
  if (!over && !read.ok) return { state: "InvalidSpec", attempt: 0, terminal: false, message: read.message };
  return { state: phase, attempt: 0, terminal: over, ...(warned === undefined ? {} : { message: warned }) };
};

/** The operator of JobFlows under the given settings. */
export const volcanoJobFlow = (settings: Settings): Operator<Memory> => ({
  ...jobFlowWatcher,
  component,
  parse: parseMemory,
  statusUpdate,
  recovery,
  decide: (key, view) => decide(settings, key, view),
  heldUp: (_object, _message, planned) => planned,
});

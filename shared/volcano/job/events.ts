/**
 * The Events of a job, with upstream's reasons and, as far as possible, its messages. The name of each derives from its
 * occasion, so repeating one creates nothing.
 */

import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import {
  type Doing,
  type Effect,
  kindOf,
  notYetRecorded,
  type Plan,
  type Refusal,
  type Trouble,
} from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { workloads } from "../../kube/kueue.ts";
import { requestFailed } from "../../kube/kueue-workload.ts";
import { claims, pods } from "../../kube/resources.ts";
import { orderWord, takenOrders } from "../command/order.ts";
import { type Action, isAction, jobs, podGroups } from "../schema/resource.ts";
import { durationText } from "../schema/spec.ts";
import { isKept, type JobContext, type ReasonMessage } from "./context.ts";
import { commandActions } from "./machine.ts";
import { type Memory, type PendingEvent, stateShown } from "./memory.ts";

/** The most characters of an event's message: a little less than the API server accepts. */
export const longestMessage = 1_000;

type Wording = { readonly reason: string; readonly lead: string };

const ofClaims: Wording = { reason: "PVCError", lead: "Failed to create PVC, err" };

const wordings: Readonly<Record<string, Wording>> = {
  [pods.kind]: { reason: "FailedCreate", lead: "Error creating pods" },
  [podGroups.kind]: { reason: "PodGroupError", lead: "Failed to create PodGroup, err" },
  [claims.kind]: ofClaims,
  [jobs.kind]: { reason: "JobUpdateError", lead: "Failed to update job, err" },
  [workloads.kind]: {
    reason: "KueueError",
    lead: requestFailed,
  },
};

const deletions: typeof wordings = {
  [pods.kind]: { reason: "FailedDelete", lead: "Error deleting pods" },
};

const ofStatus: Wording = { reason: "JobStatusError", lead: "Failed to update job status, err" };

const ofPlugins: Wording = { reason: "PluginError", lead: "Execute plugin when job add failed, err" };

const wordingOf = ({ do: what, kind }: Doing): Wording | undefined => {
  if (what === "status") return ofStatus;
  if (what === "delete") return deletions[kind];
  return what === "record" ? undefined : (wordings[kind] ?? ofPlugins);
};

const said = ({ reason, lead }: Wording, message: string): ReasonMessage => ({
  reason,
  message: `${lead}: ${message}`.slice(0, longestMessage),
});

/** True for a patch of the job that names its claims; upstream reports it as their creation. */
const namesClaims = (effect: Effect): boolean =>
  effect.do === "patch" && effect.ref.resource === jobs && Object.hasOwn(effect.patch, "spec");

/** Returns reason and message of a refusal, by the object that was refused. */
export const refusalWord = ([first]: readonly Refusal[]): ReasonMessage => {
  if (first !== undefined && namesClaims(first.effect)) return said(ofClaims, first.message);
  const wording = first === undefined ? undefined : wordings[kindOf(first.effect)];
  return said(wording ?? ofPlugins, first?.message ?? "");
};

/** Returns reason and message of lasting trouble, by the failed operation; undefined: the server's message is used. */
export const troubleWord = ({ doing, message }: Trouble): ReasonMessage | undefined => {
  const wording = doing === undefined ? undefined : wordingOf(doing);
  return wording === undefined ? undefined : said(wording, message);
};

/** Returns the effect that records an Event. */
const eventOf = (about: Stored, { occasion, type, reason, message }: PendingEvent): Effect =>
  jobEvent(about, occasion, { reason, message }, type);

export const jobEvent = (
  about: Stored,
  occasion: string,
  word: ReasonMessage,
  type: "Normal" | "Warning" = "Warning",
): Effect => ({
  do: "record",
  about,
  resource: jobs,
  occasion,
  type,
  ...word,
});

/** A delayed action. `dueAt` in epoch ms. */
export type Later = { readonly action: Action; readonly delayMs: number; readonly dueAt: number };

/** Returns the Event of the last action until the status shows it; `covered`: the status has another message. */
const actionIn = ({ object, memory }: JobContext, covered: boolean): readonly PendingEvent[] => {
  const { why, phase, version, retryCount, since } = memory;
  if (why === undefined || !isAction(why.reason)) return [];
  const shown = stateShown(object);
  if (shown.phase === phase && (covered || `${shown.message}; `.startsWith(`${why.message}; `))) return [];
  const occasion = `${phase} ${version} ${retryCount} ${since} ${why.reason} ${why.message}`;
  const message = `Start to execute action ${why.reason} (${why.message})`;
  return [{ occasion, type: "Normal", reason: "ExecuteAction", message }];
};

export const actionEvents = (context: JobContext, covered: boolean): readonly Effect[] =>
  actionIn(context, covered).map((one) => eventOf(context.object, one));

/** Returns the state's reason and message when nothing hinders it: its cause, and ignored annotations and flags. */
export const stateWord = ({ memory: { why }, problems }: JobContext): ReasonMessage | undefined => {
  const words = [...(why === undefined ? [] : [why]), ...problems];
  const [first] = words;
  return first && { reason: first.reason, message: words.map(({ message }) => message).join("; ") };
};

/** Events for ignored annotations and flags, until the status message contains them. */
export const problemEvents = ({ object, problems }: JobContext): readonly Effect[] =>
  problems
    .filter(({ message }) => !stateShown(object).message.includes(message))
    .map((problem) => jobEvent(object, problem.message, problem));

/** Events for actions that wait from this step on; one for each action and instant, as upstream's recorder has it. */
const latersIn = (laters: readonly Later[]): readonly PendingEvent[] => {
  const distinct = new Map(laters.map((later) => [`later ${later.action} ${later.dueAt}`, later]));
  return [...distinct].map(([occasion, { action, delayMs }]) => {
    const message = `Execute action ${action} after ${durationText(delayMs)}`;
    return { occasion, type: "Normal", reason: "ExecuteAction", message };
  });
};

/** Events for taken commands, until their objects are deleted. */
export const commandEvents = ({ object, orders, memory: { commands } }: JobContext): readonly Effect[] =>
  takenOrders(orders, commands).map((order) => {
    const { type, ...word } = orderWord(order, commandActions);
    return jobEvent(object, `command ${order.uid}`, word, type);
  });

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().catch(""),
  message: z.string().catch(""),
  lastTransitionTime: z.string().catch(""),
});

const conditionsIn = (group: Stored): readonly z.infer<typeof condition>[] => {
  const { conditions } = fieldsOf(group.status);
  return Array.isArray(conditions) ? conditions.flatMap((one) => condition.safeParse(one).data ?? []) : [];
};

/** Returns the newest true condition of the group, unless it is Scheduled: why the group does not start. */
const hindranceIn = ({ group, memory }: JobContext) => {
  if (group === undefined || group.metadata.uid === memory.retired) return undefined;
  const [newest] = conditionsIn(group)
    .filter(({ status }) => status === "True")
    .sort((a, b) => (instantOf(b.lastTransitionTime) ?? 0) - (instantOf(a.lastTransitionTime) ?? 0));
  return newest === undefined || newest.type === "Scheduled" ? undefined : newest;
};

/** Returns an identity of the hindrance without its message, because the message counts pods and changes with each. */
export const hindranceId = (context: JobContext): string | undefined => {
  const hindrance = isKept(context) ? hindranceIn(context) : undefined;
  return hindrance === undefined ? undefined : `${context.group?.metadata.uid} ${hindrance.type} ${hindrance.reason}`;
};

/** Returns the Event of a hindrance that the previous step did not know. */
const newHindrance = (context: JobContext): readonly PendingEvent[] => {
  const { object, view, memory } = context;
  const hindrance = hindranceIn(context);
  if (hindrance === undefined || memory.hindered === undefined || memory.hindered === view.memory?.hindered) return [];
  const { name, namespace = "" } = object.metadata;
  const message = `PodGroup ${namespace}:${name} ${hindrance.type.toLowerCase()}, reason: ${hindrance.message}`;
  const words = { reason: "PodGroupPending", message: message.slice(0, longestMessage) };
  return [{ occasion: `hindered ${memory.hindered}`, type: "Warning", ...words }];
};

/** Returns the Event of an action whose phase ends before the status has shown it. */
const leftUnshown = (before: JobContext, { memory }: JobContext): readonly PendingEvent[] =>
  before.memory.why === memory.why ? [] : actionIn(before, false);

/**
 * Returns the Events that are owed: new ones, and those of an earlier step that may have died before it recorded them.
 * Events that this step has recorded are left out.
 */
export const eventsToRecord = (
  before: JobContext,
  after: JobContext,
  laters: readonly Later[] = [],
): readonly PendingEvent[] =>
  [...(before.memory.untold ?? []), ...leftUnshown(before, after), ...latersIn(laters), ...newHindrance(after)].filter(
    (one) => notYetRecorded(after.view, [eventOf(after.object, one)]).length > 0,
  );

/** Saves all owed Events, and records them before any other effect: after a death, the next step does. */
export const toldFirst = (
  { object, memory }: JobContext,
  debt: readonly PendingEvent[],
): Pick<Plan<Memory>, "memory" | "stages"> => ({
  memory: { ...memory, untold: [...debt] },
  stages: [debt.map((one) => eventOf(object, one))],
});

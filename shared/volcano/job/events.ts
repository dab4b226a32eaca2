/**
 * What is told of a job as events: in upstream's reasons, and its words as far as they go. Each has a name made of what it
 * is about, so that a repeat is none.
 */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import type { Effect, Plan } from "../../core/plan.ts";
import { untold } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { orderWord, takenOrders } from "../command/order.ts";
import { jobs } from "../resource.ts";
import { durationText } from "../schema/duration.ts";
import type { Action } from "../schema/words.ts";
import type { Word } from "./context.ts";
import { isKept, type JobContext } from "./context.ts";
import { longestMessage } from "./error-texts.ts";
import { commandActions } from "./machine.ts";
import { type Memory, stateShown, type Untold } from "./memory.ts";

/** An event of what has happened. */
const eventOf = (about: Stored, { occasion, type, reason, message }: Untold): Effect =>
  told(about, occasion, { reason, message }, type);

export const told = (about: Stored, occasion: string, word: Word, type: "Normal" | "Warning" = "Warning"): Effect => ({
  do: "record",
  about,
  resource: jobs,
  occasion,
  type,
  ...word,
});

/** An action that is not to be taken yet. `dueAt` in epoch ms. */
export type Later = { readonly action: Action; readonly delayMs: number; readonly dueAt: number };

/** The action that was taken last, as long as the status does not show it; `covered`: it has something else to say. */
const actionIn = ({ object, memory }: JobContext, covered: boolean): readonly Untold[] => {
  const { why, phase, version, retryCount, since } = memory;
  if (why === undefined) return [];
  const shown = stateShown(object);
  if (shown.phase === phase && (covered || `${shown.message}; `.startsWith(`${why.message}; `))) return [];
  const occasion = `${phase} ${version} ${retryCount} ${since} ${why.reason} ${why.message}`;
  const message = `Start to execute action ${why.reason} (${why.message})`;
  return [{ occasion, type: "Normal", reason: "ExecuteAction", message }];
};

export const actionTold = (scene: JobContext, covered: boolean): readonly Effect[] =>
  actionIn(scene, covered).map((one) => eventOf(scene.object, one));

/** What the state says where nothing is in its way: what led to it, and which annotations and flags are passed over. */
export const stateWord = ({ memory: { why }, problems }: JobContext): Word | undefined => {
  const words = [...(why === undefined ? [] : [why]), ...problems];
  const [first] = words;
  return first && { reason: first.reason, message: words.map(({ message }) => message).join("; ") };
};

/** Annotations and flags that are passed over, told until the status says so. */
export const problemsTold = ({ object, problems }: JobContext): readonly Effect[] =>
  problems
    .filter(({ message }) => !stateShown(object).message.includes(message))
    .map((problem) => told(object, problem.message, problem));

/** Actions that wait from this step on; those of one moment are one event, as upstream's recorder makes one of them. */
const latersIn = (laters: readonly Later[]): readonly Untold[] => {
  const distinct = new Map(laters.map((later) => [`later ${later.action} ${later.dueAt}`, later]));
  return [...distinct].map(([occasion, { action, delayMs }]) => {
    const message = `Execute action ${action} after ${durationText(delayMs)}`;
    return { occasion, type: "Normal", reason: "ExecuteAction", message };
  });
};

/** What was ordered, told until its object goes. */
export const ordersTold = ({ object, orders, memory: { commands } }: JobContext): readonly Effect[] =>
  takenOrders(orders, commands).map((order) => {
    const { type, ...word } = orderWord(order, commandActions);
    return told(object, `command ${order.uid}`, word, type);
  });

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().catch(""),
  message: z.string().catch(""),
  lastTransitionTime: z.string().catch(""),
});

const conditionsIn = (group: Stored): readonly z.infer<typeof condition>[] => {
  const { conditions } = Object(group["status"] ?? {});
  return Array.isArray(conditions) ? conditions.flatMap((one) => condition.safeParse(one).data ?? []) : [];
};

/** What the scheduler says is in the way of the job's group: its newest word that holds, where that is no good one. */
const hindranceIn = ({ group, memory }: JobContext) => {
  if (group === undefined || group.metadata.uid === memory.retired) return undefined;
  const [newest] = conditionsIn(group)
    .filter(({ status }) => status === "True")
    .sort((a, b) => (instantOf(b.lastTransitionTime) ?? 0) - (instantOf(a.lastTransitionTime) ?? 0));
  return newest === undefined || newest.type === "Scheduled" ? undefined : newest;
};

/** By what a hindrance is known again: its words count pods, and would be new with every one of them. */
export const hindranceId = (scene: JobContext): string | undefined => {
  const hindrance = isKept(scene) ? hindranceIn(scene) : undefined;
  return hindrance === undefined ? undefined : `${scene.group?.metadata.uid} ${hindrance.type} ${hindrance.reason}`;
};

/** What hinders the group, when it is another than the step before knew. */
const newHindrance = (scene: JobContext): readonly Untold[] => {
  const { object, view, memory } = scene;
  const hindrance = hindranceIn(scene);
  if (hindrance === undefined || memory.hindered === undefined || memory.hindered === view.memory?.hindered) return [];
  const { name, namespace = "" } = object.metadata;
  const message = `PodGroup ${namespace}:${name} ${hindrance.type.toLowerCase()}, reason: ${hindrance.message}`;
  const words = { reason: "PodGroupPending", message: message.slice(0, longestMessage) };
  return [{ occasion: `hindered ${memory.hindered}`, type: "Warning", ...words }];
};

/** What led into a state that is left before the status has shown it. */
const leftUnshown = (before: JobContext, { memory }: JobContext): readonly Untold[] =>
  before.memory.why === memory.why ? [] : actionIn(before, false);

/** What is new, and what an earlier step may have died before it told; as this step has not told it either. */
export const owed = (before: JobContext, after: JobContext, laters: readonly Later[] = []): readonly Untold[] =>
  [...(before.memory.untold ?? []), ...leftUnshown(before, after), ...latersIn(laters), ...newHindrance(after)].filter(
    (one) => untold(after.view, [eventOf(after.object, one)]).length > 0,
  );

/** All that is owed is saved first, and told before anything else is done: who dies in between leaves it to the next. */
export const toldFirst = (
  { object, memory }: JobContext,
  debt: readonly Untold[],
): Pick<Plan<Memory>, "memory" | "stages"> => ({
  memory: { ...memory, untold: [...debt] },
  stages: [debt.map((one) => eventOf(object, one))],
});

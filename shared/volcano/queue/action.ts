/** The change of a queue in one step: by a command, by its parent, or of itself. */
import type { Obj, Stored } from "../../core/object.ts";
import { type Order, orderWord } from "../command/order.ts";
import { isObeyed, refusalOf } from "../gang/settings.ts";
import type { QueueMemory } from "./state/memory.ts";
import {
  closedByParent,
  namedIn,
  parentOf,
  type QueueAction,
  queueActions,
  rootName,
  type State,
  shownState,
  specOf,
  stateAfter,
} from "./state/tree.ts";

export type QueueContext = {
  readonly object: Stored;
  readonly memory: QueueMemory;
  /** Every queue of the cluster. */
  readonly all: readonly Stored[];
  readonly orders: readonly Order[];
  /** Namespaces from which commands are accepted. */
  readonly commandNamespaces: readonly string[];
  /** PodGroups in the queue; counted only if the number matters. */
  readonly groups: number;
};

type Saying = {
  readonly occasion: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
};

export type Act = {
  readonly state: State;
  /** The commands that the step takes: one that is obeyed, or several that are refused. */
  readonly orders: readonly Order[];
  /** The parent's annotation is removed. */
  readonly unmarks: boolean;
  /** The queue names no parent: the step writes root as its parent. */
  readonly adopts: boolean;
  readonly events: readonly Saying[];
  /** Events that say why commands cannot be carried out. */
  readonly objections: readonly Saying[];
};

/** Returns why a command cannot change the queue; undefined if it can. */
const obstacle = ({ object, all }: QueueContext, action: string): string | undefined => {
  if (action === "CloseQueue" && object.metadata.name === rootName) return "the root queue cannot be closed";
  const parent = action === "OpenQueue" ? namedIn(all, parentOf(object)) : undefined;
  if (parent === undefined || shownState(parent) === "Open") return undefined;
  return `its parent ${parent.metadata.name} is ${shownState(parent)}: open that first`;
};

const isKnown = (action: string): action is QueueAction => queueActions.some((one) => one === action);

/** Returns the Event about a command that is not carried out. */
const objection = (context: QueueContext, order: Order): Saying | undefined => {
  const occasion = `command ${order.uid}`;
  if (!isObeyed(order, context.commandNamespaces)) {
    const message = refusalOf(order, context.commandNamespaces);
    return { occasion, type: "Warning", reason: "CommandRefused", message };
  }
  if (order.stale || !isKnown(order.action)) return { occasion, ...orderWord(order, queueActions) };
  const message = obstacle(context, order.action);
  return message === undefined ? undefined : { occasion, type: "Warning", reason: order.action, message };
};

/** Returns the action that the parent's annotation asks of a queue in this state. */
const inherited = (object: Obj, now: State): QueueAction => {
  const mark = object.metadata.annotations?.[closedByParent];
  if (mark === "true" && (now === "Open" || now === "Unknown")) return "CloseQueue";
  return mark === "false" && now !== "Open" ? "OpenQueue" : "SyncQueue";
};

/**
 * Returns the queue's resourceVersion when this state was decided on: in this step, or in one that may have died before
 * the status showed it.
 */
export const decidedAt = ({ object, memory }: Pick<QueueContext, "object" | "memory">, to: State): string =>
  (memory.wanted === to ? memory.decidedAt : undefined) ?? object.metadata.resourceVersion;

const movedWord = (from: State, to: State, since: string): readonly Saying[] => {
  if (from === to || (from === "Closing" && to === "Closed")) return [];
  const [reason, verb] = to === "Open" ? ["OpenQueue", "Open"] : ["CloseQueue", "Close"];
  return [{ occasion: `${to} ${since}`, type: "Normal", reason, message: `${verb} queue succeed` }];
};

/** Events about the decided states, until the status shows them. */
const succeeded = (context: QueueContext, now: State, to: State): readonly Saying[] => [
  ...movedWord(shownState(context.object), now, decidedAt(context, now)),
  ...movedWord(now, to, context.object.metadata.resourceVersion),
];

/** True if the parent's annotation is to be removed: it has been followed, or a command takes precedence. */
const unmarks = ({ object }: QueueContext, action: QueueAction, ordered: boolean, to: State): boolean => {
  const mark = object.metadata.annotations?.[closedByParent];
  if (mark === undefined) return false;
  return ordered ? action !== "SyncQueue" : mark === "false" && to === "Open";
};

/**
 * True if the status does not show the decided state yet. Until it does, nothing else is decided, so that a late status
 * write meets the same queue.
 */
export const isUnshown = ({ object, memory: { wanted } }: Pick<QueueContext, "object" | "memory">): boolean =>
  wanted !== undefined && wanted !== shownState(object);

/**
 * Decides the step; `orders`: the commands that it takes. A command that cannot be carried out is taken, and an Event says
 * why.
 */
export const actOf = (context: QueueContext, orders: readonly Order[]): Act => {
  const { object, memory, groups } = context;
  const now = memory.wanted ?? shownState(object);
  const objections = orders.flatMap((order) => objection(context, order) ?? []);
  const [first] = orders;
  const ordered = first !== undefined && objections.length === 0 && isKnown(first.action) ? first.action : undefined;
  const action = ordered ?? (isUnshown(context) ? "SyncQueue" : inherited(object, now));
  const state = stateAfter(now, action, groups);
  return {
    state,
    orders,
    unmarks: unmarks(context, action, ordered !== undefined, state),
    adopts: object.metadata.name !== rootName && (specOf(object)["parent"] ?? "") === "",
    events: succeeded(context, now, state),
    objections,
  };
};

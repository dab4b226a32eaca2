/** What becomes of a queue in one step: by an order, by its parent, or of itself. */
import type { Obj, Stored } from "../../core/object.ts";
import { type Order, orderWord } from "../command/order.ts";
import { isObeyed, refusalOf } from "./command-namespaces.ts";
import { type QueueAction, queueActions, type State, stateAfter } from "./machine.ts";
import type { QueueMemory } from "./memory.ts";
import { closedByParent, namedIn, parentOf, rootName, shownState, specOf } from "./tree.ts";

export type QueueContext = {
  readonly object: Stored;
  readonly memory: QueueMemory;
  /** Every queue of the cluster. */
  readonly all: readonly Stored[];
  readonly orders: readonly Order[];
  /** Namespaces from which orders are obeyed. */
  readonly commandNamespaces: readonly string[];
  /** Groups of pods in the queue; counted only where it matters. */
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
  /** The order that is taken with it. */
  readonly order?: Order | undefined;
  /** The mark of its parent goes. */
  readonly unmarks: boolean;
  /** It names no parent: that is written down as root. */
  readonly adopts: boolean;
  readonly events: readonly Saying[];
  /** Why the order cannot be followed. */
  readonly objections: readonly Saying[];
};

/** Why a queue cannot be brought where an order wants it; undefined when it can. */
const obstacle = ({ object, all }: QueueContext, action: string): string | undefined => {
  if (action === "CloseQueue" && object.metadata.name === rootName) return "the root queue cannot be closed";
  const parent = action === "OpenQueue" ? namedIn(all, parentOf(object)) : undefined;
  if (parent === undefined || shownState(parent) === "Open") return undefined;
  return `its parent ${parent.metadata.name} is ${shownState(parent)}: open that first`;
};

const isKnown = (action: string): action is QueueAction => queueActions.some((one) => one === action);

/** What is wrong with an order, as an event. */
const objection = (scene: QueueContext, order: Order): Saying | undefined => {
  const occasion = `command ${order.uid}`;
  if (!isObeyed(order, scene.commandNamespaces)) {
    const message = refusalOf(order, scene.commandNamespaces);
    return { occasion, type: "Warning", reason: "CommandRefused", message };
  }
  if (order.stale || !isKnown(order.action)) return { occasion, ...orderWord(order, queueActions) };
  const message = obstacle(scene, order.action);
  return message === undefined ? undefined : { occasion, type: "Warning", reason: order.action, message };
};

/** What the mark of its parent asks for, of a queue in this state. */
export const inherited = (object: Obj, now: State): QueueAction => {
  const mark = object.metadata.annotations?.[closedByParent];
  if (mark === "true" && (now === "Open" || now === "Unknown")) return "CloseQueue";
  return mark === "false" && now !== "Open" ? "OpenQueue" : "SyncQueue";
};

/** The queue's resourceVersion when this state was decided on: now, or by a step that may have died before anybody saw it. */
export const decidedAt = ({ object, memory }: Pick<QueueContext, "object" | "memory">, to: State): string =>
  (memory.wanted === to ? memory.decidedAt : undefined) ?? object.metadata.resourceVersion;

const movedWord = (from: State, to: State, since: string): readonly Saying[] => {
  if (from === to || (from === "Closing" && to === "Closed")) return [];
  const [reason, verb] = to === "Open" ? ["OpenQueue", "Open"] : ["CloseQueue", "Close"];
  return [{ occasion: `${to} ${since}`, type: "Normal", reason, message: `${verb} queue succeed` }];
};

/** What was decided on is told until the queue shows it. */
const succeeded = (scene: QueueContext, now: State, to: State): readonly Saying[] => [
  ...movedWord(shownState(scene.object), now, decidedAt(scene, now)),
  ...movedWord(now, to, scene.object.metadata.resourceVersion),
];

/** The mark has done its work, or somebody's own order goes before it. */
const unmarks = ({ object }: QueueContext, action: QueueAction, ordered: boolean, to: State): boolean => {
  const mark = object.metadata.annotations?.[closedByParent];
  if (mark === undefined) return false;
  return ordered ? action !== "SyncQueue" : mark === "false" && to === "Open";
};

/** What was decided on is shown before anything leads on from it: who shows it late then finds another queue. */
export const isUnshown = ({ object, memory: { wanted } }: Pick<QueueContext, "object" | "memory">): boolean =>
  wanted !== undefined && wanted !== shownState(object);

/** `order`: the oldest that nobody has taken. One that cannot be followed is taken, and said to be none. */
export const actOf = (scene: QueueContext, order: Order | undefined): Act => {
  const { object, memory, groups } = scene;
  const now = memory.wanted ?? shownState(object);
  const wrong = order === undefined ? undefined : objection(scene, order);
  const ordered = order !== undefined && wrong === undefined && isKnown(order.action) ? order.action : undefined;
  const action = ordered ?? (isUnshown(scene) ? "SyncQueue" : inherited(object, now));
  const state = stateAfter(now, action, groups);
  return {
    state,
    order,
    unmarks: unmarks(scene, action, ordered !== undefined, state),
    adopts: object.metadata.name !== rootName && (specOf(object)["parent"] ?? "") === "",
    events: succeeded(scene, now, state),
    objections: wrong === undefined ? [] : [wrong],
  };
};

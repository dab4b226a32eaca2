/**
 * The decision of one step of a queue: its state, its place in the tree, and for root an admission round; and the
 * queue as the engine knows it: what to watch, how to read its memory, how to recover. A queue's status shows
 * everything, and it owns only the commands for it; a cleanup deletes them, and the queue goes on. Pure.
 */
import { all, type Decision, list } from "../../core/decision.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import {
  type Effect,
  type Looking,
  type Next,
  notYetRecorded,
  type Plan,
  type Recovery,
  type View,
} from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until } from "../../core/waiting-on.ts";
import { isEnding } from "../../kube/pods.ts";
import { usualNamespaces } from "../../kube/upstream-controllers.ts";
import {
  cleared,
  commandsIn,
  leftover,
  type Order,
  ordersFor,
  readCommands,
  recalled,
  remembered,
  waitingOrders,
} from "../command/order.ts";
import { type AdmissionRound, admissionRound, type Evicting, groupsOf } from "../gang/admission-round.ts";
import {
  everyNamespace,
  type GangEviction,
  type GangMode,
  isObeyed,
  obeyedFirst,
  vcctlNamespace,
} from "../gang/settings.ts";
import { measuresOfQueueSave } from "../metrics.ts";
import { component, queues } from "../schema/resource.ts";
import { type Act, actOf, decidedAt, isUnshown, type QueueContext } from "./action.ts";
import { queueGaps } from "./defaults.ts";
import { parseQueueMemory, type QueueMemory, salvageMemory } from "./state/memory.ts";
import {
  childrenOf,
  closedByParent,
  defaultName,
  namedIn,
  placeSaying,
  queueOfGroup,
  rootName,
  shownState,
  statusOf,
} from "./state/tree.ts";
import { creationOf, founding, queueWatcher } from "./watches.ts";

/** The settings of a deployment for its queues. */
export type QueueOptions = {
  /** The component that admits groups of pods; absent: `auto`. */
  readonly gang?: GangMode;
  /** The groups that lose pods to groups that lack room; absent: none. `evicting` evicts them. */
  readonly gangEvict?: GangEviction;
  /** Evicts pods for groups that lack room, with `gang: builtin`; absent: no pod is evicted. */
  readonly evicting?: Evicting | undefined;
  /** Namespaces in which signs of Volcano's scheduler count; absent: the usual ones. */
  readonly controllerNamespaces?: readonly string[];
  /** Namespaces from which commands are accepted; absent: the one of vcctl. */
  readonly queueCommandNamespaces?: readonly string[];
};

type Seeing = View<QueueMemory>;

const allQueues: Looking = { do: "list", resource: queues, namespace: "", labels: {} };

/** The namespaces to read for the commands that are obeyed: "" means all. */
const readFrom = (obeyed: readonly string[]): readonly string[] => (obeyed.includes(everyNamespace) ? [""] : obeyed);

const patchOf = (
  { metadata: { name, uid, resourceVersion } }: Stored,
  patch: Readonly<Record<string, unknown>>,
): Effect => ({
  do: "patch",
  ref: { resource: queues, name },
  ...{ uid, resourceVersion, patch },
});

const marked = (mark: string | null): Readonly<Record<string, unknown>> => ({
  metadata: { annotations: { [closedByParent]: mark } },
});

const defaultQueues = ({ object, all }: QueueContext): readonly Effect[] => [
  ...(namedIn(all, rootName) === undefined ? [creationOf(rootName)] : []),
  ...(object.metadata.name === rootName && namedIn(all, defaultName) === undefined ? [creationOf(defaultName)] : []),
];

/** Children close and open with their parent: each child gets an annotation, and its own step follows it. */
const childMarks = ({ object, all }: QueueContext, { state }: Act): readonly Effect[] =>
  childrenOf(object, all).flatMap((child) => {
    const mark = child.metadata.annotations?.[closedByParent];
    if (state === "Open") return mark === "true" ? [patchOf(child, marked("false"))] : [];
    if (state === "Unknown" || mark === "true") return [];
    return ["Open", "Unknown"].includes(shownState(child)) ? [patchOf(child, marked("true"))] : [];
  });

type Patch = Readonly<Record<string, unknown>>;

/** Merges patches of different fields into one. */
const mergePatches = (patches: readonly Patch[]): Patch =>
  patches.reduce<Patch>((whole, patch) => fieldsOf(withPatch(whole, patch)), {});

const withPatch = (one: unknown, other: unknown): unknown =>
  isRecord(one) && isRecord(other)
    ? {
        ...one,
        ...Object.fromEntries(Object.entries(other).map(([name, value]) => [name, withPatch(one[name], value)])),
      }
    : other;

const own = ({ object }: QueueContext, { unmarks, adopts }: Act): readonly Effect[] => {
  const patch = mergePatches([
    unmarks ? marked(null) : {},
    adopts ? { spec: { parent: rootName } } : {},
    queueGaps(object) ?? {},
  ]);
  return Object.keys(patch).length === 0 ? [] : [patchOf(object, patch)];
};

const queueEvents = ({ object }: QueueContext, events: Act["events"]): readonly Effect[] =>
  events.map(({ occasion, type, reason, message }) => ({
    do: "record",
    ...{ about: object, resource: queues, occasion, type, reason, message },
  }));

const memoryOf = (
  { object, memory, orders: all, all: queuesOfAll }: QueueContext,
  { orders: taken, state }: Act,
  turn: AdmissionRound | undefined,
): QueueMemory => {
  const commands = taken.length === 0 ? memory.commands : taken.reduce(remembered, memory.commands ?? []);
  const kept = commands === undefined ? undefined : recalled(commands, all);
  const misplaced = placeSaying(object, queuesOfAll);
  return {
    ...(misplaced === "" ? {} : { misplaced }),
    ...(state === shownState(object) ? {} : { wanted: state, decidedAt: decidedAt({ object, memory }, state) }),
    ...(kept === undefined ? {} : { commands: kept }),
    ...(turn === undefined ? {} : rememberedOf(turn)),
  };
};

const rememberedOf = ({
  found: { admits, searchedAt, silent },
  planning,
  native,
  nominations = [],
}: AdmissionRound): QueueMemory => ({
  admits,
  ...(planning === undefined ? {} : { planning }),
  ...(native === undefined ? {} : { native }),
  ...(nominations.length === 0 ? {} : { nominations: [...nominations] }),
  ...(searchedAt === undefined ? {} : { searchedAt }),
  ...(silent === undefined ? {} : { silent: true }),
});

/** Events about the component that admits groups: first found, changed, or a scheduler that admits nothing. */
const finding = ({ object, memory }: QueueContext, turn: AdmissionRound | undefined): readonly Effect[] => {
  if (turn === undefined) return [];
  const { admits, saying, silent } = turn.found;
  const { resourceVersion } = object.metadata;
  const event = { do: "record", about: object, resource: queues, reason: "GangAdmission" } as const;
  return [
    ...(memory.admits === admits
      ? []
      : [{ ...event, occasion: `admits ${admits} ${resourceVersion}`, type: "Normal" as const, message: saying }]),
    ...(silent === undefined || memory.silent === true
      ? []
      : [{ ...event, occasion: `silent ${resourceVersion}`, type: "Warning" as const, message: silent }]),
  ];
};

/** The Event about a parent that the queue cannot have: once, until that changes. */
const misplacement = ({ object, memory, all: queuesOfAll }: QueueContext): readonly Effect[] => {
  const message = placeSaying(object, queuesOfAll);
  if (message === "" || memory.misplaced === message) return [];
  const occasion = `misplaced ${object.metadata.resourceVersion}`;
  return [
    {
      ...{ do: "record", about: object, resource: queues, occasion, type: "Warning", reason: "InvalidParent" },
      message: `${message}. Its own capability counts, and no queue above it bounds it`,
    },
  ];
};

const nextOf = (context: QueueContext, act: Act, turn: AdmissionRound | undefined): Next => {
  const next = turn?.next ?? { do: "rest" };
  const moved = act.state !== shownState(context.object);
  const more = waitingOrders(context.orders, context.memory.commands).length > act.orders.length;
  if (moved || more) return { ...next, do: "again" };
  if (next.do === "again" || act.state !== "Closing") return next;
  return { ...next, do: "wait", waitsFor: until("its last PodGroups", "ended") };
};

const planOf = (context: QueueContext, act: Act, turn: AdmissionRound | undefined): Plan<QueueMemory> => {
  const memory = memoryOf(context, act, turn);
  const stages = [
    [
      ...cleared(context.orders, memory.commands),
      ...defaultQueues(context),
      ...own(context, act),
      ...childMarks(context, act),
    ],
    [...(turn?.events ?? [])],
    [...(turn?.effects ?? [])],
    ...(turn?.stages ?? []),
    queueEvents(context, act.events),
  ];
  const status = { ...statusOf(context.object), state: act.state };
  return { memory, stages: stages.filter((stage) => stage.length > 0), status, next: nextOf(context, act, turn) };
};

function* gone(view: Seeing, memory: QueueMemory): Decision<QueueMemory> {
  if (view.object !== undefined) return { memory, stages: [], next: { do: "rest" } };
  return { memory, stages: [leftover(view.uid, yield* list(commandsIn("")))], next: { do: "forget" } };
}

/** The most commands that one step refuses: each is an Event and a deletion. */
const mostRefused = 100;

/**
 * Returns the commands that a step takes, of a list in which those that are obeyed come first. Refused ones are taken
 * together, because each step lists the commands of all tenants.
 */
const takenIn = (found: readonly Order[], { commands }: QueueMemory, obeyed: readonly string[]): readonly Order[] => {
  const waits = waitingOrders(found, commands);
  const [first] = waits;
  return waits.slice(0, first === undefined || isObeyed(first, obeyed) ? 1 : mostRefused);
};

/** True if groups are admitted, or get the reason why they wait: refused commands wait until that is done. */
const isBusy = (turn: AdmissionRound | undefined): boolean => turn !== undefined && turn.effects.length > 0;

/** True if it matters whether groups are in the queue. */
const drains = (object: Stored, { wanted }: QueueMemory, order: Order | undefined): boolean =>
  [wanted, shownState(object)].includes("Closing") ||
  order?.action === "CloseQueue" ||
  object.metadata.annotations?.[closedByParent] === "true";

type Deciding = Required<Omit<QueueOptions, "gangEvict">>;

/** Makes the decision function for the queues of a deployment. */
const decideWith = ({ gang, evicting, controllerNamespaces, queueCommandNamespaces: commandNamespaces }: Deciding) => {
  const rounds = { mode: gang, namespaces: controllerNamespaces, evicting };
  return function* decide(key: Key, view: Seeing): Decision<QueueMemory> {
    const { object, memory = {} } = view;
    if (object === undefined || isEnding(object)) return yield* gone(view, memory);
    const [given, queuesOfAll] = yield* all([readCommands(readFrom(commandNamespaces)), list(allQueues)]);
    const found = obeyedFirst(ordersFor(object, queues, given), commandNamespaces);
    const taken = takenIn(found, memory, commandNamespaces);
    const counted = drains(object, memory, taken[0]) ? yield* list(groupsOf(queuesOfAll)) : [];
    const turn = key.name === rootName ? yield* admissionRound(rounds, queuesOfAll, view) : undefined;
    const groups = (turn?.groups ?? counted).filter((group) => queueOfGroup(group) === key.name).length;
    const context: QueueContext = { object, memory, all: queuesOfAll, orders: found, commandNamespaces, groups };
    const waits = isUnshown(context) || (isBusy(turn) && taken.some((order) => !isObeyed(order, commandNamespaces)));
    const act = actOf(context, waits ? [] : taken);
    const news = notYetRecorded(view, [
      ...finding(context, turn),
      ...misplacement(context),
      ...queueEvents(context, act.objections),
    ]);
    // Events are recorded before the memory notes them; after a death in between, the next step records the same ones.
    if (news.length > 0) return { memory, stages: [news], next: { do: "continue" } };
    return planOf(context, act, turn);
  };
};

/** Keeps a decided state that is still to be shown; UIDs and resource versions of another cluster are dropped. */
const voided = ({ wanted }: QueueMemory): QueueMemory => (wanted === undefined ? {} : { wanted });

export const recovery: Recovery<QueueMemory> = {
  ownedObjects: (_, uid) => ({ queries: [commandsIn("")], owners: [uid] }),
  isLive: () => true,
  rebuild: ({ stored }) => {
    const { kept, problems } = salvageMemory(stored);
    return { memory: kept, kept: Object.keys(kept), problems };
  },
  voided,
  ended: (memory) => memory,
};

const statusUpdate = ({ status }: Plan<QueueMemory>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};

export const volcanoQueue = ({
  gang = "auto",
  evicting,
  controllerNamespaces = usualNamespaces,
  queueCommandNamespaces = [vcctlNamespace],
}: QueueOptions = {}): Operator<QueueMemory> => ({
  ...queueWatcher,
  component,
  founding,
  parse: parseQueueMemory,
  statusUpdate,
  recovery,
  measuresOfSave: measuresOfQueueSave,
  decide: decideWith({ gang, evicting, controllerNamespaces, queueCommandNamespaces }),
});

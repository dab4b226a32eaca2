/**
 * Executors on a node that is about to go, as the notice on their pods says. Where Rekindle creates executors,
 * replacements run first and these end then. Where the driver does, these end once their node is cordoned, because
 * replacements might come to the same node. Executors that cannot be moved are reported, and lost when the node goes.
 */
import * as z from "zod";
import { all, getIfAllowed, type Reads } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect, ProbeResult } from "../../../core/plan.ts";
import { timeText } from "../../../core/time.ts";
import { isEnding, leavingAt, nodeNameOf } from "../../../kube/pods.ts";
import { nodes } from "../../../kube/resources.ts";
import { isMigrating } from "../../executors/allocation.ts";
import { isLiving, type Member, membersOf } from "../../executors/allotment.ts";
import { endingOf, executorId } from "../../executors/losses.ts";
import { goingAt, nodeRef } from "../../executors/nodes.ts";
import type { Termination } from "../../executors/repair.ts";
import type { ApplicationContext } from "../run/context.ts";
import { isOwnRun } from "../state/memory.ts";
import { expectedOf } from "./lookup.ts";

/** An executor waits for its replacement until this long before its node goes, ms: Kubernetes' grace, and a margin. */
const leadMs = 45_000;
/** An executor that runs this long has registered with its driver, ms. */
const knownMs = 10_000;
/** A node that is there at the time of its end is read again within this time, ms: the first read may be behind. */
const secondReadMs = 20_000;
/** The most nodes read in one step. */
const mostNodes = 20;

export type NodeDrain = {
  readonly terminations: readonly Termination[];
  /** Times to look again, epoch ms. */
  readonly until: readonly number[];
  /** Cordons of nodes, before any executor is ended; a node that may not be cordoned stays open. */
  readonly cordons: readonly Effect[];
  /** The report of executors that cannot be moved, and its event if it is new. */
  readonly warned: string | undefined;
  readonly events: readonly Effect[];
  /** A node that has not gone could not be cordoned. One refusal proves no missing right: it is tried again. */
  readonly again: boolean;
};

type Moves = Pick<NodeDrain, "terminations" | "until" | "cordons" | "again"> & { readonly warnings: readonly string[] };

type Leaver = { readonly pod: Stored; readonly at: number };

/** The least time for moving data, ms: with less left, it would not be begun. */
const leastGraceMs = 1_000;

/** Ends an executor. One that moves its data gets the time until its node goes, at most the application's own. */
const terminationOf =
  ({ read, memory, view, policies }: ApplicationContext) =>
  ({ pod, at }: Leaver): Termination => ({
    pod,
    reason: "node",
    why: goingAt(at),
    forced: false,
    ...(read.ok && isMigrating(read.spec, isOwnRun(memory))
      ? { graceMs: Math.max(leastGraceMs, Math.min(policies.leaveMs, at - view.now)) }
      : {}),
  });

const leaversAmong = (pods: readonly Stored[]): readonly Leaver[] =>
  pods.flatMap((pod) => {
    const at = leavingAt(pod);
    return at === undefined || isEnding(pod) || endingOf(pod) !== undefined ? [] : [{ pod, at }];
  });

/** Nodes that are about to go by the notices on their pods. */
const drainingNodes = (pods: readonly Stored[]): readonly string[] => [
  ...new Set(pods.flatMap((pod) => (leavingAt(pod) === undefined ? [] : (nodeNameOf(pod) ?? [])))),
];

/** True of an executor that needs a replacement. */
export const isLeaving = (member: Member): boolean => isLiving(member) && leavingAt(member.pod) !== undefined;

/** Ends as many executors as have running replacements, those whose time is over, and those that do not run yet. */
const replacedFirst = (
  context: ApplicationContext,
  executors: readonly Stored[],
): Pick<NodeDrain, "terminations" | "until"> => {
  const { view, read } = context;
  const members = membersOf(executors).filter(isLiving);
  const leavers = members.flatMap((member) => leaversAmong([member.pod]).map((one) => ({ ...one, ...member })));
  const running = members.filter(({ state }) => state === "running");
  const young = running.filter(({ createdAt }) => view.now < createdAt + knownMs);
  const expected = read.ok ? expectedOf(context) : running.length;
  const spare = Math.max(0, running.length - young.length - expected);
  const rest = leavers
    .filter(({ state, at }) => state === "running" && view.now < at - leadMs)
    .sort((a, b) => a.at - b.at || a.id - b.id)
    .slice(spare);
  return {
    terminations: leavers.filter((one) => !rest.includes(one)).map(terminationOf(context)),
    until:
      rest.length === 0
        ? []
        : [...rest.map(({ at }) => at - leadMs), ...young.map(({ createdAt }) => createdAt + knownMs)],
  };
};

const shape = z.looseObject({
  metadata: z.looseObject({ uid: z.string(), resourceVersion: z.string() }),
  spec: z.looseObject({ unschedulable: z.boolean().nullish() }).optional(),
});

/** A node's state for a drain. `closed`: it takes no more pods. `open`: it can be cordoned. `hidden`: unreadable. */
type Cordoning =
  | { readonly is: "closed" | "hidden" | "gone" }
  | { readonly is: "open"; readonly uid: string; readonly resourceVersion: string };

const cordoningOf = (answer: ProbeResult): Cordoning => {
  if (!answer.heard) return { is: "hidden" };
  if (answer.value === undefined) return { is: "gone" };
  const { data } = shape.safeParse(answer.value);
  if (data === undefined) return { is: "hidden" };
  return data.spec?.unschedulable === true ? { is: "closed" } : { is: "open", ...data.metadata };
};

const isOf = (name: string, effect: Effect): boolean =>
  effect.do === "patch" && effect.ref.resource === nodes && effect.ref.name === name;

/** The result of this step's cordon of the node; undefined: none was tried. */
const triedOn = (
  { view: { done = [], passed = [] } }: ApplicationContext,
  name: string,
): "closed" | "denied" | undefined => {
  if (passed.some((effect) => isOf(name, effect))) return "denied";
  return done.some((effect) => isOf(name, effect)) ? "closed" : undefined;
};

const cordon = (name: string, { uid, resourceVersion }: Extract<Cordoning, { is: "open" }>): Effect => ({
  do: "patch",
  ref: { resource: nodes, name },
  uid,
  resourceVersion,
  patch: { spec: { unschedulable: true } },
  optional: true,
});

const stuckOn = (name: string, leavers: readonly Leaver[]): string => {
  const ids = leavers.map(({ pod }) => executorId(pod)).join(", ");
  const at = timeText(Math.min(...leavers.map((one) => one.at)));
  return `node ${name} goes at ${at}: executors ${ids} cannot be moved, because the node still accepts pods and this account may not cordon it`;
};

/** Plans the moves on one node by its cordon. */
function* behind(context: ApplicationContext, name: string, leavers: readonly Leaver[]): Reads<Moves> {
  const cordoning = cordoningOf(yield* getIfAllowed(nodeRef(name)));
  const tried = triedOn(context, name);
  const nothing = { terminations: [], until: [], cordons: [], warnings: [], again: false };
  if (cordoning.is === "closed" || tried === "closed")
    return { ...nothing, terminations: leavers.map(terminationOf(context)) };
  if (cordoning.is === "open" && tried === undefined) return { ...nothing, cordons: [cordon(name, cordoning)] };
  const untilMs = cordoning.is === "open" ? secondReadMs : 0;
  const again = leavers.some(({ at }) => context.view.now < at + untilMs);
  return cordoning.is === "gone" ? { ...nothing, again } : { ...nothing, again, warnings: [stuckOn(name, leavers)] };
}

function* closedFirst(context: ApplicationContext, executors: readonly Stored[]): Reads<Moves> {
  const leavers = leaversAmong(executors);
  const names = drainingNodes(leavers.map(({ pod }) => pod)).slice(0, mostNodes);
  const onNode = (name: string): readonly Leaver[] => leavers.filter(({ pod }) => nodeNameOf(pod) === name);
  const each = yield* all(names.map((name) => behind(context, name, onNode(name))));
  return {
    terminations: each.flatMap(({ terminations }) => terminations),
    until: [],
    cordons: each.flatMap(({ cordons }) => cordons),
    warnings: each.flatMap(({ warnings }) => warnings),
    again: each.some(({ again }) => again),
  };
}

const ofDriver = (body: Stored): readonly string[] =>
  leaversAmong([body]).map(
    ({ pod, at }) =>
      `node ${nodeNameOf(pod)} goes at ${timeText(at)}, and the driver runs on it: a driver cannot be moved, its restart policy decides`,
  );

type Notices = {
  readonly executors: readonly Stored[];
  readonly body: Stored;
  /** The last report that the record holds. */
  readonly before: string | undefined;
};

/** The most characters of a report that a record keeps. */
const longest = 500;

/** Plans the drain that the notices on a run's pods ask for. */
export function* drainNodes(context: ApplicationContext, { executors, body, before }: Notices): Reads<NodeDrain> {
  const moves: Moves = isOwnRun(context.memory)
    ? { ...replacedFirst(context, executors), cordons: [], warnings: [], again: false }
    : yield* closedFirst(context, executors);
  const { warnings, ...rest } = moves;
  // The last report holds until the cordon's result is known: a try alone records no event and saves nothing.
  if (moves.cordons.length > 0) return { ...rest, warned: before, events: [] };
  const text = [...warnings, ...ofDriver(body)].join("; ").slice(0, longest);
  if (text === "") return { ...rest, warned: undefined, events: [] };
  const { object, memory, kind } = context;
  const about = { about: object, resource: kind.resource, occasion: `${memory.attempt} ${text}` } as const;
  const event: Effect = { do: "record", ...about, type: "Warning", reason: "NodeLeaving", message: text };
  return { ...rest, warned: text, events: text === before ? [] : [event] };
}

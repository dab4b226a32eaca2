/**
 * Executors whose node is about to go, as the notice on their pods says. Where Rekindle makes executors, others run first
 * and these are ended then; where the driver does, they are ended once their node takes no more pods, for the next ones
 * might come to the same node. What cannot be moved is told, and lost when the node goes.
 */
import * as z from "zod";
import { all, getIfAllowed, type Reads } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import type { ProbeResult } from "../../../core/query.ts";
import { timeText } from "../../../core/time.ts";
import { leavingAt } from "../../../kube/node-notice.ts";
import { isEnding, nodeNameOf } from "../../../kube/pods.ts";
import { nodes } from "../../../kube/resources.ts";
import { endingOf, executorId } from "../../executors/losses.ts";
import { isLiving, type Member, membersOf } from "../../executors/members.ts";
import { goingAt } from "../../executors/node-avoidance.ts";
import { nodeRef } from "../../executors/nodes.ts";
import { wantedOf } from "../../executors/owner.ts";
import type { ApplicationContext } from "../context.ts";
import { sparkApplications } from "../resource.ts";
import { isOwnRun } from "../run-spec.ts";
import type { Termination } from "./repair.ts";

/** An executor that has waited for its replacement is ended so long before its node goes, ms: Kubernetes' grace, and a little. */
const leadMs = 45_000;
/** An executor that runs so long has made itself known to its driver, ms. */
const knownMs = 10_000;
/** So many nodes are looked at in one step. */
const mostNodes = 20;

export type NodeDrain = {
  readonly dooms: readonly Termination[];
  /** When to look again, epoch ms. */
  readonly until: readonly number[];
  /** Nodes to be closed to further pods before anybody is ended; where that is not allowed they stay as they are. */
  readonly cordons: readonly Effect[];
  /** What cannot be moved, and the event that tells of it where it has not been told. */
  readonly warned: string | undefined;
  readonly told: readonly Effect[];
  /** A node that has not gone yet could not be closed: one answer is no right that is missing, so it is tried again. */
  readonly again: boolean;
};

type Moves = Pick<NodeDrain, "dooms" | "until" | "cordons" | "again"> & { readonly warnings: readonly string[] };

type Leaver = { readonly pod: Stored; readonly at: number };

const doomOf = ({ pod, at }: Leaver): Termination => ({
  pod,
  reason: "node",
  why: goingAt(at),
  forced: false,
});

const leaversAmong = (pods: readonly Stored[]): readonly Leaver[] =>
  pods.flatMap((pod) => {
    const at = leavingAt(pod);
    return at === undefined || isEnding(pod) || endingOf(pod) !== undefined ? [] : [{ pod, at }];
  });

/** Nodes that are about to go, as far as the pods on them say so: nothing new is put there. */
export const drainingNodes = (pods: readonly Stored[]): readonly string[] => [
  ...new Set(pods.flatMap((pod) => (leavingAt(pod) === undefined ? [] : (nodeNameOf(pod) ?? [])))),
];

/** True of an executor for which another is to be made. */
export const isLeaving = (member: Member): boolean => isLiving(member) && leavingAt(member.pod) !== undefined;

/** As many as have others running in their place go now, and all whose time is over; who does not run yet is no loss. */
const replacedFirst = (
  { view, read }: ApplicationContext,
  executors: readonly Stored[],
): Pick<NodeDrain, "dooms" | "until"> => {
  const members = membersOf(executors).filter(isLiving);
  const leavers = members.flatMap((member) => leaversAmong([member.pod]).map((one) => ({ ...one, ...member })));
  const running = members.filter(({ standing }) => standing === "running");
  const young = running.filter(({ createdAt }) => view.now < createdAt + knownMs);
  const expected = read.ok ? wantedOf(read.spec) : running.length;
  const spare = Math.max(0, running.length - young.length - expected);
  const rest = leavers
    .filter(({ standing, at }) => standing === "running" && view.now < at - leadMs)
    .sort((a, b) => a.at - b.at || a.id - b.id)
    .slice(spare);
  return {
    dooms: leavers.filter((one) => !rest.includes(one)).map(doomOf),
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

/** `closed`: no more pods come. `open` can be closed by who may. */
type Door =
  | { readonly is: "closed" | "hidden" | "gone" }
  | { readonly is: "open"; readonly uid: string; readonly resourceVersion: string };

const doorOf = (hearing: ProbeResult): Door => {
  if (!hearing.heard) return { is: "hidden" };
  if (hearing.value === undefined) return { is: "gone" };
  const { data } = shape.safeParse(hearing.value);
  if (data === undefined) return { is: "hidden" };
  return data.spec?.unschedulable === true ? { is: "closed" } : { is: "open", ...data.metadata };
};

const isOf = (name: string, effect: Effect): boolean =>
  effect.do === "patch" && effect.ref.resource === nodes && effect.ref.name === name;

/** What became of this step's try to close it; undefined: it has not tried. */
const triedOn = (
  { view: { done = [], passed = [] } }: ApplicationContext,
  name: string,
): "closed" | "denied" | undefined => {
  if (passed.some((effect) => isOf(name, effect))) return "denied";
  return done.some((effect) => isOf(name, effect)) ? "closed" : undefined;
};

const cordon = (name: string, { uid, resourceVersion }: Extract<Door, { is: "open" }>): Effect => ({
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

/** On one node: what its door says is to be done about them. */
function* behind(scene: ApplicationContext, name: string, leavers: readonly Leaver[]): Reads<Moves> {
  const door = doorOf(yield* getIfAllowed(nodeRef(name)));
  const tried = triedOn(scene, name);
  const nothing = { dooms: [], until: [], cordons: [], warnings: [], again: false };
  if (door.is === "closed" || tried === "closed") return { ...nothing, dooms: leavers.map(doomOf) };
  if (door.is === "open" && tried === undefined) return { ...nothing, cordons: [cordon(name, door)] };
  const again = leavers.some(({ at }) => scene.view.now < at);
  return door.is === "gone" ? { ...nothing, again } : { ...nothing, again, warnings: [stuckOn(name, leavers)] };
}

function* closedFirst(scene: ApplicationContext, executors: readonly Stored[]): Reads<Moves> {
  const leavers = leaversAmong(executors);
  const names = drainingNodes(leavers.map(({ pod }) => pod)).slice(0, mostNodes);
  const onNode = (name: string): readonly Leaver[] => leavers.filter(({ pod }) => nodeNameOf(pod) === name);
  const each = yield* all(names.map((name) => behind(scene, name, onNode(name))));
  return {
    dooms: each.flatMap(({ dooms }) => dooms),
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
  /** What the record says was told last. */
  readonly before: string | undefined;
};

/** As much as a record keeps of it. */
const longest = 500;

/** What the notices on a run's pods lead to. */
export function* drainNodes(scene: ApplicationContext, { executors, body, before }: Notices): Reads<NodeDrain> {
  const moves: Moves = isOwnRun(scene.memory)
    ? { ...replacedFirst(scene, executors), cordons: [], warnings: [], again: false }
    : yield* closedFirst(scene, executors);
  const { warnings, ...rest } = moves;
  // What was said holds until it is known whether it does: nothing is told twice, or saved, for a try.
  if (moves.cordons.length > 0) return { ...rest, warned: before, told: [] };
  const text = [...warnings, ...ofDriver(body)].join("; ").slice(0, longest);
  if (text === "") return { ...rest, warned: undefined, told: [] };
  const { object, memory } = scene;
  const about = { about: object, resource: sparkApplications, occasion: `${memory.attempt} ${text}` } as const;
  const event: Effect = { do: "record", ...about, type: "Warning", reason: "NodeLeaving", message: text };
  return { ...rest, warned: text, told: text === before ? [] : [event] };
}

/** How what was decided becomes a plan: effects in their order, the status, the events, and what is waited for. */
import type { Stored } from "../../core/object.ts";
import type { Decision, Effect, Plan, Refusal } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { cleared, waitingOrders } from "../command/order.ts";
import { refusedBy } from "../plugins/all.ts";
import type { Priorities } from "../podgroup/group.ts";
import { jobs } from "../resource.ts";
import { tasksOf } from "../schema/spec.ts";
import { isOver } from "./crew.ts";
import { expiryOf } from "./expiry.ts";
import { groupEffects, keeping } from "./keeping.ts";
import { isFinished, moveFor } from "./machine.ts";
import { type Memory, shownPhase } from "./memory.ts";
import { ofTask } from "./ordinals.ts";
import { ownerOf, refOf, type Scene } from "./scene.ts";
import { projected, type Word } from "./status.ts";
import { isAdmitted, podEffects } from "./syncing.ts";
import { actionTold, hindranceTold, type Later, latersTold, ordersTold, refusalWord, told } from "./telling.ts";

const pollMs = 15_000;
const slowPollMs = 60_000;

type Told = {
  /** Everybody has been shown the phase that the step began in. */
  readonly told: boolean;
  readonly prioritiesOf: Priorities;
  /** What is in the way of everything. */
  readonly waits?: Word;
  /** What may clear the way. */
  readonly first?: readonly Effect[];
  readonly wakeAt?: number;
  /** Actions that wait from now on. */
  readonly laters?: readonly Later[];
};

const earliest = (...instants: readonly (number | undefined)[]): number | undefined => {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** Commands that are still to be taken. */
const isOrdered = ({ orders, memory }: Scene): boolean => waitingOrders(orders, memory.commands).length > 0;

/** Evictions that are still to become events. */
const hasMore = ({ memory, members, spec }: Scene): boolean =>
  tasksOf(spec).some(({ name = "" }) => {
    const there = new Set(members.filter(({ task }) => task === name).map(({ index }) => index));
    return [...ofTask(memory.seen, name)].some((index) => !there.has(index));
  });

const waitsFor = (scene: Scene): string => {
  const { memory, members } = scene;
  if (members.some((member) => member.ending || isOver(member, memory))) return "pods to end";
  if (!isAdmitted(scene)) return "its group to be let in by the scheduler";
  return memory.phase === "Running" ? "its pods to finish" : "its pods to start";
};

const expires = (scene: Scene): Effect => {
  const { uid, resourceVersion } = scene.object.metadata;
  return { do: "delete", ref: refOf(jobs, scene.object), uid, resourceVersion };
};

type Waits = Pick<Plan<Memory>, "wakeAt" | "pollMs" | "again" | "rests" | "waitsFor">;

/** Nothing goes on any more: its time to live, or rest. */
const afterEnd = (scene: Scene, busy: boolean, ending: boolean): Waits => {
  const due = expiryOf(scene.spec, scene.memory);
  if (busy) return { again: true };
  if (ending) return { pollMs, waitsFor: "what is left of it to go" };
  return due === undefined ? { rests: true } : { wakeAt: due };
};

const waitsOf = (scene: Scene, asked: Told, busy: boolean): Waits => {
  const { memory } = scene;
  const moved = shownPhase(scene.object) !== memory.phase || isOrdered(scene);
  const ending = scene.members.some((member) => member.ending || isOver(member, memory));
  if (isFinished(memory.phase)) return afterEnd(scene, busy || moved, ending || memory.kept !== "");
  const wakeAt = earliest(asked.wakeAt, ...memory.delays.map(({ dueAt }) => dueAt));
  const sooner = moved || (hasMore(scene) && moveFor(memory.phase, "SyncJob").pods === "sync");
  return {
    waitsFor: waitsFor(scene),
    ...(wakeAt === undefined ? {} : { wakeAt }),
    ...(sooner ? { again: true } : {}),
    ...(ending || busy ? { pollMs } : {}),
  };
};

const isDue = ({ spec, memory, view, object }: Scene): boolean => {
  const due = expiryOf(spec, memory);
  return due !== undefined && due <= view.now && shownPhase(object) === memory.phase;
};

/** The plan of a step, from the memory that it leaves. */
export const planOf = (scene: Scene, asked: Told): Decision<Memory> => {
  if (isDue(scene)) return { memory: scene.memory, stages: [[expires(scene)]], again: true };
  if (asked.waits !== undefined) return held(scene, asked.waits, asked.first);
  const kept = keeping(scene);
  if ("look" in kept) return kept;
  const { kept: _, ...rest } = scene.memory;
  const memory: Memory = kept.kept === undefined ? rest : { ...rest, kept: kept.kept };
  const next = { ...scene, memory };
  const refusal = refusedBy({ owner: ownerOf(scene), tasks: tasksOf(scene.spec) }, scene.spec.plugins);
  const lacks = refusal === undefined ? kept.lacks : refusal;
  const reason = refusal === undefined ? "PVCError" : "PluginError";
  const pods = podEffects(next, lacks === undefined);
  const group = groupEffects(next, asked.prioritiesOf);
  const word = lacks === undefined ? undefined : { reason, message: lacks };
  const warned = word === undefined ? [] : [told(scene.object, `${reason} ${lacks}`, word)];
  const stages = [
    latersTold(next, asked.laters),
    pods.ends,
    [...kept.effects, ...group],
    pods.creates,
    [...ordersTold(next), ...actionTold(next, word !== undefined), ...hindranceTold(next), ...warned],
    cleared(next.orders, memory.commands),
  ];
  const busy = pods.ends.length + kept.effects.length + group.length > 0;
  const waits = waitsOf(next, asked, busy);
  const unverified = kept.effects.length > 0 && lacks === undefined;
  return {
    memory,
    stages: stages.filter((stage) => stage.length > 0),
    status: projected(next, word),
    ...waits,
    ...(pods.more || unverified ? { again: true } : {}),
    ...(word === undefined ? {} : { pollMs, waitsFor: word.message }),
  };
};

/** Nothing is done, and everybody sees why. */
const held = (scene: Scene, word: Word, first: readonly Effect[] = []): Plan<Memory> => ({
  memory: scene.memory,
  stages: [[...first], [told(scene.object, `${word.reason} ${word.message}`, word)]],
  status: projected(scene, word),
  pollMs: first.length > 0 ? 1_000 : pollMs,
  waitsFor: word.message,
});

/** A server that has looked and said no is asked again later: it may be the cluster that is to be mended. */
export const refusedPlan = (scene: Scene, refused: readonly Refusal[]): Decision<Memory> => {
  return { ...held(scene, refusalWord(refused)), pollMs: slowPollMs };
};

/** A spec that cannot be followed leaves everything as it is, and says what to change. */
export const invalid = (about: {
  readonly object: Stored;
  readonly memory: Memory;
  readonly message: string;
  readonly now: number;
}): Decision<Memory> => {
  const { object, memory } = about;
  const message = about.message.slice(0, 1_000);
  const status = Object(object["status"]);
  const word: Word = { reason: "InvalidSpec", message };
  return {
    memory,
    stages: [[told(object, `InvalidSpec ${object.metadata.generation ?? 0}`, word)]],
    status: {
      ...status,
      state: { phase: memory.phase, lastTransitionTime: timeText(memory.since), ...word },
    },
    waitsFor: `its spec to be mended: ${message}`,
    rests: true,
  };
};

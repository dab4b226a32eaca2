/** How what was decided becomes a plan: effects in their order, the status, the events, and what is waited for. */

import type { Decision } from "../../core/decision.ts";
import { same } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { type Effect, type Next, type Plan, type Refusal, type Wait, waitOf } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { until } from "../../core/waiting-on.ts";
import { pods } from "../../kube/resources.ts";
import { cleared } from "../command/order.ts";
import { refusedBy } from "../plugins/all.ts";
import { jobs, podGroups } from "../resource.ts";
import { tasksOf } from "../schema/spec.ts";
import { isKept, type JobContext, ownerOf, refOf, type Word } from "./context.ts";
import { refusalWord } from "./error-texts.ts";
import { actionTold, ordersTold, problemsTold, stateWord, told, toldFirst } from "./events.ts";
import { expiryOf } from "./expiry.ts";
import { isFinished } from "./machine.ts";
import { type Memory, seeded, shownPhase, type Untold } from "./memory.ts";
import { groupEffects, planOwnedObjects } from "./owned-objects.ts";
import { projected } from "./status.ts";
import { podEffects } from "./sync.ts";
import { type Asked, pollMs, waitsOf } from "./waits.ts";

const slowPollMs = 60_000;

type Told = Asked & {
  /** Nobody was asked to end, and what was shown stands: more pods of the same may be made within the step. */
  readonly settled?: boolean;
  /** What was acted on, if anything, was read by itself. */
  readonly sure?: boolean;
};

const expires = (scene: JobContext): Effect => {
  const { uid, resourceVersion } = scene.object.metadata;
  return { do: "delete", ref: refOf(jobs, scene.object), uid, resourceVersion };
};

const isDue = ({ spec, memory, view, object }: JobContext): boolean => {
  const due = expiryOf(spec, memory);
  return due !== undefined && due <= view.now && shownPhase(object) === memory.phase;
};

/** Creations of pods within one step, however slowly each is answered. */
const mostInStep = 1_000;

/** More pods are to be made, and nothing else is: they need no other look. */
const goesOn = ({ view, object, memory }: JobContext, { settled }: Told, stages: Stages): boolean =>
  settled === true &&
  shownPhase(object) === memory.phase &&
  (view.done ?? []).length < mostInStep &&
  stages.flat().every((effect) => effect.do === "create" && effect.resource === pods);

/** Whoever it ends was told to be ended before, and what it goes by was read or only grows. */
const isSwift = ({ memory }: JobContext, { sure }: Pick<Told, "sure">, ends: readonly Effect[]): boolean =>
  sure === true &&
  !isFinished(memory.phase) &&
  ends.every((effect) => effect.do === "delete" && effect.resourceVersion === undefined);

/** Others may have shown a later phase than the one that was read of: who shows this one has to win for it. */
const isContested = ({ view, object, memory }: JobContext): boolean =>
  view.memory?.phase === memory.phase && shownPhase(object) !== memory.phase;

type Stages = readonly (readonly Effect[])[];

/** Whoever finds the job without a record, but with this status, comes to the same memory, and finds or makes the same group. */
const isShown = ({ object, view, memory }: JobContext, plan: Plan<Memory>): boolean => {
  const { kept: _, ...remembered } = memory;
  const { status, stages, next } = plan;
  return (
    waitOf(plan).wakeAt === undefined &&
    next.do !== "again" &&
    stages.flat().every((effect) => effect.do === "create" && effect.resource === podGroups) &&
    same(seeded({ ...object, status }, view.now), remembered)
  );
};

/** What is in the way of pods. */
const wordOf = ({ object, spec, key }: JobContext, lacking: string | undefined): Word | undefined => {
  const refusal = refusedBy({ owner: ownerOf({ object, key }), tasks: tasksOf(spec) }, spec.plugins);
  if (refusal !== undefined) return { reason: "PluginError", message: refusal };
  return lacking === undefined ? undefined : { reason: "PVCError", message: lacking };
};

/** What is owed is saved and told; everything else is decided within the same step, once it is. */
export const payingPlan = (
  scene: JobContext,
  asked: Asked & Pick<Told, "sure">,
  debt: readonly Untold[],
): Plan<Memory> => {
  const { pollMs: _, ...wait } = waitOf({ next: waitsOf(scene, asked, false) });
  return {
    ...toldFirst(scene, debt),
    next: { do: "continue", ...wait },
    ...(isSwift(scene, asked, []) ? { safety: { staleSafe: true } } : {}),
  };
};

type Ordered = Readonly<Record<"ends" | "kept" | "group", readonly Effect[]>>;

/**
 * Pods that stay read the hosts of a job that has changed, so what the pods share is mended before others are ended, and
 * within the same stage, so that neither waits for the other. A job that is over ends its pods first: they may still read it.
 */
const inOrder = (scene: JobContext, { ends, kept, group }: Ordered): Stages =>
  ends.length > 0 && isKept(scene) ? [[...kept, ...ends], group] : [ends, [...kept, ...group]];

type Pressing = { readonly on: boolean; readonly again: boolean; readonly word: Word | undefined };

/** What comes after a step that waits for this: more within the step, or another at once; what is in the way of pods is looked at soon. */
const nextOf = (waits: ReturnType<typeof waitsOf>, { on, again, word }: Pressing): Next => {
  const wait: Wait = {
    ...waitOf({ next: waits }),
    ...(word === undefined ? {} : { pollMs, waitsFor: { on: "trouble", message: word.message } }),
  };
  if (on) return { do: "continue", ...wait };
  if (again) return { do: "again", ...wait };
  return waits.do === "rest" && word !== undefined ? { do: "wait", ...wait } : { ...waits, ...wait };
};

/** The plan of a step, from the memory that it leaves. */
export function* planOf(scene: JobContext, asked: Told): Decision<Memory> {
  if (isDue(scene)) return { memory: scene.memory, stages: [[expires(scene)]], next: { do: "again" } };
  const kept = yield* planOwnedObjects(scene);
  const { kept: _, ...rest } = scene.memory;
  const memory: Memory = kept.kept === undefined ? rest : { ...rest, kept: kept.kept };
  const next = { ...scene, memory };
  const word = wordOf(scene, kept.lacks);
  const { ends, creates, more } = podEffects(next, word === undefined);
  const group = groupEffects(next);
  const warned = word === undefined ? problemsTold(next) : [told(scene.object, `${word.reason} ${word.message}`, word)];
  const all = [
    ...inOrder(next, { ends, kept: kept.effects, group }),
    creates,
    [...ordersTold(next), ...actionTold(next, word !== undefined), ...warned],
    cleared(next.orders, memory.commands),
  ];
  const stages = all.filter((stage) => stage.length > 0);
  const busy = ends.length + kept.effects.length + group.length > 0;
  const unverified = kept.effects.length > 0 && kept.lacks === undefined;
  const on = more && goesOn(next, asked, stages);
  const plan: Plan<Memory> = {
    memory,
    stages,
    status: projected(next, word ?? stateWord(next)),
    next: nextOf(waitsOf(next, asked, busy), { on, again: more || unverified, word }),
    safety: {
      ...(isSwift(next, asked, ends) ? { staleSafe: true } : {}),
      ...(isContested(scene) ? { fenced: true } : {}),
    },
  };
  return isShown(next, plan) ? { ...plan, safety: { ...plan.safety, statusIsRecord: true } } : plan;
}

/** Nothing is done, and everybody sees why. */
export const held = (scene: JobContext, word: Word, first: readonly Effect[] = []): Plan<Memory> => ({
  memory: scene.memory,
  stages: [[...first], [told(scene.object, `${word.reason} ${word.message}`, word)]],
  status: projected(scene, word),
  next: { do: "wait", pollMs: first.length > 0 ? 1_000 : pollMs, waitsFor: { on: "trouble", message: word.message } },
});

/** A server that has looked and said no is asked again later: it may be the cluster that is to be mended. */
export const refusedPlan = (scene: JobContext, refused: readonly Refusal[]): Plan<Memory> => {
  const word = refusalWord(refused);
  return {
    ...held(scene, word),
    next: { do: "wait", pollMs: slowPollMs, waitsFor: { on: "trouble", message: word.message } },
  };
};

/** A spec that cannot be followed leaves everything as it is, and says what to change. */
export const invalid = (about: {
  readonly object: Stored;
  readonly memory: Memory;
  readonly message: string;
  readonly now: number;
}): Plan<Memory> => {
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
    next: { do: "rest", waitsFor: until("its spec", "corrected", message) },
  };
};

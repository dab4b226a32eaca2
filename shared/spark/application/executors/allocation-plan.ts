/** The plan of a followed run with what it does about executors of Rekindle's own, and what of all that comes first. */
import { withoutReading } from "../../../core/decision.ts";
import type { Effect, Plan, Safety, Wait } from "../../../core/plan.ts";
import { mostPrompt } from "../../executors/allocate.ts";
import { settlesAt } from "../../executors/allotment.ts";
import type { Member } from "../../executors/members.ts";
import type { ApplicationContext } from "../context.ts";
import type { Pods } from "../driver/evidence.ts";
import type { Memory } from "../memory.ts";
import { planOf } from "../plan.ts";
import { type AllocationResult, allocateAmong, earlier, type OwnRun } from "./allocator.ts";
import { endsNobody } from "./retention.ts";

type Plain = Wait & { readonly stages: readonly (readonly Effect[])[] };

/** What the step does without us; `spent` is left to the next one where executors are made, whose own news bring it. */
type Base = Plain & { readonly spent?: readonly Effect[] };

const creationsIn = ({ stages }: AllocationResult): number =>
  stages.flat().filter(({ do: act }) => act === "create").length;

/**
 * Executors may be made on what was watched a moment ago: their ids are the save's, and whoever is on the way is counted.
 * What ends somebody, or gives up one that never came, is decided on what is read.
 */
const swiftness = (
  { memory, view, settings }: ApplicationContext,
  found: Pods,
  stages: readonly (readonly Effect[])[],
): Safety => {
  const overdue = memory.allotment?.underway.some((round) => settlesAt(round, settings.settledMs) <= view.now) === true;
  return !overdue && stages.flat().every((effect) => endsNobody(effect, found.executors)) ? { staleSafe: true } : {};
};

/** The wait of a plan with that of the executors which are made. */
const waiting = (plain: Wait, { wakeAt, pollMs, waitsFor }: AllocationResult): Wait => ({
  ...plain,
  ...(pollMs === undefined ? {} : { pollMs }),
  ...(waitsFor === undefined ? {} : { waitsFor }),
  ...earlier(plain.wakeAt, wakeAt),
});

const safetyOf = (
  scene: ApplicationContext,
  found: Pods,
  { createWithinMs }: AllocationResult,
  stages: readonly (readonly Effect[])[],
): Safety => ({
  ...swiftness(scene, found, stages),
  ...(createWithinMs === undefined ? {} : { createWithinMs }),
});

/** Executors that are short are made before anybody else is looked at or asked, in the same step. */
export const ahead = (
  scene: ApplicationContext,
  run: OwnRun,
  members: readonly Member[],
  wait: Wait,
): Plan<Memory> | undefined => {
  const owned = withoutReading(allocateAmong(scene, run, members));
  if (owned === undefined || creationsIn(owned) === 0) return undefined;
  const { memory, stages } = owned;
  return { memory, stages, next: { do: "continue", ...wait }, safety: safetyOf(scene, run.found, owned, stages) };
};

/**
 * Many executors that are short at once are made before anything is told: by the next step, which their own news bring, and
 * for which `untold` is remembered.
 */
export const rushed = (
  scene: ApplicationContext,
  found: Pods,
  owned: AllocationResult | undefined,
  { plain, untold }: { readonly plain: Plain; readonly untold: readonly number[] },
): Plan<Memory> | undefined => {
  if (owned === undefined || creationsIn(owned) <= mostPrompt) return undefined;
  const { memory, stages: made } = owned;
  const { stages: others, ...wait } = plain;
  const stages = [...made, ...others];
  const { executors } = memory;
  return {
    stages,
    next: { do: "wait", ...waiting(wait, owned) },
    safety: safetyOf(scene, found, owned, stages),
    memory:
      executors === undefined || untold.length === 0
        ? memory
        : { ...memory, executors: { ...executors, untold: [...untold] } },
  };
};

/** The plan of a followed run whose driver runs: what it does without us, after the executors it is short of. */
export const supplied = (
  scene: ApplicationContext,
  found: Pods,
  owned: AllocationResult | undefined,
  plain: Base,
): Plan<Memory> => {
  const { spent = [], stages: others, ...wait } = plain;
  if (owned === undefined)
    return planOf(scene, scene.memory, found, { stages: [spent, ...others], next: { do: "wait", ...wait } });
  const { memory, stages: made } = owned;
  const stages = [...made, ...(creationsIn(owned) > 0 ? [] : [spent]), ...others];
  const safety = safetyOf(scene, found, owned, stages);
  return planOf(scene, memory, found, { stages, next: { do: "wait", ...waiting(wait, owned) }, safety });
};

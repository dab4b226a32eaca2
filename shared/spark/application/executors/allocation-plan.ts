/** Joins the allocator's result with the plan of a followed run, and puts urgent creations first. */
import { withoutReading } from "../../../core/decision.ts";
import type { Effect, Plan, Safety, Wait } from "../../../core/plan.ts";
import { mostPrompt } from "../../executors/allocation.ts";
import { type Member, settlesAt } from "../../executors/allotment.ts";
import type { ApplicationContext } from "../run/context.ts";
import { endsNobody } from "../run/executor-retention.ts";
import { planOf } from "../run/plan.ts";
import type { Pods } from "../state/evidence.ts";
import type { Memory } from "../state/memory.ts";
import { type AllocationResult, earlier } from "./allocation-result.ts";
import { allocateAmong, type OwnRun } from "./allocator.ts";

type Plain = Wait & { readonly stages: readonly (readonly Effect[])[] };

/** The step's other effects. While executors are created, `spent` waits for the next step, which their events bring. */
type Base = Plain & { readonly spent?: readonly Effect[] };

const creationsIn = ({ stages }: AllocationResult): number =>
  stages.flat().filter(({ do: act }) => act === "create").length;

/**
 * A plan of creations is stale-safe: ids are bound to the save, and executors on their way are counted. A plan that
 * ends an executor, or gives up one that never appeared, is decided on live reads.
 */
const staleSafety = (
  { memory, view, settings }: ApplicationContext,
  found: Pods,
  stages: readonly (readonly Effect[])[],
): Safety => {
  const overdue = memory.allotment?.underway.some((round) => settlesAt(round, settings.settledMs) <= view.now) === true;
  return !overdue && stages.flat().every((effect) => endsNobody(effect, found.executors)) ? { staleSafe: true } : {};
};

/** The wait of a plan joined with the allocator's wait. */
const waiting = (plain: Wait, { wakeAt, pollMs, waitsFor }: AllocationResult): Wait => ({
  ...plain,
  ...(pollMs === undefined ? {} : { pollMs }),
  ...(waitsFor === undefined ? {} : { waitsFor }),
  ...earlier(plain.wakeAt, wakeAt),
});

const safetyOf = (
  context: ApplicationContext,
  found: Pods,
  { createWithinMs }: AllocationResult,
  stages: readonly (readonly Effect[])[],
): Safety => ({
  ...staleSafety(context, found, stages),
  ...(createWithinMs === undefined ? {} : { createWithinMs }),
});

/** Creates missing executors before any other read, in the same step. */
export const ahead = (
  context: ApplicationContext,
  run: OwnRun,
  members: readonly Member[],
  wait: Wait,
): Plan<Memory> | undefined => {
  const owned = withoutReading(allocateAmong(context, run, members));
  if (owned === undefined || creationsIn(owned) === 0) return undefined;
  const { memory, stages } = owned;
  return { memory, stages, next: { do: "continue", ...wait }, safety: safetyOf(context, run.found, owned, stages) };
};

/**
 * Creates many missing executors before any loss is reported. The next step, which their events bring, reports the
 * losses; `untold` is remembered for it.
 */
export const rushed = (
  context: ApplicationContext,
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
    safety: safetyOf(context, found, owned, stages),
    memory:
      executors === undefined || untold.length === 0
        ? memory
        : { ...memory, executors: { ...executors, untold: [...untold] } },
  };
};

/** The plan of a run whose driver runs: missing executors first, then the rest of the step. */
export const supplied = (
  context: ApplicationContext,
  found: Pods,
  owned: AllocationResult | undefined,
  plain: Base,
): Plan<Memory> => {
  const { spent = [], stages: others, ...wait } = plain;
  if (owned === undefined)
    return planOf(context, context.memory, found, { stages: [spent, ...others], next: { do: "wait", ...wait } });
  const { memory, stages: made } = owned;
  const stages = [...made, ...(creationsIn(owned) > 0 ? [] : [spent]), ...others];
  const safety = safetyOf(context, found, owned, stages);
  return planOf(context, memory, found, { stages, next: { do: "wait", ...waiting(wait, owned) }, safety });
};

/** The plan of a followed run with what it does about executors of Rekindle's own, and what of all that comes first. */
import type { Stored } from "../../../core/object.ts";
import type { Decision, Effect, Look, Plan } from "../../../core/plan.ts";
import { mostPrompt } from "../../executors/allocate.ts";
import { settlesAt } from "../../executors/allotment.ts";
import { type ApplicationContext, planOf } from "../context.ts";
import type { Pods } from "../driver/evidence.ts";
import type { Driver, Memory } from "../memory.ts";
import { type AllocationResult, allocateExecutors, earlier } from "./allocator.ts";
import { endsNobody } from "./retention.ts";

type Plain = Pick<AllocationResult, "stages" | "wakeAt" | "pollMs" | "waitsFor">;

type Running = {
  /** The driver's pod, while it runs. */
  readonly body: Stored | undefined;
  /** What the step does without us; `spent` is left to the next one where executors are made, whose own news bring it. */
  readonly plain: Plain & { readonly spent?: readonly Effect[] };
};

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
): { staleSafe?: true } => {
  const overdue = memory.allotment?.underway.some((round) => settlesAt(round, settings.settledMs) <= view.now) === true;
  return !overdue && stages.flat().every((effect) => endsNobody(effect, found.executors)) ? { staleSafe: true } : {};
};

const prompt = ({ createWithinMs }: AllocationResult): { createWithinMs?: number } =>
  createWithinMs === undefined ? {} : { createWithinMs };

/** What is to be made of executors, and what the run does besides. */
export type Supply = AllocationResult | Look | undefined;

export const supplyOf = (scene: ApplicationContext, driver: Driver, found: Pods, body: Stored | undefined): Supply =>
  body === undefined ? undefined : allocateExecutors(scene, driver, found, body);

/** Executors that are short are made before anybody else is looked at or asked, in the same step. */
export const ahead = (
  scene: ApplicationContext,
  driver: Driver,
  found: Pods,
  { body, plain }: Running,
): Plan<Memory> | undefined => {
  const owned = supplyOf(scene, driver, found, body);
  if (owned === undefined || "look" in owned || creationsIn(owned) === 0) return undefined;
  const { memory, stages } = owned;
  return { ...plain, ...swiftness(scene, found, stages), ...prompt(owned), memory, stages, more: true };
};

/**
 * Many executors that are short at once are made before anything is told: by the next step, which their own news bring, and
 * for which `untold` is remembered.
 */
export const rushed = (
  scene: ApplicationContext,
  found: Pods,
  owned: Supply,
  { plain, untold }: { readonly plain: Plain; readonly untold: readonly number[] },
): Plan<Memory> | undefined => {
  if (owned === undefined || "look" in owned || creationsIn(owned) <= mostPrompt) return undefined;
  const { memory, stages: made, wakeAt, ...waits } = owned;
  const stages = [...made, ...plain.stages];
  const { executors } = memory;
  return {
    ...{ ...plain, ...waits, ...earlier(plain.wakeAt, wakeAt), ...swiftness(scene, found, stages), stages },
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
  owned: Supply,
  plain: Running["plain"],
): Decision<Memory> => {
  const { spent = [], stages: others, ...rest } = plain;
  if (owned === undefined) return planOf(scene, scene.memory, found, { ...rest, stages: [spent, ...others] });
  if ("look" in owned) return owned;
  const { memory, stages: made, wakeAt, ...waits } = owned;
  const stages = [...made, ...(creationsIn(owned) > 0 ? [] : [spent]), ...others];
  const staleSafe = swiftness(scene, found, stages);
  return planOf(scene, memory, found, { ...rest, ...waits, ...earlier(rest.wakeAt, wakeAt), ...staleSafe, stages });
};

/** Every kind that Rekindle runs. */
import type { Operator } from "../../core/operator.ts";
import type { Timing } from "../../engine/settings.ts";
import { type Family, families, runs } from "../../kube/families.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import type { GangMode } from "../../volcano/gang/scheduler.ts";
import { sparkOperators } from "./spark.ts";
import { volcanoOperators } from "./volcano.ts";

export const operatorsFor = (
  timing: Timing,
  options: Options = defaultOptions,
  gang: GangMode = "auto",
  chosen: readonly Family[] = families,
): readonly Operator<unknown>[] =>
  [...sparkOperators(timing, options), ...volcanoOperators(timing, gang)].filter(runs(chosen));

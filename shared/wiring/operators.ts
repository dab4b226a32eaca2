/** Every kind that Rekindle runs. */
import type { Operator } from "../core/operator.ts";
import type { Timing } from "../engine/settings.ts";
import { defaultOptions, type Options } from "../spark/companions/options.ts";
import { sparkOperators } from "./spark.ts";
import { volcanoOperators } from "./volcano.ts";

export const operatorsFor = (timing: Timing, options: Options = defaultOptions): readonly Operator<unknown>[] => [
  ...sparkOperators(timing, options),
  ...volcanoOperators(timing),
];

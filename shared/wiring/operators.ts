/** Every kind that Rekindle runs. */
import type { Operator } from "../core/operator.ts";
import type { Timing } from "../engine/settings.ts";
import { defaultOptions, type Options } from "../spark/companions/options.ts";
import { volcanoJob } from "../volcano/job/operator.ts";
import { sparkOperators } from "./spark.ts";

export const operatorsFor = (timing: Timing, options: Options = defaultOptions): readonly Operator<unknown>[] => [
  ...sparkOperators(timing, options),
  volcanoJob,
];

/** Every kind that Rekindle runs. */
import type { Operator } from "../../core/operator.ts";
import type { Timing } from "../../engine/settings.ts";
import { type Family, families, runs } from "../../kube/families.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { sparkOperators } from "./spark.ts";
import { volcanoOperators } from "./volcano.ts";

export const operatorsFor = (
  timing: Timing,
  options: Options = defaultOptions,
  queues: QueueOptions = {},
  chosen: readonly Family[] = families,
): readonly Operator<unknown>[] =>
  [...sparkOperators(timing, options), ...volcanoOperators(timing, queues)].filter(runs(chosen));

/** The operators of all kinds that a deployment runs, for a process that loads all of them. */
import type { Operator } from "../../core/operator.ts";
import type { Timing } from "../../engine/settings.ts";
import { families as allFamilies, type Family } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";
import { operatorsOf } from "../../registry/operators.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import { evictingIn } from "../../volcano/gang/eviction/round.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { gangs } from "./gangs.ts";
import { kindSettings } from "./kind-settings.ts";

/** The kinds of these families, which are all unless some are named: commands read objects of each kind. */
export const operatorsFor = (
  timing: Timing,
  options?: Options,
  queues?: QueueOptions,
  families: readonly Family[] = allFamilies,
): readonly Operator<unknown>[] =>
  operatorsOf(kindSettings({ timing, options, queues, families }, { gangs, evictingIn })).filter(runs(families));

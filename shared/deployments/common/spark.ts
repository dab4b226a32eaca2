/** All kinds of the Spark family. */
import type { Operator } from "../../core/operator.ts";
import { promptness, settledMs, type Timing } from "../../engine/settings.ts";
import { sparkApplication } from "../../spark/application/decide.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import { sparkConnect } from "../../spark/connect/decide.ts";
import { scheduledSparkApplication } from "../../spark/scheduled/decide.ts";
import { inCluster } from "./step-dependencies.ts";

export const sparkOperators = (timing: Timing, options: Options): readonly Operator<unknown>[] => [
  sparkApplication({ apiServer: inCluster, settledMs: settledMs(timing), prompt: promptness(timing), options }),
  scheduledSparkApplication({ settledMs: settledMs(timing) }),
  sparkConnect({ apiServer: inCluster }),
];

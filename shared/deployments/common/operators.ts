/** All kinds that Rekindle runs, by family. */
import type { Operator } from "../../core/operator.ts";
import { promptness, settledMs, type Timing } from "../../engine/settings.ts";
import { type Family, families, runs } from "../../kube/resources.ts";
import { sparkApplication } from "../../spark/application/decide.ts";
import { startWhole } from "../../spark/application/gang/admission.ts";
import type { GangDecision } from "../../spark/application/run/context.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import { sparkConnect } from "../../spark/connect/decide.ts";
import { scheduledSparkApplication } from "../../spark/scheduled/decide.ts";
import { volcanoCronJob } from "../../volcano/cron/decide.ts";
import { volcanoJobFlow } from "../../volcano/flow/decide.ts";
import { volcanoJobTemplate } from "../../volcano/flow/template.ts";
import { evictingIn } from "../../volcano/gang/eviction/round.ts";
import { isPlanning } from "../../volcano/gang/settings.ts";
import { volcanoJob } from "../../volcano/job/decide.ts";
import { volcanoPod } from "../../volcano/podgroup/ungrouped-pods.ts";
import { type QueueOptions, volcanoQueue } from "../../volcano/queue/decide.ts";
import { inCluster } from "./step-dependencies.ts";

const sparkOperators = (timing: Timing, options: Options, gang: Gang): readonly Operator<unknown>[] => [
  sparkApplication({
    apiServer: inCluster,
    settledMs: settledMs(timing),
    prompt: promptness(timing),
    options,
    ...gang,
  }),
  scheduledSparkApplication({ settledMs: settledMs(timing) }),
  sparkConnect({ apiServer: inCluster, sparkDefaults: options.sparkDefaults }),
];

const evictionFor = ({ gang, gangEvict = "none" }: QueueOptions): Pick<QueueOptions, "evicting"> =>
  gang === "builtin" && gangEvict !== "none" ? { evicting: evictingIn(gangEvict) } : {};

const volcanoOperators = (timing: Timing, options: QueueOptions): readonly Operator<unknown>[] => [
  volcanoJob,
  volcanoCronJob({ settledMs: settledMs(timing) }),
  volcanoJobFlow({ settledMs: settledMs(timing) }),
  volcanoJobTemplate,
  volcanoQueue({ ...options, ...evictionFor(options) }),
  volcanoPod,
];

type Gang = { readonly gang?: GangDecision };

/** Groups start by plans where the deployment makes them, too: in the steps of queues. */
const gangFor = ({ gang }: QueueOptions, chosen: readonly Family[]): Gang =>
  isPlanning(gang) && chosen.includes("volcano") ? { gang: startWhole } : {};

export const operatorsFor = (
  timing: Timing,
  options: Options = defaultOptions,
  queues: QueueOptions = {},
  chosen: readonly Family[] = families,
): readonly Operator<unknown>[] =>
  [...sparkOperators(timing, options, gangFor(queues, chosen)), ...volcanoOperators(timing, queues)].filter(
    runs(chosen),
  );

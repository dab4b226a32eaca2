/** All kinds of the Volcano family. */
import type { Operator } from "../../core/operator.ts";
import { settledMs, type Timing } from "../../engine/settings.ts";
import { volcanoCronJob } from "../../volcano/cron/operator.ts";
import { volcanoJobFlow } from "../../volcano/flow/operator.ts";
import { volcanoJobTemplate } from "../../volcano/flow/template.ts";
import { volcanoJob } from "../../volcano/job/operator.ts";
import { volcanoPod } from "../../volcano/podgroup/ungrouped-pods.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { volcanoQueue } from "../../volcano/queue/operator.ts";

export const volcanoOperators = (timing: Timing, options: QueueOptions): readonly Operator<unknown>[] => [
  volcanoJob,
  volcanoCronJob({ settledMs: settledMs(timing) }),
  volcanoJobFlow({ settledMs: settledMs(timing) }),
  volcanoJobTemplate,
  volcanoQueue(options),
  volcanoPod,
];

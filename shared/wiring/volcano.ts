/** The kinds of the Volcano family, all of them. */
import type { Operator } from "../core/operator.ts";
import { settledMs, type Timing } from "../engine/settings.ts";
import { volcanoCronJob } from "../volcano/cron/operator.ts";
import { volcanoJobFlow } from "../volcano/flow/operator.ts";
import { volcanoJobTemplate } from "../volcano/flow/template.ts";
import { volcanoJob } from "../volcano/job/operator.ts";

export const volcanoOperators = (timing: Timing): readonly Operator<unknown>[] => [
  volcanoJob,
  volcanoCronJob({ settledMs: settledMs(timing) }),
  volcanoJobFlow({ settledMs: settledMs(timing) }),
  volcanoJobTemplate,
];

/** What forwarders watch for, of every kind that Rekindle runs. */
import { timing } from "../engine/settings.ts";
import type { Watcher } from "../forward/keys.ts";
import { defaultOptions } from "../spark/companions/options.ts";
import { cronWatcher } from "../volcano/cron/watches.ts";
import { flowWatcher, templateWatcher } from "../volcano/flow/watches.ts";
import { jobWatcher } from "../volcano/job/watches.ts";
import { podWatcher } from "../volcano/podgroup/watches.ts";
import { queueWatcher } from "../volcano/queue/watches.ts";
import { sparkOperators } from "./spark.ts";

export const watchers: readonly Watcher[] = [
  ...sparkOperators(timing, defaultOptions),
  ...[jobWatcher, cronWatcher, flowWatcher, templateWatcher, queueWatcher, podWatcher],
];

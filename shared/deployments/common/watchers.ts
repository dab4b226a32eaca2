/** The watchers of a forwarder, one for each kind that Rekindle runs. */
import type { Watcher } from "../../forward/keys.ts";
import { scheduleWatcher } from "../../spark/scheduled/runs.ts";
import { applicationWatcher, connectWatcher } from "../../spark/watches.ts";
import { cronWatcher, flowWatcher, templateWatcher } from "../../volcano/child-jobs.ts";
import { jobWatcher } from "../../volcano/job/watches.ts";
import { podWatcher } from "../../volcano/pods/names.ts";
import { queueWatcher } from "../../volcano/queue/watches.ts";

export const watchers: readonly Watcher[] = [
  ...[applicationWatcher, scheduleWatcher, connectWatcher],
  ...[jobWatcher, cronWatcher, flowWatcher, templateWatcher, queueWatcher, podWatcher],
];

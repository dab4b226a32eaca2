/** The watches of ScheduledSparkApplications, for forwarders: they need none of the decisions. */
import type { Obj, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed, isEnding, labelOf } from "../../kube/pods.ts";
import { trim } from "../../kube/trim.ts";
import { scheduledSparkApplications, scheduleLabel, sparkApplications } from "../schema/resource.ts";
import { stateOf } from "./runs.ts";

/** True when the state of a run changes. */
const runChanged = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined || stateOf(before) !== stateOf(after) || isEnding(before) !== isEnding(after);

const trimRun = (run: Stored): Stored => ({ ...trim(run), status: { applicationState: { state: stateOf(run) } } });

const watches: readonly Watch[] = [
  { resource: scheduledSparkApplications, ownerName: (object) => object.metadata.name, matters: changed },
  {
    resource: sparkApplications,
    optional: true,
    trim: trimRun,
    ownerName: (run) => labelOf(run, scheduleLabel),
    matters: runChanged,
  },
];

/** The ScheduledSparkApplication watcher for forwarders. */
export const scheduledSparkApplicationWatcher = {
  kind: scheduledSparkApplications.kind,
  resource: scheduledSparkApplications,
  optional: true,
  watches,
} as const;

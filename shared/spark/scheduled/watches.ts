/** What of the world is news to a ScheduledSparkApplication, for those who only watch and need none of its decisions. */
import type { Obj, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { isEnding, labelOf } from "../../kube/pods.ts";
import { changed } from "../../kube/relevant-change.ts";
import { trim } from "../../kube/trim.ts";
import { sparkApplications } from "../application/resource.ts";
import { scheduledSparkApplications, scheduleLabel } from "./resource.ts";
import { stateOf } from "./runs.ts";

/** Of a run, its state counts. */
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

/** A ScheduledSparkApplication as a forwarder knows it. */
export const scheduleWatcher = {
  kind: scheduledSparkApplications.kind,
  resource: scheduledSparkApplications,
  optional: true,
  watches,
} as const;

/** ScheduledSparkApplication as the engine knows it: what to watch, how to read its memory, how to decide. */
import type { Obj, Stored } from "../../core/object.ts";
import type { Operator, Watch } from "../../core/operator.ts";
import { changed } from "../../kube/news.ts";
import { isEnding, labelOf } from "../../kube/pods.ts";
import { trim } from "../../kube/trim.ts";
import { sparkApplications } from "../application/resource.ts";
import { decide, type Settings } from "./decide.ts";
import { type Memory, parseMemory } from "./memory.ts";
import { recovery } from "./recovery.ts";
import { scheduledSparkApplications, scheduleLabel } from "./resource.ts";
import { stateOf } from "./runs.ts";
import { tells } from "./telling.ts";

/** Of a run, its state counts. */
const runChanged = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined || stateOf(before) !== stateOf(after) || isEnding(before) !== isEnding(after);

const trimRun = (run: Stored): Stored => ({ ...trim(run), status: { applicationState: { state: stateOf(run) } } });

const watches: readonly Watch[] = [
  { resource: scheduledSparkApplications, ownerName: (object) => object.metadata.name, matters: changed },
  {
    resource: sparkApplications,
    trim: trimRun,
    ownerName: (run) => labelOf(run, scheduleLabel),
    matters: runChanged,
  },
];

/** The operator of ScheduledSparkApplications under the given settings. */
export const scheduledSparkApplication = (settings: Settings): Operator<Memory> => ({
  kind: scheduledSparkApplications.kind,
  resource: scheduledSparkApplications,
  optional: true,
  watches,
  parse: parseMemory,
  tells,
  recovery,
  decide: (key, view) => decide(settings, key, view),
});

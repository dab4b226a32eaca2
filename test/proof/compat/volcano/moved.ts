/** Compares policies and the table of phases and actions with upstream's. */

import { withoutNulls } from "../../../../shared/core/json.ts";
import { phaseAfter } from "../../../../shared/volcano/job/apply-action.ts";
import { type Move, moveFor } from "../../../../shared/volcano/job/machine.ts";
import type { Tally } from "../../../../shared/volcano/job/pods.ts";
import { actionFor } from "../../../../shared/volcano/job/policies.ts";
import { type Action, isAction, isPhase, type Phase } from "../../../../shared/volcano/schema/resource.ts";
import type { JobSpec } from "../../../../shared/volcano/schema/spec.ts";
import { type Difference, differences, type Json } from "../compare.ts";
import { specOf } from "./judged.ts";
import { numberIn, recordIn, textIn } from "./rows.ts";

const seconds = 1_000;

const answered = (asked: Parameters<typeof actionFor>[0], request: Parameters<typeof actionFor>[1], row: Json) => {
  const { action, delayMs } = actionFor(asked, request);
  return differences(
    { action, delaySeconds: delayMs / seconds },
    { action: row["action"], delaySeconds: numberIn(row, "delaySeconds") },
  );
};

/** Compares the action of a row, for a job with the tasks `a`, which has the policies, and `b`, which has none. */
export const enumerated = (row: Json): readonly Difference[] => {
  const req = recordIn(row, "req");
  const spec = specOf({
    spec: { policies: row["jobPolicies"], tasks: [{ name: "a", policies: row["taskPolicies"] }, { name: "b" }] },
  });
  return answered(
    { uid: textIn(row, "jobUid"), version: numberIn(row, "jobVersion"), spec },
    {
      action: textIn(req, "action"),
      event: textIn(req, "event"),
      exitCodes: [numberIn(req, "exitCode")],
      version: numberIn(req, "jobVersion"),
      uid: textIn(req, "jobUid"),
      task: textIn(req, "taskName"),
    },
    row,
  );
};

export const requested = (row: Json): readonly Difference[] => {
  const job = recordIn(row, "job");
  const request = recordIn(row, "request");
  return answered(
    {
      uid: textIn(recordIn(job, "metadata"), "uid"),
      version: numberIn(recordIn(job, "status"), "version"),
      spec: specOf(job),
    },
    {
      action: textIn(request, "Action"),
      event: textIn(request, "Event"),
      exitCodes: [numberIn(request, "ExitCode")],
      version: numberIn(request, "JobVersion"),
      uid: textIn(request, "JobUid"),
      task: textIn(request, "TaskName"),
    },
    row,
  );
};

const tallyIn = (status: Json): Tally => ({
  pending: numberIn(status, "pending"),
  running: numberIn(status, "running"),
  succeeded: numberIn(status, "succeeded"),
  failed: numberIn(status, "failed"),
  unknown: numberIn(status, "unknown"),
  terminating: numberIn(status, "terminating"),
  minAvailable: numberIn(status, "minAvailable"),
  byTask: Object.fromEntries(
    Object.entries(recordIn(status, "taskStatusCount")).map(([task, count]) => [
      task,
      Object.fromEntries(
        Object.entries(recordIn({ count }, "count")["phase"] ?? {}).map(([phase, number]) => [phase, Number(number)]),
      ),
    ]),
  ),
});

const kills: Readonly<Record<Move["pods"], Json>> = {
  sync: { fn: "SyncJob" },
  killAll: { fn: "KillJob" },
  killUnfinished: { fn: "KillJob", retain: ["Failed", "Succeeded"] },
  killTask: { fn: "KillTarget", target: "task" },
  killPod: { fn: "KillTarget", target: "pod" },
  killPartition: { fn: "KillTarget", target: "partition" },
};

const phaseIn = (word: string): Phase => (isPhase(word) ? word : "Pending");

const actionIn = (word: string): Action => {
  if (!isAction(word)) throw new Error(`no action ${word}`);
  return word;
};

const movedBy = (spec: JobSpec, row: Json): Json => {
  const said = textIn(row, "phase");
  const status = recordIn(row, "status");
  const move = moveFor(phaseIn(said), actionIn(textIn(row, "action")));
  if (move.when === "never") return { ...kills[move.pods], updateFn: false };
  const retryCount = numberIn(status, "retryCount");
  const to = phaseAfter(phaseIn(said), move, { spec, tally: tallyIn(status), retryCount });
  const changed = move.when === "now" || to !== phaseIn(said);
  return {
    ...kills[move.pods],
    updateFn: true,
    changed,
    phase: changed ? to : said,
    retryCount: retryCount + (move.spends === true ? 1 : 0),
  };
};

/** Compares one move of the state machine. A job without a phase is pending. */
export const stepped = (row: Json): readonly Difference[] => {
  const place = `${textIn(row, "phase")}/${textIn(row, "action")}`;
  return differences(movedBy(specOf(row), row), withoutNulls(row["out"]), place);
};

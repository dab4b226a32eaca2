/** The status of a CronJob, and its Events. */
import { apiVersionOf, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { isEnding } from "../../kube/pods.ts";
import { cronJobs, jobs } from "../schema/resource.ts";
import { departed, type Made } from "./jobs.ts";
import type { Memory } from "./memory.ts";

const referenceTo = ({ metadata: { name, namespace, uid } }: Stored) => ({
  apiVersion: apiVersionOf(jobs),
  kind: jobs.kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  uid,
});

/** Returns the whole status. */
export const projected = (memory: Memory, { active }: Made): Readonly<Record<string, unknown>> => {
  const listed = active.filter((job) => !isEnding(job)).toReversed();
  const taken = memory.starting?.tick ?? memory.taken;
  return {
    ...(listed.length === 0 ? {} : { active: listed.map(referenceTo) }),
    ...(taken === undefined ? {} : { lastScheduleTime: timeText(taken) }),
    ...(memory.succeeded === undefined ? {} : { lastSuccessfulTime: timeText(memory.succeeded) }),
  };
};

export type Word = { readonly reason: string; readonly message: string; readonly type?: "Normal" | "Warning" };

/** `occasion` tells Events of one reason apart, so that repeating one creates nothing. */
export const cronEvent = (about: Stored, occasion: string, { type = "Warning", reason, message }: Word): Effect => ({
  ...{ do: "record", about, resource: cronJobs, occasion },
  ...{ type, reason, message },
});

/** Events about finished and deleted jobs, as long as the status calls them active. */
export const farewells = (object: Stored, made: Made): readonly Effect[] => {
  const { finished, gone } = departed(object, made);
  return [
    ...finished.map(({ uid, name }) =>
      cronEvent(object, uid, {
        type: "Normal",
        reason: "SawCompletedJob",
        message: `Saw completed job: ${name} in active, remove`,
      }),
    ),
    ...gone.map(({ uid, name }) =>
      cronEvent(object, uid, {
        reason: "StaleReference",
        message: `Active job ${JSON.stringify(name)} no longer exists (UID: ${uid})`,
      }),
    ),
  ];
};

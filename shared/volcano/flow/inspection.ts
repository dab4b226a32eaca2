/** The kind JobFlow as the command line and the page show it. */
import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { adviceOf, endOf, type KindInspection } from "../../kube/object-state.ts";
import { keys } from "../schema/resource.ts";
import { jobFlowStates } from "./states.ts";

const names = z.array(z.string()).catch([]);

const flowShape = z.object({
  state: z.object({ phase: z.string().catch("") }).catch({ phase: "" }),
  ...{ pendingJobs: names, runningJobs: names, completedJobs: names, failedJobs: names },
});

const flowOf = (object: Obj): z.infer<typeof flowShape> => flowShape.parse(fieldsOf(object.status));

export const jobFlowInspection: KindInspection = {
  // Pods are known by their jobs.
  podLabels: (name) => ({ [keys.byFlow]: name }),
  stateOf: (object) => {
    const { state, failedJobs } = flowOf(object);
    const { phase } = state;
    const failed = phase === "Failed" && failedJobs.length > 0 ? failedJobs.join(", ") : undefined;
    return {
      state: phase === "" ? "NEW" : phase,
      attempts: undefined,
      message: failed && `${failedJobs.length === 1 ? "job" : "jobs"} ${failed} failed`,
      since: instantOf(object.metadata.creationTimestamp),
      ended: endOf(jobFlowStates, phase),
      what: adviceOf(jobFlowStates, phase, "phase"),
    };
  },
  mainPod: () => undefined,
  wide: (object) => {
    const { pendingJobs, runningJobs, completedJobs, failedJobs } = flowOf(object);
    return {
      PENDING: pendingJobs.join(","),
      RUNNING: runningJobs.join(","),
      COMPLETED: completedJobs.join(","),
      FAILED: failedJobs.join(","),
    };
  },
  suspends: false,
};

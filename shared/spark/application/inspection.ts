/** The kind SparkApplication as the command line and the page show it. */

import * as z from "zod";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import {
  type Advice,
  adviceOf,
  endOf,
  type KindInspection,
  type ObjectState,
  untilStarted,
} from "../../kube/object-state.ts";
import { executorCount, statedExecutors } from "../executors/count.ts";
import { podSet } from "../executors/flavors.ts";
import { isDriver } from "../executors/roles.ts";
import { appNameLabel } from "../schema/pod-query.ts";
import { sparkApplicationStates } from "./states.ts";

const status = z.object({
  applicationState: z.object({ state: z.string().optional(), errorMessage: z.string().optional() }).optional(),
  executionAttempts: z.number().optional(),
  submissionAttempts: z.number().optional(),
  lastSubmissionAttemptTime: z.string().nullish(),
  terminationTime: z.string().nullish(),
  driverInfo: z.object({ podName: z.string().optional() }).optional(),
  executorState: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

type Status = z.infer<typeof status>;

const statusOf = (object: Obj): Status => {
  const parsed = status.safeParse(object.status ?? {});
  return parsed.success ? parsed.data : {};
};

/** The outlook of a suspended application that Kueue starts. */
const admissionOf = (state: string, object: Obj): Advice | undefined => {
  const queue = localQueueOf(object);
  return state !== "SUSPENDED" || queue === undefined ? undefined : untilStarted(queue, object);
};

const standingOf = (object: Obj): ObjectState => {
  const { applicationState, executionAttempts, lastSubmissionAttemptTime, terminationTime } = statusOf(object);
  const state = applicationState?.state ?? "";
  const message = applicationState?.errorMessage;
  return {
    state: state === "" ? "NEW" : state,
    attempts: executionAttempts,
    message: message === "" ? undefined : message,
    since:
      instantOf(terminationTime) ??
      instantOf(lastSubmissionAttemptTime) ??
      instantOf(object.metadata.creationTimestamp),
    ended: endOf(sparkApplicationStates, state),
    what: admissionOf(state, object) ?? adviceOf(sparkApplicationStates, state, "state"),
  };
};

const suspended = z.object({ suspend: z.boolean().optional() });

/** As upstream's printer columns. */
const wide: KindInspection["wide"] = (object) => {
  const { lastSubmissionAttemptTime, terminationTime, driverInfo } = statusOf(object);
  const spec = suspended.safeParse(object.spec);
  return {
    SUSPEND: spec.success ? String(spec.data.suspend ?? "") : "",
    DRIVER: driverInfo?.podName ?? "",
    START: lastSubmissionAttemptTime ?? "",
    FINISH: terminationTime ?? "",
  };
};

const memoryShape = z.looseObject({ state: z.looseObject({ phase: z.string() }) });

export const sparkApplicationInspection: KindInspection = {
  podLabels: (name) => ({ [appNameLabel]: name }),
  stateOf: standingOf,
  mainPod: (object, pods) => {
    const recorded = statusOf(object).driverInfo?.podName;
    const names = pods.filter(isDriver).map((pod) => pod.metadata.name);
    return names.find((name) => name === recorded) ?? names.at(-1);
  },
  wide,
  podCount: (object) => [
    Object.values(statusOf(object).executorState ?? {}).filter((state) => state === "RUNNING").length,
    statedExecutors(object.spec),
  ],
  kueue: {
    absence:
      "no Workload of it exists: Kueue creates one where its integration sparkoperator.k8s.io/sparkapplication is on",
    grows: podSet,
  },
  executors: (object, pods) =>
    statusOf(object).applicationState?.state === "RUNNING" && pods.some(isDriver)
      ? executorCount(object, pods)
      : undefined,
  isReported: (memory, object) => {
    const phase = memoryShape.safeParse(memory).data?.state.phase;
    return phase === undefined || (phase || "NEW") === standingOf(object).state;
  },
  suspends: true,
  awaitsGroup: (object) => ["", "PENDING_RERUN", "RESUMING"].includes(statusOf(object).applicationState?.state ?? ""),
};

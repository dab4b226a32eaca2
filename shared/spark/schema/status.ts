/** SparkApplication v1beta2 as its status is written: states of the application, its driver and its executors. */
import * as z from "zod";

/** Every state that upstream writes. "" is an application that nobody has looked at. */
export const applicationStates = [
  "",
  "SUBMITTED",
  "RUNNING",
  "COMPLETED",
  "FAILED",
  "SUBMISSION_FAILED",
  "PENDING_RERUN",
  "INVALIDATING",
  "SUCCEEDING",
  "FAILING",
  "SUSPENDING",
  "SUSPENDED",
  "RESUMING",
  "UNKNOWN",
] as const;

export type ApplicationState = (typeof applicationStates)[number];

/** Every state of an executor, and of a driver. */
export const podStates = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "UNKNOWN"] as const;

export type PodState = (typeof podStates)[number];

const time = z.string().meta({ format: "date-time" });

const driverInfo = z.looseObject({
  podName: z.string().optional(),
  webUIAddress: z.string().optional(),
  webUIIngressAddress: z.string().optional(),
  webUIIngressName: z.string().optional(),
  webUIPort: z.int32().optional(),
  webUIServiceName: z.string().optional(),
});

/** `status` of a SparkApplication. The CRD takes any text as a state. */
export const statusSchema = z.looseObject({
  sparkApplicationId: z.string().optional(),
  submissionID: z.string().optional(),
  lastSubmissionAttemptTime: time.nullable().optional(),
  terminationTime: time.nullable().optional(),
  driverInfo,
  applicationState: z.looseObject({ state: z.string(), errorMessage: z.string().optional() }).optional(),
  executorState: z.record(z.string(), z.string()).optional(),
  executionAttempts: z.int32().optional(),
  submissionAttempts: z.int32().optional(),
});

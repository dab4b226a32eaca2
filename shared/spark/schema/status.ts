/** The status of a SparkApplication v1beta2, in the shape of upstream's CRD. */
import * as z from "zod";

const time = z.string().meta({ format: "date-time" });

const driverInfo = z.looseObject({
  podName: z.string().optional(),
  webUIAddress: z.string().optional(),
  webUIIngressAddress: z.string().optional(),
  webUIIngressName: z.string().optional(),
  webUIPort: z.int32().optional(),
  webUIServiceName: z.string().optional(),
});

/** `status` of a SparkApplication. The CRD accepts any text as a state. */
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

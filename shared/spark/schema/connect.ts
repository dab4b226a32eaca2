/** SparkConnect v1alpha1, in the shape of upstream's CRD: own fields typed, pod templates and the service opaque. */
import * as z from "zod";
import { dynamicAllocationSchema } from "./application.ts";

const embedded = z.looseObject({});
const texts = z.record(z.string(), z.string());
const time = z.string().meta({ format: "date-time" });

const role = {
  cores: z.int32().min(1).optional(),
  memory: z.string().optional(),
  template: embedded.optional(),
};

export const connectSpecSchema = z.looseObject({
  sparkVersion: z.string(),
  image: z.string().optional(),
  sparkConf: texts.optional(),
  hadoopConf: texts.optional(),
  server: z.looseObject({ ...role, service: embedded.optional() }),
  executor: z.looseObject({ ...role, instances: z.int32().min(0).optional() }),
  dynamicAllocation: dynamicAllocationSchema.optional(),
});

export type SparkConnectSpec = z.infer<typeof connectSpecSchema>;

/** A string, because a regular expression would appear in the schema with escaped slashes. */
const conditionType =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

const condition = z.looseObject({
  type: z.string().max(316).meta({ pattern: conditionType }),
  status: z.enum(["True", "False", "Unknown"]),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: time,
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32768),
});

export const connectStatusSchema = z.looseObject({
  conditions: z.array(condition).optional(),
  state: z.string().optional(),
  server: z
    .looseObject({
      podName: z.string().optional(),
      podIp: z.string().optional(),
      serviceName: z.string().optional(),
    })
    .optional(),
  executors: z.record(z.string(), z.int()).optional(),
  startTime: time.optional(),
  lastUpdateTime: time.optional(),
});

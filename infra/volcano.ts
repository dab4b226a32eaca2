/** Volcano's kinds as CRDs: fields that users write are typed, pod templates and claims are kept unchecked. */
import * as z from "zod";
import {
  commands,
  cronJobs,
  jobFlows,
  jobs,
  jobTemplates,
  podGroups,
  policyEvents,
  queues,
} from "../shared/volcano/schema/resource.ts";
import { specSchema } from "../shared/volcano/schema/spec.ts";
import { statusSchema } from "../shared/volcano/schema/status.ts";
import {
  cronSpecSchema,
  cronStatusSchema,
  flowSchema,
  flowSpecSchema,
  flowStatusSchema,
  jobMetadataSchema,
  templateStatusSchema,
} from "../shared/volcano/schema/workflows.ts";
import type { Definition } from "./definition.ts";
import type { Limits } from "./limits.ts";

const natural = { minimum: 0 } as const;

const name = { maxLength: 253 } as const;

const queueName = {
  ...name,
  pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
} as const;

/** More events than a policy acts on: the server has never refused these. */
const event = { enum: [...policyEvents, "PodRunning", "OutOfSync", "CommandIssued"] } as const;

const below = (path: string, limits: Limits): Limits =>
  Object.fromEntries(Object.entries(limits).map(([field, keywords]) => [`${path}.${field}`, keywords]));

const policies: Limits = { "policies.[].event": event, "policies.[].events.[]": event };

const topology: Limits = {
  "networkTopology.highestTierAllowed": natural,
  "networkTopology.highestTierName": name,
  "networkTopology.mode": { default: "hard", enum: ["hard", "soft"] },
};

/** An object of core/v1, kept unchecked, whatever its version. */
const embedded = { properties: undefined, "x-kubernetes-preserve-unknown-fields": true } as const;

const taskLimits: Limits = {
  template: embedded,
  name: { maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
  replicas: natural,
  minAvailable: natural,
  maxRetry: natural,
  topologyPolicy: { enum: ["none", "best-effort", "restricted", "single-numa-node"] },
  partitionPolicy: { required: ["partitionSize", "totalPartitions"] },
  "partitionPolicy.totalPartitions": { minimum: 1 },
  "partitionPolicy.partitionSize": { minimum: 1 },
  "partitionPolicy.minPartitions": { default: 0, ...natural },
  ...below("partitionPolicy", topology),
  ...policies,
};

const jobLimits: Limits = {
  maxRetry: { default: 3, ...natural },
  minAvailable: natural,
  minSuccess: { minimum: 1 },
  ttlSecondsAfterFinished: natural,
  queue: { default: "default", ...queueName },
  priorityClassName: queueName,
  schedulerName: { maxLength: 63 },
  tasks: { minItems: 1 },
  "volumes.[]": { required: ["mountPath"] },
  "volumes.[].mountPath": { minLength: 1, pattern: "^[^:]+$" },
  "volumes.[].volumeClaimName": name,
  ...topology,
  ...policies,
  ...below("tasks.[]", taskLimits),
};

/** The spec of a job, also within kinds that create jobs. */
const jobSpec = specSchema.extend({ runningEstimate: z.string().optional() });

const job: Definition = {
  resource: jobs,
  singular: "job",
  short: ["vcjob", "vj"],
  columns: [
    { name: "STATUS", type: "string", jsonPath: ".status.state.phase" },
    { name: "minAvailable", type: "integer", jsonPath: ".status.minAvailable" },
    { name: "RUNNINGS", type: "integer", jsonPath: ".status.running" },
    { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "QUEUE", type: "string", jsonPath: ".spec.queue", priority: 1 },
  ],
  spec: jobSpec,
  status: statusSchema,
  limits: below("spec", jobLimits),
};

/** Kept whole: the kind belongs to the scheduler, which writes fields of its own. */
const open = z.looseObject({});

const podGroup: Definition = {
  resource: podGroups,
  singular: "podgroup",
  short: ["pg", "podgroup-v1beta1"],
  columns: [
    { name: "STATUS", type: "string", jsonPath: ".status.phase" },
    { name: "minMember", type: "integer", jsonPath: ".spec.minMember" },
    { name: "RUNNINGS", type: "integer", jsonPath: ".status.running" },
    { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "QUEUE", type: "string", jsonPath: ".spec.queue", priority: 1 },
  ],
  spec: open,
  status: open,
  plainStatus: true,
  limits: {},
};

const queue: Definition = {
  resource: queues,
  singular: "queue",
  short: ["q", "queue-v1beta1"],
  columns: [{ name: "PARENT", type: "string", jsonPath: ".spec.parent" }],
  spec: open,
  status: open,
  scope: "Cluster",
  limits: {},
};

const command: Definition = {
  resource: commands,
  singular: "command",
  short: [],
  columns: [],
  fields: {
    action: z.string().optional(),
    message: z.string().optional(),
    reason: z.string().optional(),
    target: z
      .looseObject({
        ...{ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string() },
        ...{ controller: z.boolean().optional(), blockOwnerDeletion: z.boolean().optional() },
      })
      .optional(),
  },
};

const cronJob: Definition = {
  resource: cronJobs,
  singular: "cronjob",
  short: ["cronvcjob", "cronvj"],
  columns: [],
  spec: cronSpecSchema.extend({
    jobTemplate: z.looseObject({ metadata: jobMetadataSchema.optional(), spec: jobSpec.optional() }),
  }),
  status: cronStatusSchema,
  limits: {
    "spec.concurrencyPolicy": { default: "Allow", enum: ["Allow", "Forbid", "Replace"] },
    "spec.suspend": { default: false },
    "spec.startingDeadlineSeconds": natural,
    "spec.successfulJobsHistoryLimit": { default: 3, ...natural },
    "spec.failedJobsHistoryLimit": { default: 1, ...natural },
    ...below("spec.jobTemplate.spec", jobLimits),
  },
};

const jobFlow: Definition = {
  resource: jobFlows,
  singular: "jobflow",
  short: ["jf"],
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.state.phase" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  spec: flowSpecSchema.extend({
    flows: z.array(flowSchema.extend({ patch: z.looseObject({ jobSpec: jobSpec.optional() }).optional() })).optional(),
  }),
  status: flowStatusSchema,
  limits: {
    "spec.jobRetainPolicy": { enum: ["retain", "delete"] },
    "spec.flows.[].name": { minLength: 1 },
    ...below("spec.flows.[].patch.jobSpec", jobLimits),
  },
};

const jobTemplate: Definition = {
  resource: jobTemplates,
  singular: "jobtemplate",
  short: ["jt"],
  columns: [],
  spec: jobSpec,
  status: templateStatusSchema,
  limits: below("spec", jobLimits),
};

export const volcano: readonly Definition[] = [job, cronJob, jobFlow, jobTemplate, podGroup, queue, command];

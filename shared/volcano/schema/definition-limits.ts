/**
 * Constraints of the fields of a job in CRDs, also within kinds that create jobs: pod templates and claims are kept unchecked.
 * Rekindle's code does its own checks.
 */
import * as z from "zod";
import type { Limits } from "../../kube/kind-definition.ts";
import { policyEvents } from "./resource.ts";
import { specSchema } from "./spec.ts";

export const natural = { minimum: 0 } as const;

const name = { maxLength: 253 } as const;

const queueName = {
  ...name,
  pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
} as const;

/** More events than a policy acts on: the server has never refused these. */
const event = { enum: [...policyEvents, "PodRunning", "OutOfSync", "CommandIssued"] } as const;

export const below = (path: string, limits: Limits): Limits =>
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

export const jobLimits: Limits = {
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
export const jobSpec = specSchema.extend({ runningEstimate: z.string().optional() });

/** Volcano's kinds, the labels and annotations by which its objects refer to each other, and the words of its API: phases, events
 * and actions. */

import type { Resource } from "../../core/object.ts";

const kind = (group: string, version: string, plural: string, name: string): Resource => ({
  group,
  version,
  plural,
  kind: name,
});

export const jobs = kind("batch.volcano.sh", "v1alpha1", "jobs", "Job");
export const commands = kind("bus.volcano.sh", "v1alpha1", "commands", "Command");
export const cronJobs = kind("batch.volcano.sh", "v1alpha1", "cronjobs", "CronJob");
export const jobFlows = kind("flow.volcano.sh", "v1alpha1", "jobflows", "JobFlow");
export const jobTemplates = kind("flow.volcano.sh", "v1alpha1", "jobtemplates", "JobTemplate");
export const queues = kind("scheduling.volcano.sh", "v1beta1", "queues", "Queue");
export const podGroups = kind("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup");
export const hyperNodes = kind("topology.volcano.sh", "v1alpha1", "hypernodes", "HyperNode");

/** Resources beside the kinds: users or schedulers write them, and Rekindle reads them or creates them for its kinds. */
export const companions: readonly Resource[] = [commands, podGroups, hyperNodes];

/** The reporting component of Events about these kinds: upstream's, by which its users filter. */
export const component = "vc-controller-manager";

/** Keys of labels and annotations, as upstream names them. */
export const keys = {
  taskIndex: "volcano.sh/task-index",
  taskSpec: "volcano.sh/task-spec",
  jobName: "volcano.sh/job-name",
  jobNamespace: "volcano.sh/job-namespace",
  jobVersion: "volcano.sh/job-version",
  retryCount: "volcano.sh/job-retry-count",
  queueName: "volcano.sh/queue-name",
  template: "volcano.sh/template-uid",
  partition: "volcano.sh/partition-id",
  forwarding: "volcano.sh/job-forwarding",
  numaPolicy: "volcano.sh/numa-topology-policy",
  outOfSync: "volcano.sh/controller-out-of-sync",
  preemptable: "volcano.sh/preemptable",
  cooldown: "volcano.sh/cooldown-time",
  revocableZone: "volcano.sh/revocable-zone",
  jdbMinAvailable: "volcano.sh/jdb-min-available",
  jdbMaxUnavailable: "volcano.sh/jdb-max-unavailable",
  byFlow: "volcano.sh/createdByJobFlow",
  byTemplate: "volcano.sh/createdByJobTemplate",
  scheduledAt: "volcano.sh/cronjob-scheduled-timestamp",
  group: "scheduling.k8s.io/group-name",
} as const;

export const phases = [
  "Pending",
  "Running",
  "Restarting",
  "Completing",
  "Completed",
  "Terminating",
  "Terminated",
  "Aborting",
  "Aborted",
  "Failed",
] as const;

export type Phase = (typeof phases)[number];

/** Events that a policy may name. */
export const policyEvents = [
  "*",
  "PodPending",
  "PodFailed",
  "PodEvicted",
  "Unknown",
  "TaskCompleted",
  "TaskFailed",
  "JobUpdated",
] as const;

/** Events that lead to a sync, whatever the policies say. */
export const internalEvents = ["OutOfSync", "CommandIssued", "PodRunning"] as const;

/** Actions that a policy may name. */
export const policyActions = [
  "AbortJob",
  "RestartJob",
  "RestartTask",
  "RestartPod",
  "RestartPartition",
  "TerminateJob",
  "CompleteJob",
  "ResumeJob",
] as const;

export const actions = [...policyActions, "SyncJob", "EnqueueJob"] as const;

export type Action = (typeof actions)[number];

export const isPhase = (word: string | undefined): word is Phase => phases.some((phase) => phase === word);

export const isAction = (word: string | undefined): word is Action => actions.some((action) => action === word);

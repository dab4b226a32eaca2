/** The words of Volcano's API: phases, events and actions. */

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

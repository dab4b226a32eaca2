/**
 * The 18 states of Apache's SparkApplication, which upstream calls summaries: a table of what each one is, and the
 * message that its first sight has.
 */

type Group = "initializing" | "starting" | "running" | "stopping" | "terminated";

type Row = {
  readonly group: Group;
  /** True for an end that is no success. */
  readonly failure?: true;
  /** True for a failure that the policy OnInfrastructureFailure restarts. */
  readonly infrastructure?: true;
  readonly message: string;
};

const ofDriver = "refer last observed status for details";

export const summaries = {
  Submitted: { group: "initializing", message: "Spark application has been created on Kubernetes Cluster." },
  ScheduledToRestart: { group: "initializing", message: "The next attempt follows when its backoff is over." },
  DriverRequested: { group: "starting", message: "Requested driver from resource scheduler." },
  DriverStarted: { group: "starting", message: "Driver has started running." },
  DriverReady: { group: "starting", message: "Driver has reached ready state." },
  InitializedBelowThresholdExecutors: {
    group: "starting",
    message: "Fewer executors than initExecutors are ready.",
  },
  RunningHealthy: { group: "running", message: "Application is running healthy." },
  RunningWithPartialCapacity: { group: "running", message: "Fewer executors than maxExecutors are ready." },
  RunningWithBelowThresholdExecutors: { group: "running", message: "Fewer executors than minExecutors are ready." },
  DriverStartTimedOut: {
    group: "stopping",
    failure: true,
    infrastructure: true,
    message: `Driver has not started within driverStartTimeoutMillis, ${ofDriver}.`,
  },
  ExecutorsStartTimedOut: {
    group: "stopping",
    failure: true,
    infrastructure: true,
    message: "Fewer executors than initExecutors became ready within executorStartTimeoutMillis.",
  },
  DriverReadyTimedOut: {
    group: "stopping",
    failure: true,
    message: `Driver has not become ready within driverReadyTimeoutMillis, ${ofDriver}.`,
  },
  Succeeded: { group: "stopping", message: "Spark application completed successfully." },
  Failed: {
    group: "stopping",
    failure: true,
    message: `Driver has a failed critical container, ${ofDriver}.`,
  },
  SchedulingFailure: {
    group: "stopping",
    failure: true,
    infrastructure: true,
    message: "Failed to request driver from scheduler backend.",
  },
  DriverEvicted: { group: "stopping", failure: true, message: `Driver has been evicted, ${ofDriver}.` },
  ResourceReleased: { group: "terminated", message: "The objects of the application are deleted." },
  TerminatedWithoutReleaseResources: {
    group: "terminated",
    message: "Application is terminated without releasing resources as configured.",
  },
} as const satisfies Readonly<Record<string, Row>>;

export type Summary = keyof typeof summaries;

const rowOf = (summary: Summary): Row => summaries[summary];

export const groupOf = (summary: Summary): Group => rowOf(summary).group;

export const isFailure = (summary: Summary): boolean => rowOf(summary).failure === true;

export const isInfrastructureFailure = (summary: Summary): boolean => rowOf(summary).infrastructure === true;

export const isSummary = (text: unknown): text is Summary => typeof text === "string" && Object.hasOwn(summaries, text);

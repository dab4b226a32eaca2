/** The memory of the judge of Apache's SparkApplications: plain data, so that a fork is a copy. */

/** A driver of the application. Instants in epoch ms. */
export type Driver = {
  readonly attempt: number;
  live: boolean;
  /** How its main container, or its pod, was last seen to end; undefined while it has not. */
  end: "well" | "badly" | "evicted" | undefined;
  /** True once its deletion was requested. */
  leaving: boolean;
};

/** A state of the history. */
export type Entry = { readonly summary: string; readonly at: string };

export type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  /** When a user requested the deletion of the application, epoch ms. */
  deletingAt: number | undefined;
  /** `spec.applicationTolerations`. */
  tolerations: unknown;
  /** `spec.sparkConf`. */
  conf: unknown;
  /** The state that the status shows. */
  phase: string;
  /** All states that a record or a status has shown, by number. */
  history: Map<number, Entry>;
  /** The attempt of the newest record, when its objects were planned, and when the judge saw that plan. */
  attempt: number;
  plannedAt: number | undefined;
  plannedSeenAt: number;
  recorded: boolean;
  /** Evictions by Kueue, and the states by which the application was queued again after one. */
  evictions: number;
  requeues: number;
  /** Drivers by UID, and executors by UID with the driver of each. */
  drivers: Map<string, Driver>;
  executors: Map<string, { readonly driver: string; live: boolean; readonly own: boolean; readonly leaving: boolean }>;
  /** Ids of executors that steps have created. */
  executorIds: Set<string>;
};

export const fresh = (): Facts => ({
  violations: [],
  uid: undefined,
  gone: false,
  deletingAt: undefined,
  tolerations: undefined,
  conf: undefined,
  phase: "",
  history: new Map(),
  attempt: 0,
  plannedAt: undefined,
  plannedSeenAt: 0,
  recorded: false,
  evictions: 0,
  requeues: 0,
  drivers: new Map(),
  executors: new Map(),
  executorIds: new Set(),
});

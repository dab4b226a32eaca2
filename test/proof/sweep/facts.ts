/** The oracle's memory of a run: plain data, so that a fork is a copy. */

export type Pod = {
  readonly role: "driver" | "executor";
  readonly name: string;
  readonly app: string;
  readonly attempt: number;
  readonly driver: string;
  live: boolean;
  /** Instant since which a pod that no record knows runs without being ended. */
  stray: number | undefined;
  /** Its node; undefined before it is scheduled. */
  node: string | undefined;
  /** The notice for its machine: when it came, and when the machine goes. Epoch ms. */
  notice?: { readonly at: number; readonly until: number } | undefined;
  /** True from its deletion's request on. */
  leaving?: boolean;
  /** Start of its container, epoch ms. */
  began?: number | undefined;
};

/** A status update as a listener took it. Instants in epoch ms. */
export type Told = {
  readonly to: string;
  /** A CloudEvent in JSON. */
  readonly body: string;
  /** Instant of the listener's acknowledgement; undefined: there is none. */
  readonly acknowledgedAt: number | undefined;
  /** Instants at which the request left its sender, and at which the sender began its observation. */
  readonly sentAt: number;
  readonly lookedAt: number;
};

export type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  /** The UID of the Workload by which Kueue admits the application. */
  workload: string | undefined;
  phase: string;
  generation: number;
  /** The fields that define a run, as text, and the instant of their last change. */
  run: string;
  specChangedAt: number;
  /** Instant at which a user last changed, suspended or deleted the application. */
  stoppedAt: number;
  ended: { phase: string; run: string } | undefined;
  attempt: number;
  recordGeneration: number;
  plannedAt: number | undefined;
  plannedSeenAt: number;
  recorded: boolean;
  /** UID of the record's object. The record may pass to the next object of the name, with its undelivered updates. */
  recordOf: string | undefined;
  /** The cluster in which the record was made. */
  cluster: string | undefined;
  /** The attempt of the driver in the record; a pod of any other is a stray, to be ended and never counted. */
  driverAttempt: number | undefined;
  pods: Map<string, Pod>;
  born: { app: string; attempt: number; at: number; stray: boolean }[];
  /** The maximum of dynamic allocation; undefined where there is none. */
  most: number | undefined;
  /** The time in which the demand has stood for long is over, and was judged. */
  settled: boolean;
  /** Time of the resync after a message was lost. */
  resyncAt: number | undefined;
  /** When a step has read the application many revisions behind, and the saves that it may still make. */
  behindAt: number | undefined;
  behindSaves: number;
  /** Claims by UID: what replaces them, and since when no pod mounts them; new: none has mounted it. */
  claims: Map<
    string,
    {
      readonly name: string;
      readonly sort: string;
      readonly createdAt: number;
      freeSince: number | undefined;
      isNew: boolean;
    }
  >;
  /** Claims that are to be used until an instant. */
  suspicions: { readonly uid: string; readonly freeSince: number; readonly until: number; readonly what: string }[];
  claimsMade: number;
  /** The claims that each pod mounts, by the pod's UID. */
  mounts: Map<string, string[]>;
  /** UID of the executor that has an id, by driver and id. */
  executorIds: Map<string, string>;
  /** Instant since which the record lists a lack of memory of this attempt's executors. */
  shortOfMemory: { readonly attempt: number; readonly at: number } | undefined;
  /** The memory of each executor, MiB; whether it was OOMKilled, and since when the record lists that. */
  sizes: {
    readonly uid: string;
    readonly driver: string;
    readonly size: number;
    outOfMemory: boolean;
    recordedAt: number | undefined;
  }[];
  /** When a machine was deleted, by its name. */
  goneMachines: Map<string, number>;
  /** The longest time for which an executor was left on one of them, ms. */
  leftMs: number;
  /** The submission under which the status first showed an executor, by the executor's name. */
  shownUnder: Map<string, string>;
  /** Drivers that another controller had submitted. */
  adopted: number;
};

export const fresh = (): Facts => ({
  violations: [],
  uid: undefined,
  gone: false,
  workload: undefined,
  phase: "",
  generation: 0,
  run: "",
  specChangedAt: 0,
  stoppedAt: 0,
  ended: undefined,
  attempt: 0,
  recordGeneration: 0,
  plannedAt: undefined,
  plannedSeenAt: 0,
  recorded: false,
  recordOf: undefined,
  cluster: undefined,
  driverAttempt: undefined,
  pods: new Map(),
  born: [],
  most: undefined,
  settled: false,
  resyncAt: undefined,
  behindAt: undefined,
  behindSaves: 0,
  claims: new Map(),
  suspicions: [],
  claimsMade: 0,
  mounts: new Map(),
  executorIds: new Map(),
  shortOfMemory: undefined,
  sizes: [],
  goneMachines: new Map(),
  leftMs: 0,
  shownUnder: new Map(),
  adopted: 0,
});

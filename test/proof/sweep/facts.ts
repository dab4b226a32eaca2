/** What the oracle remembers of a run: plain data, so that a fork is a copy. */

export type Pod = {
  readonly role: "driver" | "executor";
  readonly name: string;
  readonly app: string;
  readonly attempt: number;
  readonly driver: string;
  live: boolean;
  /** A body that no record knows, and since when it stands without being ended. */
  stray: number | undefined;
  /** Where it came to run; undefined while it has no place. */
  node: string | undefined;
  /** Its machine was said to go. */
  leaves?: boolean;
  /** When its container began, epoch ms. */
  began?: number | undefined;
};

/** A status update as a listener took it. Instants in epoch ms. */
export type Told = {
  readonly to: string;
  /** A CloudEvent in JSON. */
  readonly body: string;
  /** When the listener acknowledges it; undefined: not at all. */
  readonly acknowledgedAt: number | undefined;
  /** When it left its sender, and when that one began to look. */
  readonly sentAt: number;
  readonly lookedAt: number;
};

export type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  phase: string;
  generation: number;
  /** What a run depends on, as text, and since when it is so. */
  run: string;
  specChangedAt: number;
  /** When a user last changed, suspended or deleted it. */
  stoppedAt: number;
  ended: { phase: string; run: string } | undefined;
  attempt: number;
  recordGeneration: number;
  plannedAt: number | undefined;
  plannedSeenAt: number;
  recorded: boolean;
  /** UID of the object that the record is of: it may go over to the next of the name, with what was not yet told. */
  recordOf: string | undefined;
  /** The cluster that the record was made in. */
  cluster: string | undefined;
  /** The attempt whose driver the record knows; a body of any other is a stray, to be ended and never counted. */
  driverAttempt: number | undefined;
  pods: Map<string, Pod>;
  born: { app: string; attempt: number; at: number; stray: boolean }[];
  /** Whose an executor's id is, by driver and id. */
  executorIds: Map<string, string>;
  /** Since when the record tells that an executor of this attempt lacked memory. */
  shortOfMemory: { readonly attempt: number; readonly at: number } | undefined;
  /** The submission under which the status first showed an executor, by the executor's name. */
  shownUnder: Map<string, string>;
  /** Drivers that another controller had submitted. */
  adopted: number;
};

export const fresh = (): Facts => ({
  violations: [],
  uid: undefined,
  gone: false,
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
  executorIds: new Map(),
  shortOfMemory: undefined,
  shownUnder: new Map(),
  adopted: 0,
});

/** The memory of a Volcano job's judge: plain data, so that a fork is a copy. */

/** One pod of the job: its labels and its fate. */
export type Body = {
  readonly name: string;
  readonly job: string;
  readonly task: string;
  readonly index: number;
  readonly version: number;
  readonly retry: number;
  /** It exists and has not finished. */
  live: boolean;
  phase: string;
  /** Its end has been requested. */
  ending: boolean;
  /** Instant of its coming, epoch ms, if it was not wanted then. */
  readonly strayAt: number | undefined;
};

/** The content of the record: assigned versions and retries, and the pods to end. */
export type Saved = {
  readonly job: string;
  readonly phase: string;
  readonly version: number;
  readonly retry: number;
  readonly keeps: boolean;
  readonly doomed: readonly string[];
  /** End of the wait of a restart's pods, epoch ms. */
  readonly waits: number;
  /** Commands that the record shows as taken. */
  readonly taken: readonly string[];
  /** The cluster in which the record was made. */
  readonly cluster: string;
  /** The end of everything has been ordered. */
  readonly ordered: boolean;
};

export type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  /** Deleted jobs of the name: UID → instant of the deletion. */
  earlier: Map<string, number>;
  /** Instant of the last change of the record's version. */
  movedAt: number;
  /** Instant at which the record reached an idle phase; undefined in all others. */
  overAt: number | undefined;
  /** The phase in the status. */
  phase: string;
  /** Replicas by task: the most that the job ever asked for, and the current number. */
  replicas: Map<string, number>;
  record: Saved | undefined;
  pods: Map<string, Body>;
  /** All pods that ever came: job, version, retry, task, ordinal. */
  born: Set<string>;
  /** Those of them that another client than a step took away, and that may come again. */
  freed: Set<string>;
  /** Number of succeeded pods that a user removed: their work is done. */
  removed: number;
  /** The same pods, as in `born`, with the instant, epoch ms: only a slow step may create them again. */
  done: Map<string, number>;
  /** The job's ssh key, and its job. */
  key: { readonly job: string; readonly text: string } | undefined;
  /** Shared objects that a slow step created after the job's end. */
  late: Set<string>;
  groups: Map<string, { readonly name: string; readonly phase: string; readonly owned: boolean }>;
  /** Tasks that are ready for their followers, by job, version and task. */
  ready: Set<string>;
};

export const fresh = (): Facts => ({
  violations: [],
  uid: undefined,
  gone: false,
  earlier: new Map(),
  movedAt: 0,
  overAt: undefined,
  phase: "",
  replicas: new Map(),
  record: undefined,
  pods: new Map(),
  born: new Set(),
  freed: new Set(),
  removed: 0,
  done: new Map(),
  key: undefined,
  late: new Set(),
  groups: new Map(),
  ready: new Set(),
});

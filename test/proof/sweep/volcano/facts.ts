/** What the judge of a Volcano job remembers of a run: plain data, so that a fork is a copy. */

/** One body: what a pod of the job says of itself, and what became of it. */
export type Body = {
  readonly name: string;
  readonly job: string;
  readonly task: string;
  readonly index: number;
  readonly version: number;
  readonly retry: number;
  /** It is there and has not finished. */
  live: boolean;
  phase: string;
  /** Somebody has asked for its end. */
  ending: boolean;
  /** When it came, if it was wanted no more by then, epoch ms. */
  readonly strayAt: number | undefined;
};

/** What the record says: what was handed out, and which pods are to be ended. */
export type Saved = {
  readonly job: string;
  readonly phase: string;
  readonly version: number;
  readonly retry: number;
  readonly keeps: boolean;
  readonly doomed: readonly string[];
  /** Until when the pods of a restart wait, epoch ms. */
  readonly waits: number;
  /** Commands that were taken. */
  readonly taken: readonly string[];
  /** The cluster that the record was made in. */
  readonly cluster: string;
  /** Somebody has ordered the end of everything. */
  readonly ordered: boolean;
};

export type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  /** Jobs of the name that were deleted, and when, by UID. */
  earlier: Map<string, number>;
  /** When the record's version last moved. */
  movedAt: number;
  /** When the record came to a phase in which nothing goes on; undefined in all others. */
  overAt: number | undefined;
  /** As the status shows it. */
  phase: string;
  /** Pods that the job asks for, by task: the most that it ever did, and what it does now. */
  replicas: Map<string, number>;
  record: Saved | undefined;
  pods: Map<string, Body>;
  /** Bodies that ever came: job, version, retry, task, ordinal. */
  born: Set<string>;
  /** Of these, those that somebody else than a step took away, and so may come again. */
  freed: Set<string>;
  /** Pods that succeeded and that a user removed: they did what they were for. */
  removed: number;
  /** The same, as `born` names them, and since when, epoch ms: nobody makes them again, but who was slow. */
  done: Map<string, number>;
  /** The job's ssh key, and whose it is. */
  key: { readonly job: string; readonly text: string } | undefined;
  /** Of what pods share: what came when the job was over, from a step that was slow. */
  late: Set<string>;
  groups: Map<string, { readonly name: string; readonly phase: string; readonly owned: boolean }>;
  /** Tasks that others may follow, by job, version and task. */
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

/** The executors that the driver knows, by its REST API, through the API server's pod proxy. */
import * as z from "zod";
import type { Ref } from "../../core/object.ts";
import type { ProbeResult, Query } from "../../core/plan.ts";

const entry = z.looseObject({
  id: z.string(),
  isActive: z.boolean(),
  activeTasks: z.number().optional(),
  completedTasks: z.number().optional(),
  failedTasks: z.number().optional(),
  totalShuffleWrite: z.number().optional(),
  rddBlocks: z.number().optional(),
});

/** Numeric ids; the driver itself is an entry without one. */
export type Registered = {
  readonly active: ReadonlySet<number>;
  /** Executors that the driver knows and has given up. */
  readonly inactive: ReadonlySet<number>;
  /** Active executors with running tasks. */
  readonly busy: ReadonlySet<number>;
  /** Active executors that have written shuffle data or hold cached blocks: somebody may still need them. */
  readonly holders: ReadonlySet<number>;
  readonly runningTasks: number;
  /** Completed and failed tasks of all executors that the driver remembers. */
  readonly endedTasks: number;
};

/** The most bytes of one executor in the answer, and the least limit of an answer. */
const bytesEach = 2_048;
const leastBytes = 1_048_576;

/**
 * The query of the driver's executors. `executors`: the most in it, with dead ones (spark.ui.retainedDeadExecutors).
 */
export const registeredQuery = (
  pod: Ref,
  port: number,
  applicationId: string,
  executors: number,
): Extract<Query, { do: "proxyGet" }> => ({
  do: "proxyGet",
  pod,
  port,
  path: ["api", "v1", "applications", applicationId, "allexecutors"],
  ...(executors * bytesEach > leastBytes ? { mostBytes: executors * bytesEach } : {}),
});

type Entry = z.infer<typeof entry>;

const idsWhere = (entries: readonly Entry[], holds: (one: Entry) => boolean): ReadonlySet<number> =>
  new Set(
    entries
      .filter(({ id }) => /^\d{1,9}$/.test(id))
      .filter(holds)
      .map(({ id }) => Number(id)),
  );

const sum = (entries: readonly Entry[], of: (one: Entry) => number | undefined): number =>
  entries.reduce((total, one) => total + (of(one) ?? 0), 0);

/** Parses the entries up to the first invalid one, so that a large invalid answer costs one entry. */
const entriesIn = (value: unknown): readonly Entry[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const entries: Entry[] = [];
  for (const one of value) {
    const { data } = entry.safeParse(one);
    if (data === undefined) return undefined;
    entries.push(data);
  }
  return entries;
};

/** The registered executors; undefined when the driver gave no valid answer: its registrations are then unknown. */
export const registeredIn = (hearing: ProbeResult): Registered | undefined => {
  const entries = hearing.heard ? entriesIn(hearing.value) : undefined;
  if (entries === undefined) return undefined;
  return {
    active: idsWhere(entries, ({ isActive }) => isActive),
    inactive: idsWhere(entries, ({ isActive }) => !isActive),
    busy: idsWhere(entries, ({ isActive, activeTasks = 0 }) => isActive && activeTasks > 0),
    holders: idsWhere(
      entries,
      ({ isActive, totalShuffleWrite = 0, rddBlocks = 0 }) => isActive && totalShuffleWrite + rddBlocks > 0,
    ),
    runningTasks: sum(entries, ({ isActive, activeTasks }) => (isActive ? activeTasks : 0)),
    endedTasks: sum(entries, ({ completedTasks = 0, failedTasks = 0 }) => completedTasks + failedTasks),
  };
};

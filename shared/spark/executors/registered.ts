/** Which executors the driver knows, by its own REST API: asked through the API server's pod proxy, read at the door. */
import * as z from "zod";
import type { Ref } from "../../core/object.ts";
import type { ProbeResult, Query } from "../../core/query.ts";

const entry = z.looseObject({
  id: z.string(),
  isActive: z.boolean(),
  activeTasks: z.number().optional(),
  completedTasks: z.number().optional(),
  failedTasks: z.number().optional(),
});

/** Ids that are numbers; the driver itself is among the entries, too. */
export type Registered = {
  readonly active: ReadonlySet<number>;
  /** Known, and given up. */
  readonly inactive: ReadonlySet<number>;
  /** Of the active, those that work on something. */
  readonly busy: ReadonlySet<number>;
  readonly runningTasks: number;
  /** Ended well or badly, on all executors that the driver remembers. */
  readonly endedTasks: number;
};

/** One executor in the driver's answer takes fewer bytes, and so much may be said whatever their number. */
const bytesEach = 2_048;
const leastBytes = 1_048_576;

/** `executors`: how many there may be. The dead are among them as far as the driver remembers them (spark.ui.retainedDeadExecutors, 100). */
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

/** Ends at the first that is none: a megabyte of nonsense costs no more than its first entry. */
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

/** Undefined when the driver did not answer, or said something else: then nothing is known of registrations. */
export const registeredIn = (hearing: ProbeResult): Registered | undefined => {
  const entries = hearing.heard ? entriesIn(hearing.value) : undefined;
  if (entries === undefined) return undefined;
  return {
    active: idsWhere(entries, ({ isActive }) => isActive),
    inactive: idsWhere(entries, ({ isActive }) => !isActive),
    busy: idsWhere(entries, ({ isActive, activeTasks = 0 }) => isActive && activeTasks > 0),
    runningTasks: sum(entries, ({ isActive, activeTasks }) => (isActive ? activeTasks : 0)),
    endedTasks: sum(entries, ({ completedTasks = 0, failedTasks = 0 }) => completedTasks + failedTasks),
  };
};

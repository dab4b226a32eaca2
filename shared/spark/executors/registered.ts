/** Which executors the driver knows, by its own REST API: asked through the API server's pod proxy, read at the door. */
import * as z from "zod";
import type { Ref } from "../../core/object.ts";
import type { ProbeResult, Query } from "../../core/plan.ts";

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

/** The dead are among them as far as the driver remembers them (spark.ui.retainedDeadExecutors, 100). */
export const registeredQuery = (pod: Ref, port: number, applicationId: string): Extract<Query, { do: "ask" }> => ({
  do: "ask",
  pod,
  port,
  path: ["api", "v1", "applications", applicationId, "allexecutors"],
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

/** Undefined when the driver did not answer, or said something else: then nothing is known of registrations. */
export const registeredIn = (hearing: ProbeResult): Registered | undefined => {
  const parsed = hearing.heard ? z.array(entry).safeParse(hearing.value) : undefined;
  if (parsed?.success !== true) return undefined;
  const entries = parsed.data;
  return {
    active: idsWhere(entries, ({ isActive }) => isActive),
    inactive: idsWhere(entries, ({ isActive }) => !isActive),
    busy: idsWhere(entries, ({ isActive, activeTasks = 0 }) => isActive && activeTasks > 0),
    runningTasks: sum(entries, ({ isActive, activeTasks }) => (isActive ? activeTasks : 0)),
    endedTasks: sum(entries, ({ completedTasks = 0, failedTasks = 0 }) => completedTasks + failedTasks),
  };
};

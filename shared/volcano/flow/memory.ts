/** What a JobFlow's steps remember of each other: its phase, which jobs were complete, and when each came to what. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { instant } from "../../kube/instant.ts";
import { withoutNulls } from "../schema/absent.ts";
import { type FlowPhase, flowPhases, flowStatusSchema } from "../schema/flow.ts";

const memory = z.object({
  phase: z.enum(flowPhases),
  /** Names of jobs that were seen to be complete: they are not made again, whatever becomes of them. */
  completed: z.array(z.string()),
  /** By the name of a job: the phases that it was seen in, and since when, epoch ms; the latest last. */
  histories: z.record(z.string(), z.array(z.object({ state: z.string(), at: instant }))),
  /** What was told last of what somebody has to mend. */
  warned: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;
export type History = Memory["histories"][string];

export const parseMemory = readerOf("JobFlow", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

export type Status = z.infer<typeof flowStatusSchema>;

export const statusOf = (object: Stored): Status =>
  flowStatusSchema.safeParse(withoutNulls(object["status"] ?? {})).data ?? {};

/** The phase that everybody sees; undefined while nothing has been told. */
export const shownPhase = (object: Stored): FlowPhase | undefined =>
  flowPhases.find((phase) => phase === statusOf(object).state?.phase);

const historyOf = (given: NonNullable<Status["jobStatusList"]>[number]): History =>
  (given.runningHistories ?? []).flatMap(({ state = "", startTimestamp }) => {
    const at = instantOf(startTimestamp);
    return at === undefined ? [] : [{ state, at }];
  });

/** What is known of a flow that nobody here has met: from its status, so that what upstream left goes on as it was. */
export const seeded = (object: Stored): Memory => {
  const { completedJobs = [], jobStatusList = [] } = statusOf(object);
  return {
    phase: shownPhase(object) ?? "Pending",
    completed: completedJobs,
    histories: Object.fromEntries(jobStatusList.map((one) => [one.name ?? "", historyOf(one)])),
  };
};

/** Phases of one job that are kept: one that is restarted for ever must not fill the record. */
const longest = 40;

/** The phase of a job, noted when it is another than before. */
export const noted = (history: History = [], state: string, now: number): History =>
  state === "" || history.at(-1)?.state === state ? history : [...history, { state, at: now }].slice(-longest);

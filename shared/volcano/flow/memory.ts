/** The memory of a JobFlow: its phase, the jobs that were complete, and the phases that each job was in; and its phases as a
 * table. */

import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import { instantOf } from "../../core/time.ts";
import { instant } from "../../kube/schema.ts";
import { withoutNulls } from "../schema/fields.ts";
import { type FlowPhase, flowPhases, flowStatusSchema } from "../schema/flow.ts";

const memory = z.object({
  phase: z.enum(flowPhases),
  /** Names of jobs that were seen complete; they are not created again, whatever happens to them. */
  completed: z.array(z.string()),
  /** By the name of a job: the phases that it was seen in, and since when, epoch ms; the latest last. */
  histories: z.record(z.string(), z.array(z.object({ state: z.string(), at: instant }))),
  /** The last reported problem that a user must correct. */
  warned: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;
export type History = Memory["histories"][string];

export const parseMemory = readerOf("JobFlow", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

export type Status = z.infer<typeof flowStatusSchema>;

export const statusOf = (object: Stored): Status =>
  flowStatusSchema.safeParse(withoutNulls(object["status"] ?? {})).data ?? {};

/** Returns the phase in the status; undefined while the status has none. */
export const shownPhase = (object: Stored): FlowPhase | undefined =>
  flowPhases.find((phase) => phase === statusOf(object).state?.phase);

const historyOf = (given: NonNullable<Status["jobStatusList"]>[number]): History =>
  (given.runningHistories ?? []).flatMap(({ state = "", startTimestamp }) => {
    const at = instantOf(startTimestamp);
    return at === undefined ? [] : [{ state, at }];
  });

/** Makes the memory of a flow without a record from its status, so that upstream's flows go on as they were. */
export const seeded = (object: Stored): Memory => {
  const { completedJobs = [], jobStatusList = [] } = statusOf(object);
  return {
    phase: shownPhase(object) ?? "Pending",
    completed: completedJobs,
    histories: Object.fromEntries(jobStatusList.map((one) => [one.name ?? "", historyOf(one)])),
  };
};

/** The most phases that are kept of one job: a job that restarts again and again must not fill the record. */
const longest = 40;

/** Adds the phase of a job to its history if it differs from the latest. */
export const noted = (history: History = [], state: string, now: number): History =>
  state === "" || history.at(-1)?.state === state ? history : [...history, { state, at: now }].slice(-longest);

/** The situation of all jobs of a flow: the first that applies. */
type Situation = "failed" | "complete" | "begun" | "idle";

/** As upstream's states; a flow is seen Running before it has succeeded. */
export const table: Readonly<Record<FlowPhase, Readonly<Record<Situation, FlowPhase>>>> = {
  Pending: { failed: "Failed", complete: "Running", begun: "Running", idle: "Pending" },
  Running: { failed: "Failed", complete: "Succeed", begun: "Running", idle: "Running" },
  Succeed: { failed: "Succeed", complete: "Succeed", begun: "Succeed", idle: "Succeed" },
  Failed: { failed: "Failed", complete: "Failed", begun: "Failed", idle: "Failed" },
};

/** True in phases in which no job is created any more. */
export const isOver = (phase: FlowPhase): boolean => phase === "Succeed" || phase === "Failed";

type Counts = {
  readonly failed: number;
  readonly running: number;
  readonly complete: number;
  readonly all: number;
};

export const situationOf = ({ failed, running, complete, all }: Counts): Situation => {
  if (failed > 0) return "failed";
  if (complete === all && all > 0) return "complete";
  return running + complete > 0 ? "begun" : "idle";
};

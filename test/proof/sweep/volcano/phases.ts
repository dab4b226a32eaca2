/** The allowed changes of a job's phase, copied from Volcano's documented state machine, not from the judged code. */

type Nexts = Readonly<Record<string, readonly string[]>>;

const endings = ["Aborting", "Terminating", "Completing"] as const;

const nexts: Nexts = {
  "": ["Pending"],
  Pending: ["Running", "Restarting", ...endings],
  Running: ["Pending", "Restarting", "Completed", "Failed", ...endings],
  // Endings take effect while a job restarts: an intended difference from Volcano.
  Restarting: ["Pending", "Failed", ...endings],
  Aborting: ["Aborted", "Restarting"],
  Aborted: ["Restarting"],
  Terminating: ["Terminated"],
  Completing: ["Completed"],
  Terminated: [],
  Completed: [],
  Failed: [],
};

/** True for a change in the table, and for no change. */
export const follows = (from: string, to: string): boolean => from === to || (nexts[from] ?? []).includes(to);

/** Intermediate phases, which the status must show before the next phase. */
const passing: ReadonlySet<string> = new Set(["Restarting", ...endings]);

/** True for phases that end all pods when they are entered. */
export const ends = (phase: string): boolean => passing.has(phase) && phase !== "Restarting";

/** True for phases that keep the pods of the spec. */
export const keepsPods = (phase: string): boolean => ["", "Pending", "Running", "Restarting"].includes(phase);

/** True for phases in which nothing goes on. */
export const isOver = (phase: string): boolean => ["Aborted", "Terminated", "Completed", "Failed"].includes(phase);

/** True for phases that no user can resume. */
export const isFinal = (phase: string): boolean => isOver(phase) && phase !== "Aborted";

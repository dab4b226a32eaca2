/** Where a job may go from where it is, copied from the specification (volcano.md §1.5), and not from what is judged. */

type Nexts = Readonly<Record<string, readonly string[]>>;

const endings = ["Aborting", "Terminating", "Completing"] as const;

const nexts: Nexts = {
  "": ["Pending"],
  Pending: ["Running", "Restarting", ...endings],
  Running: ["Pending", "Restarting", "Completed", "Failed", ...endings],
  // Endings are honoured while a job restarts: the difference F of §3.5.
  Restarting: ["Pending", "Failed", ...endings],
  Aborting: ["Aborted", "Restarting"],
  Aborted: ["Restarting"],
  Terminating: ["Terminated"],
  Completing: ["Completed"],
  Terminated: [],
  Completed: [],
  Failed: [],
};

/** True for a step of the table, and for none at all. */
export const follows = (from: string, to: string): boolean => from === to || (nexts[from] ?? []).includes(to);

/** A phase on the way, which everybody is to see before what it leads to. */
const passing: ReadonlySet<string> = new Set(["Restarting", ...endings]);

/** Phases that end what runs, when they are entered. */
export const ends = (phase: string): boolean => passing.has(phase) && phase !== "Restarting";

/** Pods are kept as the spec says. */
export const keepsPods = (phase: string): boolean => ["", "Pending", "Running", "Restarting"].includes(phase);

/** Nothing goes on any more. */
export const isOver = (phase: string): boolean => ["Aborted", "Terminated", "Completed", "Failed"].includes(phase);

/** For good: nobody can have it resumed. */
export const isFinal = (phase: string): boolean => isOver(phase) && phase !== "Aborted";

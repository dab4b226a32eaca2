/** The states of a queue, as a table of words: state × action → what becomes of it. As volcano queue/state/*.go. */

export const states = ["Open", "Closed", "Closing", "Unknown"] as const;

export type State = (typeof states)[number];

/** What somebody may order of a queue, and what happens of itself. */
export const queueActions = ["OpenQueue", "CloseQueue", "SyncQueue"] as const;

export type QueueAction = (typeof queueActions)[number];

/** It drains as long as groups are in it, and is closed when the last one has gone. */
type Move = "opens" | "drains" | "stays";

const table: Readonly<Record<State, Readonly<Record<QueueAction, Move>>>> = {
  Open: { OpenQueue: "stays", CloseQueue: "drains", SyncQueue: "stays" },
  Closed: { OpenQueue: "opens", CloseQueue: "stays", SyncQueue: "stays" },
  Closing: { OpenQueue: "opens", CloseQueue: "drains", SyncQueue: "drains" },
  Unknown: { OpenQueue: "opens", CloseQueue: "drains", SyncQueue: "stays" },
};

const intos: Readonly<Record<Move, (from: State, groups: number) => State>> = {
  opens: () => "Open",
  drains: (_, groups) => (groups === 0 ? "Closed" : "Closing"),
  stays: (from) => from,
};

/** The state after an action, with so many groups of pods in the queue. */
export const stateAfter = (from: State, action: QueueAction, groups: number): State =>
  intos[table[from][action]](from, groups);

/** A queue that says nothing is open; one that says something else is of another age. */
export const stateOf = (text: unknown): State =>
  text === undefined || text === "" ? "Open" : (states.find((state) => state === text) ?? "Unknown");

/** The states of a queue as a table: state × action → the next state. As volcano queue/state/*.go. */

export const states = ["Open", "Closed", "Closing", "Unknown"] as const;

export type State = (typeof states)[number];

/** The actions that a command may name; SyncQueue is also the action without a command. */
export const queueActions = ["OpenQueue", "CloseQueue", "SyncQueue"] as const;

export type QueueAction = (typeof queueActions)[number];

/** A queue that drains is Closing as long as groups are in it, and Closed when the last one is gone. */
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

/** Returns the state after an action, with this number of PodGroups in the queue. */
export const stateAfter = (from: State, action: QueueAction, groups: number): State =>
  intos[table[from][action]](from, groups);

/** Reads a state. A queue without one is Open; any other text is Unknown. */
export const stateOf = (text: unknown): State =>
  text === undefined || text === "" ? "Open" : (states.find((state) => state === text) ?? "Unknown");

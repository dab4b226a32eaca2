/** Virtual time. Timers are data, never closures, so that a snapshot of the clock is a copy of a list. A clock can follow
 * real time, at any speed. */

/** A task for later: `do` names it, the other fields are its JSON parameters. */
export type Task = { readonly do: string; readonly [field: string]: unknown };
type Timer = { readonly at: number; readonly what: Task };

export type ClockState = { readonly now: number; readonly timers: readonly Timer[] };

export type Clock = {
  /** Epoch ms. */
  now(): number;
  /** Does `what` at `time`. Of two tasks due at once, the one that was set first goes first. */
  at(time: number, what: Task): void;
  /** The instant at which the next task is due. */
  nextDue(): number | undefined;
  /** Advances the clock and does the tasks that become due on the way, in order. Never turns back. */
  advanceTo(time: number): void;
  /** Adds a listener that is called after each turn, for state of connections that is no part of a snapshot. */
  onTurn(listener: (now: number) => void): () => void;
  snapshot(): ClockState;
  restore(state: ClockState): void;
};

const indexFor = (timers: readonly Timer[], time: number): number => {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timers[middle]?.at ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
};

export const openClock = (start: number, run: (what: Task) => void): Clock => {
  let now = start;
  let timers: Timer[] = [];
  const listeners = new Set<(now: number) => void>();
  return {
    now: () => now,
    at: (time, what) => {
      timers.splice(indexFor(timers, time), 0, { at: time, what });
    },
    nextDue: () => timers[0]?.at,
    advanceTo: (time) => {
      for (let next = timers[0]; next !== undefined && next.at <= time; next = timers[0]) {
        timers.shift();
        now = Math.max(now, next.at);
        run(next.what);
      }
      now = Math.max(now, time);
      for (const listener of listeners) listener(now);
    },
    onTurn: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    snapshot: () => ({ now, timers: timers.slice() }),
    restore: (state) => {
      now = state.now;
      timers = state.timers.slice();
    },
  };
};

/** RFC 3339 in whole seconds, as object metadata has it. */
export const stamp = (time: number): string => new Date(time - (time % 1000)).toISOString().replace(".000Z", "Z");

/** RFC 3339 with microseconds, as leases and events have it. */
export const microStamp = (time: number): string => new Date(time).toISOString().replace("Z", "000Z");

type Drive = {
  /** Turns the clock to the present. */
  catchUp(): void;
  stop(): void;
};

export type Pace = {
  /** Simulated milliseconds per real one. */
  readonly speed?: number;
  /** Real time in ms; only its differences count. */
  readonly realNow?: () => number;
};

const longestMs = 500;

export const drive = (clock: Clock, { speed = 1, realNow = () => performance.now() }: Pace = {}): Drive => {
  const simulatedStart = clock.now();
  const realStart = realNow();
  let timer: NodeJS.Timeout | undefined;
  const present = (): number => simulatedStart + (realNow() - realStart) * speed;
  const catchUp = (): void => clock.advanceTo(Math.floor(present()));
  const next = (): number => {
    const due = clock.nextDue();
    return due === undefined ? longestMs : Math.min(longestMs, Math.max(1, (due - present()) / speed));
  };
  const beat = (): void => {
    catchUp();
    timer = setTimeout(beat, next());
    timer.unref();
  };
  beat();
  return { catchUp, stop: () => clearTimeout(timer) };
};

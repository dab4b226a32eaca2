/** Lets a simulation follow real time, at any speed: timers turn the clock, and keep no process alive. */
import type { Clock } from "./clock.ts";

export type Drive = {
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

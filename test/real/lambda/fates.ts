/** What happens to an environment in one invocation: nothing, a kill before, in the middle, after, later, or a stall. */
import type { Random } from "./random.ts";

export type Fate =
  | { readonly do: "live" }
  /** `before`: the event never arrives. `after`: all is done, and nobody is told. `idle`: told, and then it dies. */
  | { readonly do: "kill"; readonly when: "before" | "after" | "idle" }
  | { readonly do: "kill"; readonly when: "middle"; readonly afterMs: number }
  /** Stopped in the middle and going on later, when others may long have taken over. */
  | { readonly do: "stall"; readonly afterMs: number; readonly forMs: number };

/** Asked once per invocation; `typicalMs` is how long they last. */
export type Fates = (name: string, typicalMs: number) => Fate;

export const spared: Fates = () => ({ do: "live" });

export type Chances = {
  readonly random: Random;
  /** Of an invocation, from 0 to 1. */
  readonly kill: number;
  readonly stall: number;
  readonly stallMs: readonly [number, number];
};

/** Most kills fall into the middle, somewhere in the time that such an invocation usually takes. */
export const fatesOf = ({ random, kill, stall, stallMs }: Chances): Fates => {
  const middle = (typicalMs: number): number => Math.round(random() * 1.2 * typicalMs);
  return (_, typicalMs) => {
    const drawn = random();
    if (drawn < stall) {
      const [least, most] = stallMs;
      return { do: "stall", afterMs: middle(typicalMs), forMs: Math.round(least + random() * (most - least)) };
    }
    if (drawn >= stall + kill) return { do: "live" };
    const when = random();
    if (when < 0.64) return { do: "kill", when: "middle", afterMs: middle(typicalMs) };
    return { do: "kill", when: when < 0.76 ? "before" : when < 0.88 ? "after" : "idle" };
  };
};

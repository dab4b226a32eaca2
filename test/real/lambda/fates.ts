/** The fate of an environment in one invocation: none, a kill before, in the middle, after or later, or a stall. */
import type { Random } from "./random.ts";

export type Fate =
  | { readonly do: "live" }
  /**
   * `before`: the event never arrives. `after`: the work is done and the answer is lost. `idle`: killed after its
   * answer.
   */
  | { readonly do: "kill"; readonly when: "before" | "after" | "idle" }
  | { readonly do: "kill"; readonly when: "middle"; readonly afterMs: number }
  /** Stopped in the middle and resumed later, when other environments may have taken over. */
  | { readonly do: "stall"; readonly afterMs: number; readonly forMs: number };

/** Called once per invocation; `typicalMs` is its usual duration. */
export type Fates = (name: string, typicalMs: number) => Fate;

export const spared: Fates = () => ({ do: "live" });

export type Chances = {
  readonly random: Random;
  /** Probability per invocation, from 0 to 1. */
  readonly kill: number;
  readonly stall: number;
  readonly stallMs: readonly [number, number];
};

/** Most kills happen in the middle, at a random point of the usual duration. */
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

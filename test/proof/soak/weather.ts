/**
 * Random faults: every call, message and watch event may go wrong, at the rates of a life. The faults are those that
 * the sweep injects one by one.
 */
import type { Chance } from "../sweep/chance.ts";
import type { Call, Fate, Fault, Hearing, Verdict } from "../sweep/fault.ts";
import { deaths, fates, type Named, pauses, stale, troubles } from "../sweep/faults.ts";
import type { Life } from "./life.ts";

/** The shortest time between two untrue answers of the API server, ms: a client cannot detect two that agree. */
const liesEveryMs = 120_000;
/** The longest jump ahead of a process's wall clock, ms. */
const longestJumpMs = 3_600_000;

/** Untrue answers: a 404 for an object that exists, a stale read, a refusal that the server did not mean. */
const lies: ReadonlySet<string> = new Set(["404-named", "404", "422", "409-exists", "stale"]);

const staleness: Named = {
  name: "stale",
  applies: ({ via, write, by }) => via === "api" && !write && by === "step",
  verdict: () => ({ do: "pass" }),
};

const lateness: Named = {
  name: "late",
  applies: ({ write, by }) => write && by === "step",
  verdict: () => ({ do: "pass" }),
};

const kinds: readonly Named[] = [...deaths, ...deaths, ...troubles, ...pauses, staleness, lateness, lateness];

const verdictOf = (chance: Chance, { name, verdict }: Named, call: Call): Verdict => {
  if (name === "stale") return stale(1 + chance.below(40))();
  if (name === "late") return { do: "late", calls: 1 + chance.below(60), free: true };
  return verdict(call);
};

export type Weather = Fault & { clear(): void };

export const openWeather = (chance: Chance, rates: Life["rates"]): Weather => {
  let over = false;
  let lied = Number.NEGATIVE_INFINITY;
  const happens = (rate: number): boolean => !over && rate > 0 && chance.is(rate);
  return {
    call: (call, { now }) => {
      if (!happens(rates.call)) return undefined;
      const kind = chance.pick(kinds);
      if (!kind.applies(call)) return undefined;
      if (lies.has(kind.name)) {
        if (now() - lied < liesEveryMs) return undefined;
        lied = now();
      }
      return verdictOf(chance, kind, call);
    },
    message: (): Fate | undefined => (happens(rates.message) ? chance.pick(fates).fate : undefined),
    event: (_n, { relist }): Hearing => {
      if (!happens(rates.event)) return "told";
      if (chance.is(0.9)) return "missed";
      relist(500 + chance.below(20_000));
      return "broken";
    },
    jump: () => (happens(rates.call) ? chance.below(longestJumpMs) : 0),
    fired: () => true,
    clear: () => {
      over = true;
    },
  };
};

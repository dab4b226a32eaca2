/** Two invocations of one key against each other, at every point of both: the series of a scenario. */
import { firsts, type Making, type Series, snapshotFor } from "./case.ts";
import type { Call, Fault } from "./fault.ts";
import { late, lateWinner, pair } from "./faults.ts";

/** Waits of a save before others go on; by then there is news for them. */
const newsMs = [400, 7_000] as const;

const upTo = (last: number, from = 1, by = 1): readonly number[] =>
  Array.from({ length: Math.floor((last - from) / by) + 1 }, (_, index) => from + index * by);

/** A late write: before each of the next calls, then before every fourth. */
const arrivals: readonly number[] = [...upTo(8), ...upTo(160, 12, 4)];
const fewArrivals: readonly number[] = [...upTo(4), ...upTo(160, 8, 8)];

/** Writes of a run's objects. */
const acting: ReadonlySet<string> = new Set([
  "POST pods",
  "DELETE pods",
  "POST services",
  "DELETE services",
  "DELETE configmaps",
  "POST configmaps",
  "PATCH configmaps",
  "POST sparkapplications",
  "DELETE sparkapplications",
]);

/** `part`: the first invocation waits at the first call of each place only, the second at every fifth call. */
export const seriesOf = (making: Making): readonly Series[] => {
  const { baseline, name, breadth } = making;
  const { calls } = baseline;
  const all = calls.filter(({ by }) => by !== "resync");
  const steps = breadth === "part" ? firsts(all) : all;
  const [seconds, ways] = breadth === "part" ? [upTo(60, 1, 5), fewArrivals] : [upTo(60), arrivals];
  const make = (family: string, call: Call, ks: readonly number[], faultFor: (k: number) => Fault): Series => ({
    ks,
    at: (k) => ({
      id: `${name}/${family}/${call.n}/${k}`,
      family,
      call,
      snapshot: snapshotFor(making, call),
      fault: () => faultFor(k),
    }),
  });
  const pairs = steps.map((call) => make("pair", call, seconds, (k) => pair(call.n, k)));
  const writes = steps.filter(({ write }) => write);
  const saves = writes.filter(({ what }) => what.endsWith(" checkpoints"));
  const overtaken = newsMs.flatMap((ms) =>
    saves.map((call) => make(`overtaken-${ms}ms`, call, upTo(60), (k) => pair(call.n, k, ms))),
  );
  const lates = writes.map((call) => make("late", call, ways, (k) => late(call.n, k)));
  const winners = saves.flatMap((save) => {
    const after = calls.filter(
      ({ invocation, n, what }) => invocation === save.invocation && n > save.n && acting.has(what),
    );
    return [...new Set(after.map(({ what }) => what))].map((what) =>
      make(`late-${what.toLowerCase().replace(" ", "-")}`, save, ways, (k) => lateWinner(save.n, what, k)),
    );
  });
  return [...pairs, ...overtaken, ...lates, ...winners];
};

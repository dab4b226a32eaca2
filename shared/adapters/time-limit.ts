/**
 * Runs work that must not hold up everybody: what takes more time than it is given is stopped in its middle, wherever it is.
 * A script of `node:vm` with a timeout does it: its watchdog ends loops, regular expressions and sorts of this very thread,
 * and no `catch` or `finally` of the work outlives it. Only pure work may be stopped so.
 */
import { createContext, Script } from "node:vm";
import { BudgetError } from "../core/errors.ts";
import type { TimeLimit } from "../engine/ports.ts";

const isTimeout = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** Processor time of this thread, ms. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Work that had less of its time on the processor was not given the chance to end. */
const leastShare = 0.1;

/** Opens the limit. A call costs the start of a thread: some tens of microseconds. */
export const openTimeLimit = (): TimeLimit => {
  let work: () => void = () => {};
  const context = createContext({ run: () => work() });
  const script = new Script("run()");
  const finishes = (job: () => void, ms: number): boolean => {
    const outer = work;
    work = job;
    try {
      script.runInContext(context, { timeout: Math.ceil(ms) });
      return true;
    } catch (cause) {
      if (!isTimeout(cause)) throw cause;
      return false;
    } finally {
      work = outer;
    }
  };
  return (ms, job) => {
    let result: { readonly value: ReturnType<typeof job> } | undefined;
    const before = cpuMs();
    const done = finishes(() => {
      result = { value: job() };
    }, ms);
    if (done && result !== undefined) return result.value;
    // A machine that was busy with something else says nothing of the work.
    const why = cpuMs() - before < ms * leastShare ? "starved" : "stopped";
    throw new BudgetError({ message: `${why} after ${ms} ms`, waitMs: 0, why });
  };
};

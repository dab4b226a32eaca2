/**
 * Limits the time of work that would block other keys: work that takes longer is stopped wherever it is. It runs as a
 * `node:vm` script with a timeout, whose watchdog ends loops, regular expressions and sorts of this thread; no `catch`
 * or `finally` of the work runs after that. Only pure work may be stopped this way.
 */
import { createContext, Script } from "node:vm";
import { BudgetError } from "../core/http.ts";
import type { TimeLimit } from "../engine/ports.ts";

const isTimeout = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** Processor time of this thread, ms. */
export const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Least share of the time limit that stopped work must have had on the processor; with less it was starved. */
const leastShare = 0.1;

/** Returns the error of work that was stopped after `ms`, of which it had `usedMs` on the processor. */
export const stoppedAfter = (ms: number, usedMs: number): BudgetError => {
  // A busy machine says nothing about the work.
  const why = usedMs < ms * leastShare ? "starved" : "stopped";
  return new BudgetError({ message: `${why} after ${ms} ms`, waitMs: 0, why });
};

/** Opens the limit. Each call starts and joins a thread: 0.2 ms, and on a busy machine as long as a thread waits there. */
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
    throw stoppedAfter(ms, cpuMs() - before);
  };
};

/** Threads that take the pieces of a sweep in order, as many at once as there are processors. */
import { Worker } from "node:worker_threads";
import type { Choice, Outcome, Unit } from "./units.ts";
import type { Told } from "./worker.ts";

export type Pool = {
  readonly units: readonly Unit[];
  readonly threads: number;
  readonly choice: Choice;
  /** False ends the sweep. */
  readonly told: (unit: Unit, outcomes: readonly Outcome[]) => boolean;
};

/** Resolves when every piece was played, or nobody wants to hear more. */
export const runPool = ({ units, threads, choice, told }: Pool): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiting = [...units];
    const workers = new Set<Worker>();
    const leave = (worker: Worker): void => {
      workers.delete(worker);
      void worker.terminate();
      if (workers.size === 0) resolve();
    };
    const give = (worker: Worker): void => {
      const unit = waiting.shift();
      if (unit === undefined) leave(worker);
      else worker.postMessage(unit);
    };
    for (let i = 0; i < Math.max(1, Math.min(threads, units.length)); i += 1) {
      const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: choice });
      workers.add(worker);
      worker.on("error", reject);
      worker.on("message", ({ unit, outcomes }: Told) => {
        if (unit !== undefined && !told(unit, outcomes)) waiting.length = 0;
        give(worker);
      });
    }
  });

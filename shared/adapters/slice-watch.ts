/**
 * Watches slices of decisions from one thread, while a process begins many. A watchdog of `node:vm` is a thread of its
 * own for each slice, which the event loop starts and joins.
 *
 * A slice announces itself in shared memory. The thread condemns a slice that takes too long, by compare-and-swap, and
 * ends its execution through the inspector, which stops loops, regular expressions and sorts, as the watchdog does. The
 * inspector unwinds the whole stack. Therefore a slice runs in the callback of a message, where it is alone; and a slice
 * that was condemned waits for its end there, so that nothing else is unwound in its place.
 */
import { MessageChannel, Worker } from "node:worker_threads";
import type { Slices } from "../engine/ports.ts";
import { cpuMs, stoppedAfter } from "./time-limit.ts";

/** The number of slices in `countedMs` from which a thread costs less than their watchdogs. */
const many = 100;
const countedMs = 10_000;
/** The thread ends if fewer than `many` slices began in this time. */
const restMs = 60_000;
/** The longest that a condemned slice waits for its end. It comes in a few ms, or the thread is gone. */
const longestEndMs = 5_000;

/** The shared words. The state is 0 between slices, the number of the slice that runs, or its negative once condemned. */
const [state, limit, never] = [0, 1, 2];

/** The whole program of the thread: it uses nothing else of this module. */
const watch = (): void => {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  const { Session } = process.getBuiltinModule("node:inspector");
  const words: Int32Array = workerData;
  const open = () => {
    const session = new Session();
    session.connectToMainThread();
    return session;
  };
  const end = (slice: number): void => {
    const session = open();
    session.post("Runtime.terminateExecution");
    parentPort?.postMessage("stopped");
    while (Atomics.load(words, 0) === -slice) Atomics.wait(words, 0, -slice, 100);
    session.disconnect();
  };
  open().disconnect();
  parentPort?.postMessage("ready");
  let seen = 0;
  let since = 0;
  for (;;) {
    const slice = Atomics.load(words, 0);
    const now = performance.now();
    if (slice !== seen) since = now;
    seen = slice;
    const left = slice > 0 ? since + Atomics.load(words, 1) - now : 50;
    if (left <= 0 && Atomics.compareExchange(words, 0, slice, -slice) === slice) end(slice);
    Atomics.wait(words, 2, 0, Math.min(50, Math.max(1, left)));
  }
};

type Thread = {
  /** True if the thread watches. */
  readonly isReady: () => boolean;
  /** Counts a slice that begins, and starts the thread when they are many. */
  readonly count: () => void;
  /** Ends the thread for good. */
  readonly fail: () => void;
};

/** Opens the thread, which exists only while slices are many. `stopped` is called after it has ended a slice. */
const openThread = (words: Int32Array, stopped: () => void): Thread => {
  let running: { readonly worker: Worker; readonly rest: NodeJS.Timeout; ready: boolean } | undefined;
  let fails = false;
  let begun = 0;
  let countedFrom = 0;
  const end = (): void => {
    if (running === undefined) return;
    const { worker, rest } = running;
    running = undefined;
    clearInterval(rest);
    void worker.terminate();
  };
  const fail = (): void => {
    fails = true;
    end();
  };
  const start = (): void => {
    const worker = new Worker(`(${watch})()`, { eval: true, workerData: words, env: {}, execArgv: [] });
    const rest = setInterval(() => {
      if (begun < many) end();
      begun = 0;
    }, restMs).unref();
    const started = { worker, rest, ready: false };
    running = started;
    worker.on("message", (word) => {
      if (word === "ready") started.ready = true;
      else stopped();
    });
    worker.on("error", fail);
    // A listener of messages keeps the process alive again.
    worker.unref();
  };
  return {
    isReady: () => running?.ready === true,
    count: () => {
      const now = performance.now();
      if (running === undefined && now - countedFrom > countedMs) [begun, countedFrom] = [0, now];
      begun += 1;
      if (begun >= many && running === undefined && !fails) start();
    },
    fail,
  };
};

/** The slice that the thread watches. */
type Watched = { readonly ms: number; readonly cpuBefore: number; readonly stopped: (cause: unknown) => void };

/** Opens the guard by the thread. `settle` reports a slice that was unwound. */
const openGuard = () => {
  const words = new Int32Array(new SharedArrayBuffer(12));
  let watched: Watched | undefined;
  let number = 0;
  const settle = (): void => {
    if (watched === undefined) return;
    const { ms, cpuBefore, stopped } = watched;
    watched = undefined;
    Atomics.store(words, state, 0);
    stopped(stoppedAfter(ms, cpuMs() - cpuBefore));
  };
  const thread = openThread(words, settle);
  /** Ends the watch of a slice that has come to its end. A condemned one stays here until it is unwound. */
  const leave = (): void => {
    const before = performance.now();
    while (Atomics.compareExchange(words, state, number, 0) === -number) {
      if (performance.now() - before < longestEndMs) Atomics.wait(words, never, 0, 5);
      else {
        Atomics.store(words, state, 0);
        thread.fail();
      }
    }
    watched = undefined;
  };
  const guard: Slices["guard"] = (ms, work, stopped) => {
    settle();
    number = (number % 0x7fff_ffff) + 1;
    watched = { ms, cpuBefore: cpuMs(), stopped };
    Atomics.store(words, limit, Math.ceil(ms));
    Atomics.store(words, state, number);
    try {
      work();
      leave();
    } catch (cause) {
      leave();
      stopped(cause);
    }
  };
  return { thread, guard };
};

/** Returns slices that a thread watches while there are many of them, and that are guarded as `plain` otherwise. */
export const watchedSlices = (plain: Slices): Slices => {
  const { thread, guard } = openGuard();
  const { port1: receiver, port2: sender } = new MessageChannel();
  const due: (() => void)[] = [];
  /** True in the callback of a message, where only a slice runs. */
  let alone = false;
  receiver.on("message", () => {
    const begin = due.shift();
    if (due.length === 0) receiver.unref();
    alone = true;
    begin?.();
    alone = false;
  });
  receiver.unref();
  return {
    later: (begin) => {
      thread.count();
      if (!thread.isReady())
        return plain.later(() => {
          alone = false;
          begin();
        });
      due.push(begin);
      receiver.ref();
      sender.postMessage(undefined);
    },
    guard: (ms, work, stopped) => (alone && thread.isReady() ? guard : plain.guard)(ms, work, stopped),
  };
};

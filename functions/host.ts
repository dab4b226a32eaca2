/** Everything in one process, with nothing but Node and a kubeconfig: the default way to run Rekindle. */
import { setFlagsFromString } from "node:v8";
import { apiApp } from "../shared/deployments/api/app.ts";
import { runHost } from "../shared/deployments/host/process.ts";

/** Runs until SIGTERM or SIGINT. Gives the exit code. */
export const host = (args: readonly string[]): Promise<number> => {
  // A burst of events must not enlarge the young generation for good: that is a third of the host's memory.
  setFlagsFromString("--semi-space-growth-factor=1");
  // The old generation is collected when it has grown by half, not fourfold: another third, for a tenth more CPU.
  setFlagsFromString("--heap-growing-percent=50");
  return runHost({
    args,
    env: process.env,
    listener: apiApp,
    print: (line) => console.log(line),
    warn: (line) => console.error(line),
    isTerminal: process.stdout.isTTY,
    stopped: new Promise((resolve) => {
      process.once("SIGTERM", resolve);
      process.once("SIGINT", resolve);
    }),
  });
};

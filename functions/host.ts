/** Everything in one process, with nothing but Node and a kubeconfig: the default way to run Rekindle. */
import { runHost } from "../shared/wiring/process.ts";
import { apiApp } from "./api.ts";

/** Runs until SIGTERM or SIGINT. Gives the exit code. */
export const host = (args: readonly string[]): Promise<number> =>
  runHost({
    args,
    env: process.env,
    door: apiApp,
    print: (line) => console.log(line),
    warn: (line) => console.error(line),
    stopped: new Promise((resolve) => {
      process.once("SIGTERM", resolve);
      process.once("SIGINT", resolve);
    }),
  });

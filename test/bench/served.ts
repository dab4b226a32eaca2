/** Starts the simulator of a benchmark in a separate process, to use another processor if there is one. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import * as z from "zod";
import type { Options } from "../../shared/simulator/open.ts";

export type ServerOptions = Pick<Options, "nodes" | "scripts" | "commands">;

export type Server = { readonly url: string; readonly kubeconfig: string; readonly child: ChildProcess };

const reported = z.object({ url: z.string(), kubeconfig: z.string() });

export const startServer = (options: ServerOptions = {}): Promise<Server> =>
  new Promise((resolve, reject) => {
    const args = [JSON.stringify(options)];
    const child = fork(join(import.meta.dirname, "server.ts"), args, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.once("error", reject);
    child.once("message", (message) => resolve({ ...reported.parse(message), child }));
  });

/** Rekindle's built host as users install it: printed manifests, the shipped account and rights, a process of its own. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { apply } from "../../accounts.ts";
import type { Subject } from "../../subject.ts";
import { rows } from "./rows.ts";
import { scenarios } from "./scenarios.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const cli = join(root, "dist", "cli.mjs");

const output = async (program: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, [...args], { cwd: root, maxBuffer: 64 << 20 })).stdout;

export const rekindle: Subject = {
  name: "rekindle",
  install: async (plane) => {
    await output(process.execPath, ["infra/door.mjs", "infra/build.ts"]);
    await apply(plane, await output(process.execPath, [cli, "manifests", "--without-deployment"]));
    return { namespace: "rekindle", account: "rekindle" };
  },
  program: (kubeconfig) => ({
    command: [process.execPath, cli, "host", "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0"],
  }),
  version: async () => (await output("git", ["rev-parse", "--short", "HEAD"])).trim(),
  rows,
  scenarios,
};

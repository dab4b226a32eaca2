/** The built command line as a person runs it: both streams as one text, killed after 20 s. */
import { spawn } from "node:child_process";

const longestMs = 20_000;

export const runOf =
  (cli: string, kubeconfig: string) =>
  (...args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", KUBECONFIG: kubeconfig };
      const child = spawn(process.execPath, [cli, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
      let text = "";
      const take = (chunk: Buffer): void => {
        text += chunk.toString();
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      const timer = setTimeout(() => child.kill("SIGKILL"), longestMs);
      child.on("error", reject);
      child.on("close", () => {
        clearTimeout(timer);
        resolve(text);
      });
    });

/** The operator of the deployment: the built command line, with the account's settings and its own role. */
import { type ChildProcess, spawn } from "node:child_process";
import { region } from "../../cloud/account.ts";
import type { Guard } from "../../cloud/guard.ts";
import { cli } from "../installed.ts";
import { must } from "../scene.ts";

const accessKey = "operator";

export type Ran = { readonly code: number | null; readonly out: string };

type Operator = { readonly guard: Guard; readonly env: Readonly<Record<string, string>> };

const started = ({ guard, env }: Operator, args: readonly string[]): { child: ChildProcess; done: Promise<Ran> } => {
  guard.admit(accessKey, [{ Effect: "Allow", Action: ["dynamodb:*"], Resource: ["*"] }]);
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      ...{ AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: "local" },
      AWS_ENDPOINT_URL_DYNAMODB: guard.endpoint,
      ...env,
    },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
  const done = new Promise<Ran>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out }));
  });
  return { child, done };
};

/** Returns the output of the command; throws when it fails. */
export const typed = async (operator: Operator, args: readonly string[]): Promise<string> => {
  const { code, out } = await started(operator, args).done;
  must(code === 0, `rekindle ${args.join(" ")} ended with ${code}: ${out}`);
  return out;
};

/** Runs the command, and kills it at its `nth` reading of the table. */
export const killedAt = async (operator: Operator, args: readonly string[], nth: number): Promise<void> => {
  const { guard } = operator;
  const { child, done } = started(operator, args);
  let count = 0;
  guard.watch = async (who, action) => {
    if (who !== accessKey || action !== "dynamodb:GetItem") return;
    count += 1;
    if (count < nth) return;
    child.kill("SIGKILL");
    await done;
  };
  const { code, out } = await done;
  guard.watch = () => {};
  must(code === null, `it ended by itself, with ${code}, before it could be killed: ${out}`);
};

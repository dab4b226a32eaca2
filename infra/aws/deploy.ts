/** `npm run deploy`: checks a deployment before anything is created; with --apply, deploys it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { storedText } from "../../shared/adapters/aws/stored-text.ts";
import { endpointIn } from "../../shared/deployments/settings/formats.ts";
import { commandsFor, problemsWith } from "./plan.ts";
import { readTemplate } from "./template.ts";

const help = `npm run deploy -- --alias NAME --record ARN [--apply] [--set PARAMETER=VALUE]…

  --alias NAME      the cluster's name in keys; the stack is rekindle-NAME
  --record ARN      the secret that holds the cluster's record, made with rekindle cluster add
  --set P=V         a parameter of infra/aws/template.yaml, as often as there are
  --apply           deploy; without it only the plan is made: a change set that is not executed

Region and credentials are those that every AWS client reads; the sam command must be there (pip install aws-sam-cli).`;

const run = (program: string, args: readonly string[]): void => {
  console.log(`\n$ ${[program, ...args].join(" ").replace(/(AdmissionPath=)\S+/, "$1…")}`);
  const { status, error } = spawnSync(program, args, { stdio: "inherit" });
  if (error !== undefined) throw new Error(`${program} cannot be run (${error.message}): pip install aws-sam-cli`);
  if (status !== 0) throw new Error(`${program} ended with ${status}: nothing after it was done`);
};

const isWithoutCredentials = (cause: unknown): boolean =>
  cause instanceof Error && cause.cause instanceof Error && cause.cause.name === "CredentialsProviderError";

/** Reads the record where there are credentials: a mistake in it would show in every function. */
const checkRecord = async (arn: string): Promise<void> => {
  const text = await storedText(arn).catch((cause: unknown) => {
    if (isWithoutCredentials(cause)) return undefined;
    throw cause;
  });
  if (text === undefined) return console.log("the record is not looked at: no AWS credentials");
  try {
    console.log(`the record leads to ${endpointIn(text).server}`);
  } catch {
    throw new Error(`${arn} holds no cluster record: create it with rekindle cluster add`);
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      alias: { type: "string", default: "" },
      record: { type: "string", default: "" },
      set: { type: "string", multiple: true, default: [] },
      apply: { type: "boolean", default: false },
    },
  });
  if (values.help === true) return console.log(help);
  const region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"];
  const wanted = { alias: values.alias, record: values.record, set: values.set, region };
  const problems = problemsWith(readTemplate(readFileSync("infra/aws/template.yaml", "utf8")), wanted);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  await checkRecord(wanted.record);
  run("npm", ["run", "--silent", "build"]);
  for (const args of commandsFor(wanted, values.apply)) run("sam", args);
  console.log(values.apply ? "deployed" : "\nthat is the plan; the same with --apply deploys it");
};

process.chdir(new URL("../..", import.meta.url).pathname);
await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

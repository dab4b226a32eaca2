/** Lists the recorded cases below a data folder, for all cases and versions that it has. */
import { existsSync, globSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { clientOutcome } from "./client.ts";
import { executorsOutcome } from "./executors.ts";
import { argumentsOutcome, goldenOutcome } from "./operator.ts";
import type { Outcome } from "./outcome.ts";
import { executorOutcome, webhookOutcome } from "./webhook.ts";

/** A recorded case; `run` returns undefined if the recording contains nothing to compare. */
export type Case = { readonly name: string; readonly run: () => Outcome | undefined };

const posix = (path: string): string => path.split(sep).join("/");

/** Lists the cases of recorded calls: each folder has an `input.json` with `normalized.json` beside it. */
const calls = (data: string, root: string, run: (name: string, folder: string) => Outcome | undefined): Case[] =>
  globSync(`${root}/**/input.json`, { cwd: data }).map((file) => {
    const name = posix(dirname(file));
    return { name, run: () => run(name, join(data, dirname(file))) };
  });

type Recording = { readonly name: string; readonly file: string; readonly args: string; readonly webhook: boolean };

/** Lists the operator's recordings: `EXAMPLE.cluster.json` beside its arguments, or a folder for each. */
const recordings = (data: string): readonly Recording[] =>
  globSync("spark-operator/golden*/**/*cluster.json", { cwd: data }).map((file) => {
    const own = basename(file) === "cluster.json";
    const name = own ? dirname(file) : file.replace(/\.cluster\.json$/, "");
    const args = own ? join(dirname(file), "spark-submit-args.txt") : `${name}.spark-submit-args.txt`;
    return {
      name: posix(name),
      file: join(data, file),
      args: join(data, args),
      webhook: file.includes("golden-webhook"),
    };
  });

const operatorCases = ({ name, file, args, webhook }: Recording): readonly Case[] => {
  const one = (what: string, run: (called: string) => Outcome | undefined): Case => ({
    name: `${name} ${what}`,
    run: () => run(`${name} ${what}`),
  });
  return [
    ...(existsSync(args) ? [one("arguments", (called) => argumentsOutcome(called, file, args))] : []),
    webhook
      ? one("objects", (called) => webhookOutcome(called, file))
      : one("objects", (called) => goldenOutcome(called, file, args)),
    ...(webhook ? [one("executor", (called) => executorOutcome(called, file))] : []),
  ];
};

export const casesIn = (data: string): readonly Case[] =>
  [
    ...calls(data, "spark-submit", clientOutcome),
    ...calls(data, "spark-submit-executors", executorsOutcome),
    ...recordings(data).flatMap(operatorCases),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));

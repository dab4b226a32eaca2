/** Every recorded case below a data folder, whatever cases there are. */
import { existsSync, globSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { clientOutcome } from "./client.ts";
import { argumentsOutcome, executorOutcome, objectsOutcome } from "./operator.ts";
import type { Outcome } from "./outcome.ts";

export type Case = { readonly name: string; readonly run: () => Outcome };

const clientCases = (data: string): readonly Case[] =>
  globSync("spark-submit/*/*/input.json", { cwd: data }).map((file) => {
    const folder = dirname(file);
    return {
      name: folder.split(sep).join("/"),
      run: () => clientOutcome(folder.split(sep).join("/"), join(data, folder)),
    };
  });

type Recording = { readonly name: string; readonly file: string; readonly args: string; readonly webhook: boolean };

/** `EXAMPLE.cluster.json` beside its arguments, or a folder of its own. */
const recordings = (data: string): readonly Recording[] =>
  globSync("spark-operator/golden*/**/*cluster.json", { cwd: data }).map((file) => {
    const own = basename(file) === "cluster.json";
    const name = own ? dirname(file) : file.replace(/\.cluster\.json$/, "");
    const args = own ? join(dirname(file), "spark-submit-args.txt") : `${name}.spark-submit-args.txt`;
    return {
      name: name.split(sep).join("/"),
      file: join(data, file),
      args: join(data, args),
      webhook: file.includes("golden-webhook"),
    };
  });

const operatorCases = ({ name, file, args, webhook }: Recording): readonly Case[] => {
  const called = (what: string): string => `${name} ${what}`;
  const executor = webhook ? executorOutcome(called("executor"), file) : undefined;
  return [
    ...(existsSync(args)
      ? [{ name: called("arguments"), run: () => argumentsOutcome(called("arguments"), file, args) }]
      : []),
    {
      name: called("objects"),
      run: () => objectsOutcome(called("objects"), webhook ? "webhook" : "operator", file),
    },
    ...(executor === undefined ? [] : [{ name: called("executor"), run: () => executor }]),
  ];
};

export const casesIn = (data: string): readonly Case[] =>
  [...clientCases(data), ...recordings(data).flatMap(operatorCases)].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Parses a `spark-submit` command line as that program does: options, confs, the program and its arguments. */
import type { CommandLine } from "./prepare.ts";

export type Line = Omit<CommandLine, "submittedAt"> & { readonly proxyUser: string | undefined };

/** Options that stand for a conf. */
const confOf: Readonly<Record<string, string>> = {
  "--jars": "spark.jars",
  "--packages": "spark.jars.packages",
  "--exclude-packages": "spark.jars.excludes",
  "--repositories": "spark.jars.repositories",
  "--py-files": "spark.submit.pyFiles",
  "--files": "spark.files",
  "--archives": "spark.archives",
  "--driver-memory": "spark.driver.memory",
  "--driver-cores": "spark.driver.cores",
  "--driver-java-options": "spark.driver.extraJavaOptions",
  "--driver-class-path": "spark.driver.extraClassPath",
  "--driver-library-path": "spark.driver.extraLibraryPath",
  "--executor-memory": "spark.executor.memory",
  "--executor-cores": "spark.executor.cores",
  "--num-executors": "spark.executor.instances",
  "--principal": "spark.kerberos.principal",
  "--keytab": "spark.kerberos.keytab",
};

const own = ["--master", "--deploy-mode", "--class", "--name", "--conf", "-c", "--proxy-user"];

/** Options without a value. */
const switches = ["--verbose", "-v", "--load-spark-defaults"];

type Split = {
  readonly options: readonly (readonly [name: string, value: string])[];
  readonly rest: readonly string[];
};

type Read = { readonly option: readonly [string, string] | undefined; readonly width: number };

/** One option: `--name value` and `--name=value` mean the same. Undefined where the program begins. */
const readOption = (args: readonly string[], at: number): Read | { readonly refused: string } | undefined => {
  const [, name, equals] = /^(--[^=]+|-[a-z])(?:=(.*))?$/s.exec(args[at] ?? "") ?? [];
  if (name === undefined) return undefined;
  if (switches.includes(name)) return { option: undefined, width: 1 };
  if (!own.includes(name) && confOf[name] === undefined)
    return { refused: `${name} is no option that can be handed in` };
  const value = equals ?? args[at + 1];
  if (value === undefined) return { refused: `${name} needs a value` };
  return { option: [name, value], width: equals === undefined ? 2 : 1 };
};

/** Splits the arguments: the first that is no option is the program. */
const split = (args: readonly string[]): Split | { readonly refused: string } => {
  const options: (readonly [string, string])[] = [];
  for (let at = 0; at < args.length; ) {
    const read = readOption(args, at);
    if (read === undefined) return { options, rest: args.slice(at) };
    if ("refused" in read) return read;
    if (read.option !== undefined) options.push(read.option);
    at += read.width;
  }
  return { options, rest: [] };
};

const pairOf = (text: string): readonly [string, string] | undefined => {
  const at = text.indexOf("=");
  return at <= 0 ? undefined : [text.slice(0, at), text.slice(at + 1)];
};

/** Returns an error when an argument is missing or asks for an unsupported mode. */
const wrong = ({ options, rest }: Split): string | undefined => {
  const last = (name: string): string | undefined => options.findLast(([key]) => key === name)?.[1];
  const master = last("--master") ?? "";
  const mode = last("--deploy-mode") ?? "client";
  const bare = options.find(([key, value]) => ["--conf", "-c"].includes(key) && pairOf(value) === undefined);
  if (!master.startsWith("k8s://")) return `--master ${JSON.stringify(master)}: k8s://… is needed`;
  if (mode !== "cluster") return `--deploy-mode ${mode}: the driver is to run in the cluster; say cluster`;
  if (bare !== undefined) return `--conf ${JSON.stringify(bare[1])}: key=value is needed`;
  return (rest[0] ?? "") === "" ? "the program is missing: a jar, a Python file or spark-internal" : undefined;
};

/** Parses a command line, or says why it is none. Of options and confs that are given twice the last counts. */
export const lineOf = (args: readonly string[]): Line | { readonly refused: string } => {
  const read = split(args);
  if ("refused" in read) return read;
  const refused = wrong(read);
  if (refused !== undefined) return { refused };
  const { options, rest } = read;
  const last = (name: string): string | undefined => options.findLast(([key]) => key === name)?.[1];
  const [resource = "", ...given] = rest;
  const confs = options.flatMap(([key, value]) => (["--conf", "-c"].includes(key) ? [pairOf(value) ?? ["", ""]] : []));
  const named = Object.fromEntries(confs)["spark.app.name"];
  return {
    master: last("--master") ?? "",
    name: last("--name") ?? named ?? last("--class") ?? resource,
    mainClass: last("--class"),
    resource,
    arguments: given,
    confs: confs.map(([key = "", value = ""]) => [key, value] as const),
    options: Object.fromEntries(
      options.flatMap(([key, value]) => (confOf[key] === undefined ? [] : [[confOf[key], value]])),
    ),
    proxyUser: last("--proxy-user"),
  };
};

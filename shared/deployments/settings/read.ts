/** Reads the settings of a function, or throws one line that names everything that is missing or wrong. */
import type * as z from "zod";
import {
  type Environment,
  fileIn,
  fromEnvironment,
  fromFile,
  type Problem,
  type Reading,
  type Written,
} from "./sources.ts";
import {
  defaultOf,
  type FunctionReader,
  namesFor,
  needs,
  type Reader,
  rowOf,
  type SettingName,
  type Settings,
  variableName,
} from "./table.ts";

export type { Environment } from "./sources.ts";
export type { Settings } from "./table.ts";

type Said = ReadonlyMap<SettingName, Written>;

/** Returns the value of highest precedence of each setting. `weakestFirst` is overwritten from left to right. */
export const strongest = (weakestFirst: readonly Written[]): Said =>
  new Map(weakestFirst.map((written) => [written.name, written]));

const isComplete = <R extends Reader>(values: object, reader: R): values is Settings<R> =>
  namesFor(reader).every((name) => name in values);

export type Parsed<R extends Reader> =
  | { readonly values: Settings<R> }
  | { readonly problems: readonly (Problem & { readonly name: SettingName })[] };

const messages = (error: z.ZodError): string => error.issues.map(({ message }) => message).join("; ");

/** Parses the settings of a reader, with its defaults. */
export const parseFor = <R extends Reader>(reader: R, said: Said): Parsed<R> => {
  const values: Record<string, unknown> = {};
  const problems: (Problem & { readonly name: SettingName })[] = [];
  for (const name of namesFor(reader)) {
    const written = said.get(name);
    const value = written === undefined ? defaultOf(name, reader) : written.value;
    const origin = written?.origin ?? variableName(name);
    values[name] = undefined;
    if (value === undefined) {
      if (needs(reader, name, (other) => said.has(other))) problems.push({ name, origin, text: "is missing" });
      continue;
    }
    const read = rowOf(name).schema().safeParse(value);
    if (read.success) values[name] = read.data;
    else problems.push({ name, origin, text: messages(read.error) });
  }
  if (problems.length > 0) return { problems };
  if (!isComplete(values, reader)) throw new Error("settings were read incompletely");
  return { values };
};

const queues = ["fifoUrl", "delayUrl", "updatesUrl"] as const;

/** Finds queues outside AWS_REGION, the region in which the SQS client sends its requests. */
const elsewhere = (env: Environment, said: Said): readonly Problem[] => {
  const { AWS_REGION: region } = env;
  return queues.flatMap((name) => {
    const { value, origin } = said.get(name) ?? {};
    const home = /^https:\/\/sqs\.([a-z0-9-]+)\.amazonaws\.com/.exec(String(value ?? ""))?.[1];
    if (origin === undefined || home === undefined || region === undefined || home === region) return [];
    return [{ origin, text: `its queue is in ${home}, AWS_REGION is ${region}: correct one of them` }];
  });
};

const refusal = (name: SettingName): string => {
  const { instead } = rowOf(name);
  return instead === undefined
    ? "is a setting of a host, and functions have none like it; unset it"
    : `is a setting of a host; a function takes ${variableName(instead)} instead`;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("functions read settings as JSON: write JSON");
  }
};

const inFunctions: Reading = { mode: "functions", refuse: refusal, parse: parseJson };

/**
 * Reads the settings of a function. Throws one line that names every setting that is missing, unknown or wrong; it
 * contains no value of a setting.
 */
export const settingsFor = <R extends FunctionReader>(reader: R, env: Environment): Settings<R> => {
  const path = fileIn(env);
  const file = path === undefined ? { written: [], problems: [] } : fromFile(path, inFunctions);
  const variables = fromEnvironment(env, inFunctions);
  const said = strongest([...file.written, ...variables.written]);
  const parsed = parseFor(reader, said);
  const wrong = "problems" in parsed ? parsed.problems : [];
  const problems = [...wrong, ...elsewhere(env, said), ...file.problems, ...variables.problems];
  if ("values" in parsed && problems.length === 0) return parsed.values;
  throw new Error(
    `set the function's environment: ${problems.map(({ origin, text }) => `${origin} (${text})`).join(", ")}`,
  );
};

/**
 * Reads the settings of the command line from an environment that is meant for hosts and functions. Throws one line.
 */
export const settingsForCli = (env: Environment): Settings<"cli"> => {
  const { written } = fromEnvironment(env, inFunctions);
  const parsed = parseFor("cli", strongest(written));
  if ("values" in parsed) return parsed.values;
  throw new Error(parsed.problems.map(({ origin, text }) => `${origin}: ${text}`).join("; "));
};

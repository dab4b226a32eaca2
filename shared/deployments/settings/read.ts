/**
 * Reads the settings of a function, or throws one line that names everything that is missing or wrong. Sources besides
 * flags are the environment, a document in the environment, and a file.
 */
import { readFileSync } from "node:fs";
import type * as z from "zod";
import { oncePer } from "../../core/cache.ts";
import { isRecord } from "../../core/json.ts";
import { errorText, nearTo } from "../../core/text.ts";
import { inFile } from "./formats.ts";
import {
  defaultOf,
  type FunctionReader,
  fileName,
  isReadIn,
  type Mode,
  namesFor,
  needs,
  type Reader,
  rowOf,
  type SettingName,
  type Settings,
  settingNames,
  variableName,
} from "./table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A value as it was written, and its origin as messages name it. */
export type Written = { readonly name: SettingName; readonly value: unknown; readonly origin: string };

/** A problem with a setting, and its origin. */
export type Problem = { readonly origin: string; readonly text: string };

export type Source = { readonly written: readonly Written[]; readonly problems: readonly Problem[] };

/** Reads the text of a document. Throws where it cannot. */
export type ParseText = (text: string) => unknown;

/** Returns the reason why a setting is not read in a mode. */
export type Refuse = (name: SettingName) => string;

/** The rules by which a mode reads its sources. */
export type ReadRules = { readonly mode: Mode; readonly refuse: Refuse; readonly parse: ParseText };

/** Kubernetes gives every pod variables of this form for a Service named rekindle: they are not settings. */
const ofService = /^REKINDLE_(SERVICE_|PORT(_|$)|.+_SERVICE_(HOST|PORT)|.+_PORT(_\d+_|$))/;

/** The variables of a file of settings, and of a document of settings. */
export const fileVariable = "REKINDLE_CONFIG";
export const documentVariable = "REKINDLE_SETTINGS";

/** Variables that are no settings: the two above, and the folder of a demo. */
const others: readonly string[] = [fileVariable, documentVariable, "REKINDLE_DATA"];

/** Returns a suggestion of the nearest known name; `otherwise` where none is near. */
export const meant = (unknown: string, known: readonly string[], otherwise = ""): string => {
  const [best] = nearTo(unknown, known);
  return best === undefined ? otherwise : `; did you mean ${best}?`;
};

type Named = { readonly name: SettingName; readonly isFile: boolean };

/**
 * Returns the settings by each of their names: by `nameOf` and, for the file of a secret, by `nameOf` with `suffix`.
 */
const named = (nameOf: (name: SettingName) => readonly string[], suffix: string): ReadonlyMap<string, Named> =>
  new Map(
    settingNames.flatMap((name) =>
      nameOf(name).flatMap((as): readonly (readonly [string, Named])[] => [
        [as, { name, isFile: false }],
        ...(rowOf(name).secret === true ? [[`${as}${suffix}`, { name, isFile: true }] as const] : []),
      ]),
    ),
  );

const variables = named((name) => {
  const { alias } = rowOf(name);
  return alias === undefined ? [variableName(name)] : [variableName(name), alias];
}, "_FILE");

const fileKeys = (): ReadonlyMap<string, Named> => named((name) => [...new Set([fileName(name), name])], "File");

type Entry = { readonly as: string; readonly value: unknown; readonly origin: string };

const readEntry = (entry: Entry, known: ReadonlyMap<string, Named>, { mode, refuse }: ReadRules): Written | Problem => {
  const { as, value, origin } = entry;
  const found = known.get(as);
  if (found === undefined) {
    const offered = [...known].flatMap(([one, { name }]) => (isReadIn(mode, name) ? [one] : []));
    return { origin, text: `unknown${meant(as, offered, mode === "host" ? "; --help lists them all" : "")}` };
  }
  const { name, isFile } = found;
  if (!isReadIn(mode, name)) return { origin, text: refuse(name) };
  return { name, value: isFile ? inFile(value) : value, origin };
};

/** Finds settings with different values under two names. */
const repeated = (written: readonly Written[]): readonly Problem[] => {
  const first = new Map<SettingName, Written>();
  return written.flatMap((one) => {
    const before = first.get(one.name);
    if (before === undefined) {
      first.set(one.name, one);
      return [];
    }
    if (before.value === one.value) return [];
    return [{ origin: one.origin, text: `sets the same setting as ${before.origin}: unset one of them` }];
  });
};

const sourceOf = (entries: readonly Entry[], known: ReadonlyMap<string, Named>, reading: ReadRules): Source => {
  const read = entries.map((entry) => readEntry(entry, known, reading));
  const written = read.flatMap((one) => ("name" in one ? [one] : []));
  return { written, problems: [...read.flatMap((one) => ("text" in one ? [one] : [])), ...repeated(written)] };
};

/**
 * Returns whether a variable counts as unset. An empty one of a setting without a default does: templates leave a
 * setting out in this way.
 */
const isLeftOut = (value: unknown, found: Named | undefined): boolean =>
  value === undefined || (value === "" && found !== undefined && rowOf(found.name).default === undefined);

const fromVariables = (environment: Environment, reading: ReadRules): Source => {
  const entries = Object.entries(environment).flatMap(([as, value]): readonly Entry[] => {
    const isOurs = variables.has(as) || (as.startsWith("REKINDLE_") && !ofService.test(as) && !others.includes(as));
    return isOurs && !isLeftOut(value, variables.get(as)) ? [{ as, value, origin: as }] : [];
  });
  return sourceOf(entries, variables, reading);
};

const fromText = (origin: string, text: string, reading: ReadRules): Source => {
  let value: unknown;
  try {
    value = reading.parse(text);
  } catch (cause) {
    return { written: [], problems: [{ origin, text: errorText(cause) }] };
  }
  if (value === null) return { written: [], problems: [] };
  if (!isRecord(value)) return { written: [], problems: [{ origin, text: "must hold settings as `name: value`" }] };
  const entries = Object.entries(value).map(([as, one]) => ({ as, value: one, origin: `${origin}: ${as}` }));
  return sourceOf(entries, fileKeys(), reading);
};

/** Reads a file of settings. A missing file is a problem. */
export const fromFile = (path: string, reading: ReadRules): Source => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const why = `cannot be read (${errorText(cause).split(",")[0] ?? ""})`;
    return { written: [], problems: [{ origin: path, text: why }] };
  }
  return fromText(path, text, reading);
};

/**
 * Reads the variables of an environment and the document in it. A setting with different values in both is a problem.
 */
export const fromEnvironment = (environment: Environment, reading: ReadRules): Source => {
  const said = fromVariables(environment, reading);
  const document = environment[documentVariable] ?? "";
  if (document === "") return said;
  const read = fromText(documentVariable, document, reading);
  const written = [...read.written, ...said.written];
  return { written, problems: [...read.problems, ...said.problems, ...repeated(written)] };
};

/** Returns the file that an environment names. */
export const fileIn = (environment: Environment): string | undefined => environment[fileVariable] || undefined;

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

const schemaOf = oncePer(({ schema }: ReturnType<typeof rowOf>) => schema());

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
    const read = schemaOf(rowOf(name)).safeParse(value);
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

const inFunctions: ReadRules = { mode: "functions", refuse: refusal, parse: parseJson };

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

/** Sources of settings besides flags: the environment, a document in the environment, and a file. */
import { readFileSync } from "node:fs";
import { nearTo } from "../../core/near.ts";
import { inFile } from "./secret.ts";
import { fileName, isReadIn, type Mode, rowOf, type SettingName, settingNames, variableName } from "./table.ts";

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
export type Reading = { readonly mode: Mode; readonly refuse: Refuse; readonly parse: ParseText };

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

const variables = (): ReadonlyMap<string, Named> =>
  named((name) => {
    const { alias } = rowOf(name);
    return alias === undefined ? [variableName(name)] : [variableName(name), alias];
  }, "_FILE");

const fileKeys = (): ReadonlyMap<string, Named> => named((name) => [...new Set([fileName(name), name])], "File");

type Entry = { readonly as: string; readonly value: unknown; readonly origin: string };

const readEntry = (entry: Entry, known: ReadonlyMap<string, Named>, { mode, refuse }: Reading): Written | Problem => {
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
    return [{ origin: one.origin, text: `says the same setting as ${before.origin}: unset one of them` }];
  });
};

const sourceOf = (entries: readonly Entry[], known: ReadonlyMap<string, Named>, reading: Reading): Source => {
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

const fromVariables = (environment: Environment, reading: Reading): Source => {
  const known = variables();
  const entries = Object.entries(environment).flatMap(([as, value]): readonly Entry[] => {
    const isOurs = known.has(as) || (as.startsWith("REKINDLE_") && !ofService.test(as) && !others.includes(as));
    return isOurs && !isLeftOut(value, known.get(as)) ? [{ as, value, origin: as }] : [];
  });
  return sourceOf(entries, known, reading);
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const fromText = (origin: string, text: string, reading: Reading): Source => {
  let value: unknown;
  try {
    value = reading.parse(text);
  } catch (cause) {
    return { written: [], problems: [{ origin, text: messageOf(cause) }] };
  }
  if (value === null) return { written: [], problems: [] };
  if (!isRecord(value)) return { written: [], problems: [{ origin, text: "must hold settings as `name: value`" }] };
  const entries = Object.entries(value).map(([as, one]) => ({ as, value: one, origin: `${origin}: ${as}` }));
  return sourceOf(entries, fileKeys(), reading);
};

/** Reads a file of settings. A missing file is a problem. */
export const fromFile = (path: string, reading: Reading): Source => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const why = `cannot be read (${messageOf(cause).split(",")[0] ?? ""})`;
    return { written: [], problems: [{ origin: path, text: why }] };
  }
  return fromText(path, text, reading);
};

/**
 * Reads the variables of an environment and the document in it. A setting with different values in both is a problem.
 */
export const fromEnvironment = (environment: Environment, reading: Reading): Source => {
  const said = fromVariables(environment, reading);
  const document = environment[documentVariable] ?? "";
  if (document === "") return said;
  const read = fromText(documentVariable, document, reading);
  const written = [...read.written, ...said.written];
  return { written, problems: [...read.problems, ...said.problems, ...repeated(written)] };
};

/** Returns the file that an environment names. */
export const fileIn = (environment: Environment): string | undefined => environment[fileVariable] || undefined;

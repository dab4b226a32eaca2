/**
 * Reads the configuration of a host from flags, environment and a file, in that order of precedence, or reports one
 * line per mistake.
 */
import { type Flags, fromFlags } from "./flags.ts";
import { effectiveText, helpLines } from "./help.ts";
import { parseFor, strongest } from "./read.ts";
import { reference } from "./reference.ts";
import {
  documentVariable,
  type Environment,
  fileIn,
  fromEnvironment,
  fromFile,
  type ParseText,
  type Problem,
  type Reading,
  type Source,
  type Written,
} from "./sources.ts";
import { type Configuration, rowOf, type SettingName, variableName } from "./table.ts";

/** The outcome of reading the settings: run, print a text and stop, or refuse with one line per problem. */
export type Asked =
  | { readonly do: "run"; readonly configuration: Configuration; readonly notes: readonly string[] }
  | { readonly do: "print"; readonly text: string }
  | { readonly do: "refuse"; readonly problems: readonly string[] };

const help = (): string =>
  [
    "Usage: rekindle host [settings]",
    "",
    "Watches the cluster of your kubeconfig and runs its applications until SIGTERM or Ctrl-C. Try it with --dry-run first.",
    "",
    "Settings, as flags; as REKINDLE_… in the environment; or in a YAML or JSON file, weakest last:",
    "",
    ...helpLines(),
    "",
    "Flags of the Spark operator's controller are taken, too: what has no meaning here is said and ignored.",
  ].join("\n");

const refusal = (name: SettingName): string => {
  const { instead } = rowOf(name);
  if (instead !== undefined) return `is a setting of functions; a host takes ${variableName(instead)} instead`;
  return `is a setting of functions, and a host has none like it: ${reference[name].absent?.host ?? ""}; unset it`;
};

/** Loads the YAML parser; called only where there is a text to parse. */
const openYaml = async (): Promise<ParseText> => {
  const { parseDocument } = await import("yaml");
  return (text) => {
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`is not YAML (${error.message.split("\n")[0] ?? ""})`);
    return document.toJS();
  };
};

const readingOf = async (hasTexts: boolean): Promise<Reading> => ({
  mode: "host",
  refuse: refusal,
  parse: hasTexts ? await openYaml() : JSON.parse,
});

const nothing: Source = { written: [], problems: [] };

const isSecret = (name: SettingName): boolean => rowOf(name).secret === true;

/** Returns the line of a problem, with the wrong value unless it is a secret. */
const lineOf = (
  { name, origin, text }: Problem & { readonly name: SettingName },
  said: ReadonlyMap<SettingName, Written>,
): string => {
  const value = said.get(name)?.value;
  return value === undefined || isSecret(name) ? `${origin}: ${text}` : `${origin}=${String(value)}: ${text}`;
};

const inEnvironment = ({ written, problems }: Source): Source => {
  const placed = <Place extends { readonly origin: string }>(one: Place): Place => ({
    ...one,
    origin: `environment ${one.origin}`,
  });
  return { written: written.map(placed), problems: problems.map(placed) };
};

const problemsOf = (sources: readonly Pick<Source, "problems">[]): readonly string[] =>
  sources.flatMap(({ problems }) => problems.map(({ origin, text }) => `${origin}: ${text}`));

const asked = async (flags: Flags, environment: Environment): Promise<Asked> => {
  const path = flags.file ?? fileIn(environment);
  const inHost = await readingOf(path !== undefined || environment[documentVariable] !== undefined);
  const file = path === undefined || path === "" ? nothing : fromFile(path, inHost);
  const variables = inEnvironment(fromEnvironment(environment, inHost));
  const said = strongest([...file.written, ...variables.written, ...flags.written]);
  const parsed = parseFor("host", said);
  const unknown = problemsOf([file, variables, flags]);
  if ("problems" in parsed)
    return { do: "refuse", problems: [...unknown, ...parsed.problems.map((one) => lineOf(one, said))] };
  if (unknown.length > 0) return { do: "refuse", problems: unknown };
  return flags.asked.has("print-config")
    ? { do: "print", text: effectiveText(said) }
    : { do: "run", configuration: parsed.values, notes: flags.notes };
};

/** Reads all sources. `args`: the arguments after the command's name. */
export const readConfiguration = async (args: readonly string[], environment: Environment): Promise<Asked> => {
  const flags = fromFlags(args);
  return flags.asked.has("help") ? { do: "print", text: help() } : await asked(flags, environment);
};

/** Returns the default settings of a host. */
export const defaults = (): Configuration => {
  const parsed = parseFor("host", new Map());
  if ("values" in parsed) return parsed.values;
  throw new Error(`defaults do not parse: ${parsed.problems.map(({ origin }) => origin).join(", ")}`);
};

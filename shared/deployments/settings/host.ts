/**
 * Reads the configuration of a host from flags, environment and a file, in that order of precedence, or reports one
 * line per mistake. The flags include those of the controllers that a host replaces; the help shows the effective
 * values with their origins.
 */
import { parseArgs } from "node:util";
import { inFile } from "./formats.ts";
import {
  documentVariable,
  type Environment,
  fileIn,
  fromEnvironment,
  fromFile,
  meant,
  type ParseText,
  type Problem,
  parseFor,
  type ReadRules,
  type Source,
  strongest,
  type Written,
} from "./read.ts";
import { reference } from "./reference.ts";
import {
  type Configuration,
  defaultOf,
  fileName,
  flagName,
  isReadBy,
  isSwitch,
  rowOf,
  type SettingName,
  settingNames,
  variableName,
} from "./table.ts";
import {
  asWebhook,
  type FlagMeaning,
  type Part,
  type Row,
  rows,
  subcommands,
  understood,
  upstreamOptions,
  volcanoRows,
  webhookRows,
} from "./upstream-flags.ts";

const flagged: readonly SettingName[] = settingNames.filter((name) => isReadBy("host", name));

const stringOptions = { config: { type: "string" }, help: { type: "boolean", short: "h" } } as const;

const optionsOf = (): Record<string, { type: "string" | "boolean"; short?: string }> => ({
  ...stringOptions,
  ...upstreamOptions([...volcanoRows, ...rows, ...webhookRows]),
  "print-config": { type: "boolean" },
  ...Object.fromEntries(
    flagged.map((name) => [flagName(name), { type: isSwitch(name) ? "boolean" : "string" } as const]),
  ),
  output: { type: "string", short: "o" },
});

type Flags = Source & {
  readonly requested: ReadonlySet<string>;
  readonly file: string | undefined;
  /** One line for each accepted flag that has no effect. */
  readonly notes: readonly string[];
};

const settingOf = (flag: string): SettingName | undefined => flagged.find((name) => flagName(name) === flag);

type Token = { readonly flag: string; readonly value: string | undefined; readonly negated: boolean };

/** A switch may be written bare, negated (--no-dry-run) or with a value (--dry-run=false). */
const writtenBy = (name: SettingName, { flag, value, negated }: Token): Written | Problem => {
  const origin = `flag --${flag}`;
  if (value !== undefined && rowOf(name).secret === true) return { name, value: inFile(value), origin };
  if (value !== undefined && value !== "") return { name, value, origin };
  if (isSwitch(name)) return { name, value: String(!negated), origin };
  return value === "" ? { name, value, origin } : { origin, text: `needs a value, e.g. --${flag}=…` };
};

const tokensOf = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: optionsOf(), strict: false, allowPositionals: true, tokens: true }).tokens;

type Read =
  | { readonly is: "problem"; readonly problem: Problem }
  | { readonly is: "note"; readonly text: string }
  | { readonly is: "nothing" }
  | { readonly is: "file"; readonly path: string | undefined }
  | { readonly is: "requested"; readonly name: string }
  | { readonly is: "part"; readonly part: Part; readonly value: string }
  | { readonly is: "written"; readonly written: Written };

const problem = (origin: string, text: string): Read => ({ is: "problem", problem: { origin, text } });

/** The flag tables of one or more programs. */
type Tables = readonly (readonly Row[])[];

/** Flag tables of upstream's programs that are started without a subcommand. */
const wordless: Tables = [rows, volcanoRows];

type Given = { readonly name: string; readonly value: string | undefined };

/**
 * Returns the reading of the first table that accepts the flag, else its first problem; undefined where no table has
 * the flag.
 */
const understoodBy = ({ name, value }: Given, tables: Tables): FlagMeaning | undefined => {
  const readings = tables.map((table) => understood(name, value, table)).filter((one) => one !== undefined);
  return readings.find(({ is }) => is !== "problem") ?? readings[0];
};

const readFlag = ({ name, value }: Given, tables: Tables): Read => {
  if (name === "config") return { is: "file", path: value };
  if (name === "help" || name === "print-config") return { is: "requested", name };
  const negated = name.startsWith("no-");
  const setting = settingOf(negated ? name.slice(3) : name);
  const upstreams = setting === undefined ? understoodBy({ name, value }, tables) : undefined;
  if (upstreams !== undefined) return readUpstream(name, upstreams);
  if (setting === undefined) {
    const known = flagged.map((one) => `--${flagName(one)}`);
    return problem(`flag --${name}`, `unknown${meant(`--${name}`, known, "; --help lists them all")}`);
  }
  const written = writtenBy(setting, { flag: name, value, negated });
  return "text" in written ? { is: "problem", problem: written } : { is: "written", written };
};

const readUpstream = (name: string, found: FlagMeaning): Read => {
  const origin = `flag --${name}`;
  if (found.is === "problem") return problem(origin, found.text);
  return found.is === "written" ? { is: "written", written: { name: found.name, value: found.value, origin } } : found;
};

/**
 * Returns whether an argument follows an unknown flag and was meant as its value, so that one mistake is reported once.
 */
const isValueOfUnknown = (before: ReturnType<typeof tokensOf>[number] | undefined): boolean =>
  before?.kind === "option" && before.value === undefined && !Object.hasOwn(optionsOf(), before.name);

/** Upstream's default for namespace and name. */
const upstreamService = "spark-webhook";

/** Combines upstream's two flags about one Service into a setting; empty where neither is given. */
const reachOf = (read: readonly Read[]): readonly Written[] => {
  const half = (part: Part): string | undefined =>
    read.flatMap((found) => (found.is === "part" && found.part === part ? [found.value] : [])).at(-1);
  const [namespace, name] = [half("namespace"), half("name")];
  if (namespace === undefined && name === undefined) return [];
  const value = `${namespace ?? upstreamService}/${name ?? upstreamService}`;
  return [{ name: "admissionReach", value, origin: "flags --webhook-svc-namespace, --webhook-svc-name" }];
};

const webhookReads: readonly Read[] = [
  { is: "written", written: { name: asWebhook.name, value: "true", origin: "webhook start" } },
  { is: "note", text: asWebhook.note },
];

/** Reads the command line. An unknown flag is a problem, and is not guessed. */
const fromFlags = (given: readonly string[]): Flags => {
  const started = subcommands.find(({ words }) => words.every((word, at) => given[at] === word));
  const { words, table } = started ?? { words: [], table: undefined };
  const tables = table === undefined ? wordless : [table];
  const tokens = tokensOf(given.slice(words.length));
  const flags = tokens.flatMap((token, at): readonly Read[] => {
    if (token.kind === "option") return [readFlag({ name: token.name, value: token.value }, tables)];
    if (token.kind !== "positional" || isValueOfUnknown(tokens[at - 1])) return [];
    return [problem(token.value, "settings are flags, e.g. --namespaces=a,b")];
  });
  const read = table === webhookRows ? [...webhookReads, ...flags] : flags;
  return {
    written: [...read.flatMap((found) => (found.is === "written" ? [found.written] : [])), ...reachOf(read)],
    problems: read.flatMap((found) => (found.is === "problem" ? [found.problem] : [])),
    notes: [...new Set(read.flatMap((found) => (found.is === "note" ? [found.text] : [])))],
    requested: new Set(read.flatMap((found) => (found.is === "requested" ? [found.name] : []))),
    file: read.flatMap((found) => (found.is === "file" ? [found.path] : [])).at(-1),
  };
};

const ofHost: readonly SettingName[] = settingNames.filter((name) => isReadBy("host", name));

const besides = [
  { flag: "--config FILE", text: "read settings from this file (or $REKINDLE_CONFIG)" },
  { flag: "--print-config", text: "print what is in force, and where each value came from, and stop" },
];

const meaning = (name: SettingName): string =>
  rowOf(name).secret === true ? `file: ${reference[name].text}` : reference[name].text;

/** Returns the help: one line per setting, and per flag that is not a setting. */
const helpLines = (): readonly string[] => {
  const settings = ofHost.map((name) => {
    const value = defaultOf(name, "host");
    const shown = value === undefined || value === "" || value === "false" ? "" : ` (${value})`;
    return { flag: `--${flagName(name)}${isSwitch(name) ? "" : " VALUE"}`, text: `${meaning(name)}${shown}` };
  });
  const rows = [...settings, ...besides];
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  return rows.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}`);
};

/** Values that YAML 1.1 and 1.2 read as the text that they are: names, paths, lists, durations, sizes. */
const plain = /^([A-Za-z/][\w./,=-]*|\d+(ms|[smhd]|[KMGT]i?))$/;

/** Words that YAML 1.1 or 1.2 reads as a boolean or as nothing. */
const reserved = /^(true|false|yes|no|on|off|y|n|null)$/i;

/** Returns a text as YAML reads it back: with quotes where YAML would take it for something else. */
const quoted = (text: string): string => (plain.test(text) && !reserved.test(text) ? text : JSON.stringify(text));

const isNumber = (name: SettingName): boolean => /^\d+$/.test(defaultOf(name, "host") ?? "");

const isFile = (value: unknown): value is { readonly file: string } =>
  typeof value === "object" && value !== null && "file" in value;

/** Returns the line of a setting as it was written; for a secret its file, else undefined. */
const shown = (name: SettingName, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (rowOf(name).secret === true) return isFile(value) ? `${fileName(name)}File: ${quoted(value.file)}` : undefined;
  if (Array.isArray(value) && value.every((one) => typeof one === "string"))
    return `${fileName(name)}: ${quoted(value.join(","))}`;
  if (isSwitch(name) || isNumber(name)) return `${fileName(name)}: ${String(value)}`;
  const text = typeof value === "object" ? JSON.stringify(value) : quoted(String(value));
  return `${fileName(name)}: ${text}`;
};

/** Returns the effective values with their origins, as YAML that a host can read back. */
const effectiveText = (said: ReadonlyMap<SettingName, Written>): string => {
  const rows = ofHost.map((name) => {
    const written = said.get(name);
    const line = shown(name, written === undefined ? defaultOf(name, "host") : written.value);
    return { line: line ?? `# ${fileName(name)}:`, origin: written?.origin ?? "default" };
  });
  const width = Math.max(...rows.map(({ line }) => line.length));
  return rows.map(({ line, origin }) => `${line.padEnd(width)}  # ${origin}`).join("\n");
};

/** The outcome of reading the settings: run, print a text and stop, or refuse with one line per problem. */
export type SettingsOutcome =
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
    "Flags of the Spark operator's controller are accepted, too: those without an effect here are logged and ignored.",
  ].join("\n");

const refusal = (name: SettingName): string => {
  const { instead } = rowOf(name);
  if (instead !== undefined) return `is a setting of functions; a host takes ${variableName(instead)} instead`;
  return `is a setting of functions, and a host has none like it: ${reference[name].absent?.host ?? ""}; unset it`;
};

/** Loads the YAML parser; called only where there is a text to parse. */
const openYaml = async (): Promise<ParseText> => (await import("../../adapters/kubernetes/yaml.ts")).parseYaml;

const readingOf = async (hasTexts: boolean): Promise<ReadRules> => ({
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

const requested = async (flags: Flags, environment: Environment): Promise<SettingsOutcome> => {
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
  return flags.requested.has("print-config")
    ? { do: "print", text: effectiveText(said) }
    : { do: "run", configuration: parsed.values, notes: flags.notes };
};

/** Reads all sources. `args`: the arguments after the command's name. */
export const readConfiguration = async (
  args: readonly string[],
  environment: Environment,
): Promise<SettingsOutcome> => {
  const flags = fromFlags(args);
  return flags.requested.has("help") ? { do: "print", text: help() } : await requested(flags, environment);
};

/** Returns the default settings of a host. */
export const defaults = (): Configuration => {
  const parsed = parseFor("host", new Map());
  if ("values" in parsed) return parsed.values;
  throw new Error(`defaults do not parse: ${parsed.problems.map(({ origin }) => origin).join(", ")}`);
};

/** Where settings are written: flags, environment, a file. Each value keeps the words that name its place. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { nearTo } from "../../core/near.ts";
import { functionVariables } from "./function.ts";
import { refusalByHost } from "./names.ts";
import { fileName, flagName, isKeyName, isSwitch, type KeyName, keyNames, variableName } from "./table.ts";
import {
  asWebhook,
  type Part,
  type Row,
  rows,
  subcommands,
  type Understood,
  understood,
  upstreamOptions,
  webhookRows,
} from "./upstream-flags.ts";
import { volcanoRows } from "./volcano-flags.ts";

/** A value as it was written, and where, as a message names the place. */
export type Written = { readonly key: KeyName; readonly value: unknown; readonly origin: string };
export type Source = { readonly written: readonly Written[]; readonly problems: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Kubernetes gives every pod variables of this form for a Service named rekindle: they are not ours. */
const ofService = /^REKINDLE_(SERVICE_|PORT(_|$)|.+_SERVICE_(HOST|PORT)|.+_PORT(_\d+_|$))/;
/** Read by others than the configuration. */
const elsewhere: readonly string[] = ["REKINDLE_CONFIG", "REKINDLE_DATA"];

/** The nearest known name, when one is near enough to be what was meant. */
const meant = (unknown: string, known: readonly string[]): string => {
  const [best] = nearTo(unknown, known);
  return best === undefined ? "; --help lists them all" : `; did you mean ${best}?`;
};

const stringOptions = { config: { type: "string" }, help: { type: "boolean", short: "h" } } as const;

const optionsOf = (): Record<string, { type: "string" | "boolean"; short?: string }> => ({
  ...stringOptions,
  ...upstreamOptions([...volcanoRows, ...rows, ...webhookRows]),
  "print-config": { type: "boolean" },
  ...Object.fromEntries(
    keyNames.map((key) => [flagName(key), { type: isSwitch(key) ? "boolean" : "string" } as const]),
  ),
  output: { type: "string", short: "o" },
});

export type Flags = Source & {
  readonly asked: ReadonlySet<string>;
  readonly file: string | undefined;
  /** What was taken, and has no effect. */
  readonly notes: readonly string[];
};

const keyOfFlag = (flag: string): KeyName | undefined => keyNames.find((key) => flagName(key) === flag);

type Token = { readonly name: string; readonly value: string | undefined; readonly negated: boolean };

/** A switch may be written bare, negated (--no-dry-run) or with a value (--dry-run=false). */
const writtenBy = (key: KeyName, { name, value, negated }: Token): Written | string => {
  const origin = `flag --${name}`;
  if (value !== undefined && value !== "") return { key, value, origin };
  if (isSwitch(key)) return { key, value: String(!negated), origin };
  return value === "" ? { key, value, origin } : `${origin}: needs a value, e.g. --${name}=…`;
};

const tokensOf = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: optionsOf(), strict: false, allowPositionals: true, tokens: true }).tokens;

type Read =
  | { readonly is: "problem" | "note"; readonly text: string }
  | { readonly is: "nothing" }
  | { readonly is: "file"; readonly path: string | undefined }
  | { readonly is: "asked"; readonly name: string }
  | { readonly is: "part"; readonly part: Part; readonly value: string }
  | { readonly is: "written"; readonly written: Written };

const problem = (text: string): Read => ({ is: "problem", text });

/** Those of a program's flags. */
type Tables = readonly (readonly Row[])[];

/** Upstream's programs that are started without a word before their flags. */
const wordless: Tables = [rows, volcanoRows];

type Given = { readonly name: string; readonly value: string | undefined };

/** As the first of the tables reads it that has nothing against it. */
const understoodBy = ({ name, value }: Given, tables: Tables): Understood | undefined => {
  const readings = tables.map((table) => understood(name, value, table)).filter((one) => one !== undefined);
  return readings.find(({ is }) => is !== "problem") ?? readings[0];
};

const readFlag = ({ name, value }: Given, tables: Tables): Read => {
  if (name === "config") return { is: "file", path: value };
  if (name === "help" || name === "print-config") return { is: "asked", name };
  const negated = name.startsWith("no-");
  const key = keyOfFlag(negated ? name.slice(3) : name);
  const upstreams = key === undefined ? understoodBy({ name, value }, tables) : undefined;
  if (upstreams !== undefined) return readUpstream(name, upstreams);
  if (key === undefined)
    return problem(
      `flag --${name}: unknown${meant(
        `--${name}`,
        keyNames.map((key) => `--${flagName(key)}`),
      )}`,
    );
  const written = writtenBy(key, { name, value, negated });
  return typeof written === "string" ? problem(written) : { is: "written", written };
};

const readUpstream = (name: string, found: Understood): Read =>
  found.is === "written"
    ? { is: "written", written: { key: found.key, value: found.value, origin: `flag --${name}` } }
    : found;

/** What follows an unknown flag was meant as its value: one mistake is told once. */
const isValueOfUnknown = (before: ReturnType<typeof tokensOf>[number] | undefined): boolean =>
  before?.kind === "option" && before.value === undefined && !Object.hasOwn(optionsOf(), before.name);

/** Upstream's default of either half. */
const upstreamService = "spark-webhook";

/** Upstream's two flags about one Service; none where neither is given. */
const reachOf = (read: readonly Read[]): readonly Written[] => {
  const half = (part: Part): string | undefined =>
    read.flatMap((found) => (found.is === "part" && found.part === part ? [found.value] : [])).at(-1);
  const [namespace, name] = [half("namespace"), half("name")];
  if (namespace === undefined && name === undefined) return [];
  const value = `${namespace ?? upstreamService}/${name ?? upstreamService}`;
  return [{ key: "admissionReach", value, origin: "flags --webhook-svc-namespace, --webhook-svc-name" }];
};

const webhookReads: readonly Read[] = [
  { is: "written", written: { key: asWebhook.key, value: "true", origin: "webhook start" } },
  { is: "note", text: asWebhook.note },
];

/** Reads the command line; what is unknown is named, not guessed. */
export const fromFlags = (given: readonly string[]): Flags => {
  const started = subcommands.find(({ words }) => words.every((word, at) => given[at] === word));
  const { words, table } = started ?? { words: [], table: undefined };
  const tables = table === undefined ? wordless : [table];
  const tokens = tokensOf(given.slice(words.length));
  const flags = tokens.flatMap((token, at): readonly Read[] => {
    if (token.kind === "option") return [readFlag({ name: token.name, value: token.value }, tables)];
    if (token.kind !== "positional" || isValueOfUnknown(tokens[at - 1])) return [];
    return [problem(`${token.value}: settings are flags, e.g. --namespaces=a,b`)];
  });
  const read = table === webhookRows ? [...webhookReads, ...flags] : flags;
  return {
    written: [...read.flatMap((found) => (found.is === "written" ? [found.written] : [])), ...reachOf(read)],
    problems: read.flatMap((found) => (found.is === "problem" ? [found.text] : [])),
    notes: [...new Set(read.flatMap((found) => (found.is === "note" ? [found.text] : [])))],
    asked: new Set(read.flatMap((found) => (found.is === "asked" ? [found.name] : []))),
    file: read.flatMap((found) => (found.is === "file" ? [found.path] : [])).at(-1),
  };
};

/** Reads REKINDLE_* variables. */
export const fromEnvironment = (environment: Environment): Source => {
  const known = new Map(keyNames.map((key) => [variableName(key), key]));
  const isOurs = (name: string): boolean =>
    known.has(name) || (name.startsWith("REKINDLE_") && !ofService.test(name) && !elsewhere.includes(name));
  const ours = Object.keys(environment).filter(isOurs);
  const written = ours.flatMap((name) => {
    const key = known.get(name);
    return key === undefined ? [] : [{ key, value: environment[name], origin: `environment ${name}` }];
  });
  const problems = ours
    .filter((name) => !known.has(name))
    .map((name) =>
      functionVariables.includes(name)
        ? `environment ${name}: ${refusalByHost(name)}`
        : `environment ${name}: unknown${meant(name, [...known.keys()])}`,
    );
  return { written, problems };
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Settings of a parsed file. */
const fromRecord = (path: string, record: Readonly<Record<string, unknown>>): Source => {
  const keyOf = (name: string): KeyName | undefined => keyNames.find((key) => fileName(key) === name || key === name);
  const names = Object.keys(record);
  const written = names.flatMap((name) => {
    const key = keyOf(name);
    return key === undefined || !isKeyName(key) ? [] : [{ key, value: record[name], origin: `${path}: ${name}` }];
  });
  const problems = names
    .filter((name) => keyOf(name) === undefined)
    .map((name) => `${path}: ${name}: unknown${meant(name, keyNames.map(fileName))}`);
  return { written, problems };
};

/** Reads a YAML or JSON file; a file that is asked for must be there. */
export const fromFile = async (path: string): Promise<Source> => {
  const nothing = (problem: string): Source => ({ written: [], problems: [`${path}: ${problem}`] });
  const text = await readFile(path, "utf8").catch((cause: unknown) =>
    cause instanceof Error ? cause : new Error(String(cause)),
  );
  if (typeof text !== "string") return nothing(`cannot be read (${text.message.split(",")[0] ?? ""})`);
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) return nothing(`is not YAML (${error.message.split("\n")[0] ?? ""})`);
  const value: unknown = document.toJS();
  if (value === null) return { written: [], problems: [] };
  return isRecord(value) ? fromRecord(path, value) : nothing("must hold settings as `name: value`");
};

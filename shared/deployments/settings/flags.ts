/** Settings on a command line: flags of Rekindle, and those of the controllers that a host replaces. */
import { parseArgs } from "node:util";
import { inFile } from "./secret.ts";
import { meant, type Problem, type Source, type Written } from "./sources.ts";
import { flagName, isReadBy, isSwitch, rowOf, type SettingName, settingNames } from "./table.ts";
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

export type Flags = Source & {
  readonly asked: ReadonlySet<string>;
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
  | { readonly is: "asked"; readonly name: string }
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
const understoodBy = ({ name, value }: Given, tables: Tables): Understood | undefined => {
  const readings = tables.map((table) => understood(name, value, table)).filter((one) => one !== undefined);
  return readings.find(({ is }) => is !== "problem") ?? readings[0];
};

const readFlag = ({ name, value }: Given, tables: Tables): Read => {
  if (name === "config") return { is: "file", path: value };
  if (name === "help" || name === "print-config") return { is: "asked", name };
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

const readUpstream = (name: string, found: Understood): Read => {
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
export const fromFlags = (given: readonly string[]): Flags => {
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
    asked: new Set(read.flatMap((found) => (found.is === "asked" ? [found.name] : []))),
    file: read.flatMap((found) => (found.is === "file" ? [found.path] : [])).at(-1),
  };
};

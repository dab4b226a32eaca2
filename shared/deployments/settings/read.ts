/** One configuration from flags, environment and a file, in that order of precedence, or one clear line per mistake. */

import { effectiveText, helpLines } from "./help.ts";
import { type Environment, fromEnvironment, fromFile, fromFlags, type Written } from "./sources.ts";
import { type Configuration, isKeyName, type KeyName, parseKeys } from "./table.ts";

export type { Configuration } from "./table.ts";

/** What a command line and an environment ask for: to run, to print something and stop, or nothing that can be done. */
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

/** The strongest word on each setting. `weakestFirst` is overwritten from left to right. */
const strongest = (weakestFirst: readonly Written[]): ReadonlyMap<KeyName, Written> =>
  new Map(weakestFirst.map((written) => [written.key, written]));

const problemsOf = (
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  said: ReadonlyMap<KeyName, Written>,
): readonly string[] =>
  issues.map(({ path, message }) => {
    const name = String(path[0] ?? "");
    const written = isKeyName(name) ? said.get(name) : undefined;
    return written === undefined ? `${name}: ${message}` : `${written.origin}=${String(written.value)}: ${message}`;
  });

/** Reads all sources. `args` are what follows the command's name. */
export const readConfiguration = async (args: readonly string[], environment: Environment): Promise<Asked> => {
  const flags = fromFlags(args);
  if (flags.asked.has("help")) return { do: "print", text: help() };
  const path = flags.file ?? environment["REKINDLE_CONFIG"];
  const file = path === undefined || path === "" ? { written: [], problems: [] } : await fromFile(path);
  const variables = fromEnvironment(environment);
  const said = strongest([...file.written, ...variables.written, ...flags.written]);
  const parsed = parseKeys(Object.fromEntries([...said].map(([key, { value }]) => [key, value])));
  const unknown = [...file.problems, ...variables.problems, ...flags.problems];
  if (!parsed.success) return { do: "refuse", problems: [...unknown, ...problemsOf(parsed.error.issues, said)] };
  if (unknown.length > 0) return { do: "refuse", problems: unknown };
  if (!flags.asked.has("print-config")) return { do: "run", configuration: parsed.data, notes: flags.notes };
  return { do: "print", text: effectiveText(parsed.data, (key) => said.get(key)?.origin ?? "default") };
};

/** The settings that nobody has said anything about. */
export const defaults = (): Configuration => {
  const parsed = parseKeys({});
  if (!parsed.success) throw new Error(`defaults do not parse: ${parsed.error.message}`);
  return parsed.data;
};

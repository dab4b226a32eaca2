/** Arguments of a Deployment's container, as its program reads them. Pure. */

/** The value of a flag, written with or without an equals sign; undefined when it is not given. */
export const flagIn = (args: readonly string[], name: string): string | undefined => {
  const at = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : (args[at + 1] ?? "");
};

/** False for another flag, and for the `2>&1` that Volcano's manifests leave of a shell's redirection. */
const isValue = (arg: string | undefined): boolean => arg !== undefined && !arg.startsWith("-") && arg !== "2>&1";

/** The given flags, each with its value. */
export const flagsOf = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, at) => {
    if (!arg.startsWith("--")) return [];
    const next = args[at + 1];
    return [!arg.includes("=") && isValue(next) ? `${arg}=${next}` : arg];
  });

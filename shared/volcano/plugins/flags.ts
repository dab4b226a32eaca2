/** Flags of plugins, as Go's `flag` package reads them: `--key=value`, `-key value`, a bare `--key` for a boolean. */

export type Flag = string | number | boolean;

/** What a default stands for, its type widened from its literal. */
type Read<Defaults extends Readonly<Record<string, Flag>>> = {
  readonly [Name in keyof Defaults]: Defaults[Name] extends string
    ? string
    : Defaults[Name] extends number
      ? number
      : boolean;
};

const words: Readonly<Record<string, boolean>> = {
  ...{ "1": true, t: true, T: true, true: true, TRUE: true, True: true },
  ...{ "0": false, f: false, F: false, false: false, FALSE: false, False: false },
};

const readAs = (text: string, like: Flag): Flag | undefined => {
  if (typeof like === "string") return text;
  if (typeof like === "boolean") return words[text];
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
};

type Taken = { readonly name: string; readonly text: string; readonly used: number };

/** The next flag; undefined at the first word that is none. */
const take = (args: readonly string[], at: number, isBoolean: (name: string) => boolean): Taken | undefined => {
  const [, name = "", , text] = /^--?([^-=][^=]*)(=([\s\S]*))?$/.exec(args[at] ?? "") ?? [];
  if (name === "") return undefined;
  if (text !== undefined) return { name, text, used: 1 };
  if (isBoolean(name)) return { name, text: "true", used: 1 };
  const next = args[at + 1];
  return next === undefined ? undefined : { name, text: next, used: 2 };
};

/** The flags and, of what could not be read, the first word: reading ends there, as upstream's does, and defaults hold. */
const parsed = (args: readonly string[], defaults: Readonly<Record<string, Flag>>) => {
  const values = new Map<string, Flag>();
  for (let at = 0; at < args.length; ) {
    const taken = take(args, at, (name) => typeof defaults[name] === "boolean");
    const like = taken === undefined ? undefined : defaults[taken.name];
    const value = taken === undefined || like === undefined ? undefined : readAs(taken.text, like);
    if (taken === undefined || value === undefined) return { values, wrong: args[at] };
    values.set(taken.name, value);
    at += taken.used;
  }
  return { values, wrong: undefined };
};

const isLike = <Defaults extends Readonly<Record<string, Flag>>>(
  values: Readonly<Record<string, Flag>>,
  defaults: Defaults,
): values is Read<Defaults> => Object.keys(defaults).every((name) => typeof values[name] === typeof defaults[name]);

/** What the arguments say, defaults for what they leave out. */
export const flagsOf = <Defaults extends Readonly<Record<string, Flag>>>(
  args: readonly string[],
  defaults: Defaults,
): Read<Defaults> => {
  const read = { ...defaults, ...Object.fromEntries(parsed(args, defaults).values) };
  if (!isLike(read, defaults)) throw new Error("flags are read as their defaults are");
  return read;
};

/** The word that is no flag of the plugin, or holds no value of its kind; undefined when all are read. */
export const wrongFlag = (args: readonly string[], defaults: Readonly<Record<string, Flag>>): string | undefined =>
  parsed(args, defaults).wrong;

/** The type of a plugin: its flags, as Go's `flag` package reads them, its change to each pod, and its objects for the whole job. */

import type { Obj, Resource } from "../../core/object.ts";
import { nearTo } from "../../core/text.ts";
import type { Owner } from "../pods/names.ts";
import type { Draft } from "../pods/pod.ts";
import { keys } from "../schema/resource.ts";
import { nameOf, type Task } from "../schema/spec.ts";

type Flag = string | number | boolean;

/** The type of a flag's value, widened from the literal of its default. */
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

/** Returns the next flag; undefined at the first word that is none. */
const take = (args: readonly string[], at: number, isBoolean: (name: string) => boolean): Taken | undefined => {
  const [, name = "", , text] = /^--?([^-=][^=]*)(=([\s\S]*))?$/.exec(args[at] ?? "") ?? [];
  if (name === "") return undefined;
  if (text !== undefined) return { name, text, used: 1 };
  if (isBoolean(name)) return { name, text: "true", used: 1 };
  const next = args[at + 1];
  return next === undefined ? undefined : { name, text: next, used: 2 };
};

type Parsed = {
  readonly values: ReadonlyMap<string, Flag>;
  /** Index of the first argument that cannot be read; undefined if all can. */
  readonly wrong?: number;
};

/** Reads flags up to the first argument that cannot be read, as upstream does; defaults hold from there on. */
const parsed = (args: readonly string[], defaults: Readonly<Record<string, Flag>>): Parsed => {
  const values = new Map<string, Flag>();
  for (let at = 0; at < args.length; ) {
    const taken = take(args, at, (name) => typeof defaults[name] === "boolean");
    const like = taken === undefined || !Object.hasOwn(defaults, taken.name) ? undefined : defaults[taken.name];
    const value = taken === undefined || like === undefined ? undefined : readAs(taken.text, like);
    if (taken === undefined || value === undefined) return { values, wrong: at };
    values.set(taken.name, value);
    at += taken.used;
  }
  return { values };
};

const isLike = <Defaults extends Readonly<Record<string, Flag>>>(
  values: Readonly<Record<string, Flag>>,
  defaults: Defaults,
): values is Read<Defaults> => Object.keys(defaults).every((name) => typeof values[name] === typeof defaults[name]);

/** Returns the flags of the arguments, with defaults for missing ones. */
export const flagsOf = <Defaults extends Readonly<Record<string, Flag>>>(
  args: readonly string[],
  defaults: Defaults,
): Read<Defaults> => {
  const read = { ...defaults, ...Object.fromEntries(parsed(args, defaults).values) };
  if (!isLike(read, defaults)) throw new Error("flags are read as their defaults are");
  return read;
};

const kinds = { string: "a text", number: "a whole number", boolean: "true or false" } as const;

const kindOf = (flag: Flag): string =>
  typeof flag === "string" ? kinds.string : typeof flag === "number" ? kinds.number : kinds.boolean;

/** Returns a short word of letters and dashes, alone or before its value: a longer one may be a value itself. */
const nameIn = (argument: string): string | undefined =>
  /^--?(?<name>[A-Za-z][A-Za-z0-9-]{0,31})(=|$)/.exec(argument)?.groups?.["name"];

/**
 * Returns what is wrong with the first argument that cannot be read, without its value, which may be a key; undefined
 * if all can be read.
 */
export const wrongFlag = (
  args: readonly string[],
  defaults: Readonly<Record<string, Flag>>,
): { readonly says: string; readonly near?: string } | undefined => {
  const { wrong } = parsed(args, defaults);
  if (wrong === undefined) return undefined;
  const argument = args[wrong] ?? "";
  const name = nameIn(argument);
  if (name === undefined)
    return { says: `argument ${wrong + 1} is ${/^--?[^-=]/.test(argument) ? "an unknown flag" : "no flag"}` };
  const like = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
  const [near] = nearTo(name, Object.keys(defaults));
  if (like === undefined)
    return { says: `flag --${name} is unknown`, ...(near === undefined ? {} : { near: `--${near}` }) };
  const lacks = !argument.includes("=") && args[wrong + 1] === undefined;
  return { says: `flag --${name} needs ${lacks ? "a value" : kindOf(like)}` };
};

/** The job as plugins see it. */
export type Scope = {
  readonly owner: Owner;
  readonly tasks: readonly Task[];
};

/** An object of a plugin. `fresh` names its random data, which is generated once, at its creation. */
export type PluginObject = { readonly resource: Resource; readonly object: Obj; readonly fresh?: "ssh-key" };

export type Plugin = {
  /** Its flags by name, with their defaults. */
  readonly flags: Readonly<Record<string, Flag>>;
  readonly onPod: (draft: Draft, scope: Scope, args: readonly string[]) => Draft;
  readonly objects?: (scope: Scope, args: readonly string[]) => readonly PluginObject[];
  /** Returns why no pod can be created with this plugin; undefined if pods can. */
  readonly refuses?: (scope: Scope, args: readonly string[]) => string | undefined;
  /** Returns what the user should know of it before the pods start: for admission's warnings and for Events. */
  readonly notices?: (scope: Scope, args: readonly string[]) => readonly string[];
  /** False: upstream does not note it in `status.controlledResources`. */
  readonly noted: boolean;
};

/** The task that a pod belongs to, as its annotation says. */
export const taskOf = ({ metadata }: Draft): string => metadata.annotations?.[keys.taskSpec] ?? "";

/** The pod's ordinal within its task: its label's, else the last part of its name. */
export const indexOf = ({ metadata }: Draft): string => {
  const parts = metadata.name.split("-");
  return metadata.labels?.[keys.taskIndex] ?? (parts.length >= 3 ? (parts.at(-1) ?? "") : "");
};

export const taskNamed = ({ tasks }: Scope, name: string): Task | undefined =>
  tasks.find((task) => nameOf(task) === name);

/** `svc` names the pods before other plugins use the names; `hcclrank` reads the variable that `pytorch` wrote. */
export const pluginNames = ["svc", "env", "ssh", "tensorflow", "mpi", "pytorch", "ray", "hcclrank"] as const;

export type PluginName = (typeof pluginNames)[number];

export const isPlugin = (name: string): name is PluginName => pluginNames.some((known) => known === name);

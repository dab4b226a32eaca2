/** Reads a command line of `rekindle` as its command would, and runs nothing: unknown words, options and values. */
import type { Command } from "commander";
import type { Tools } from "../../../shared/cli/io/tools.ts";
import { rows } from "../../../shared/cli/program.ts";

const refused = (): never => {
  throw new Error("a command that is only parsed asks for nothing");
};

const tools: Tools = {
  ...{ version: "1", paint: (_, text) => text, now: () => 0, print: () => {}, warn: () => {} },
  ...{ connect: refused, page: refused, preview: refused, replay: refused, recover: refused, render: refused },
  ...{
    runs: refused,
    forecast: refused,
    policies: refused,
    flag: refused,
    check: refused,
    crds: refused,
    pages: refused,
  },
  ...{ host: refused, demo: refused, confirm: refused, sleep: refused, stopped: refused, stdin: refused },
  move: async function* () {},
  ...{ directions: refused, carryRecord: refused },
};

const opened = new Map<string, Promise<Command>>();

const commandNamed = (name: string): Promise<Command> | undefined => {
  const row = rows.find((one) => one.name === name || one.alias === name);
  if (row === undefined) return undefined;
  const found = opened.get(row.name) ?? row.open(async () => []).then((open) => open(tools));
  opened.set(row.name, found);
  return found;
};

/** The words of a command line; words between quotation marks stay one. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");

const argumentsWrong = (command: Command, given: number): string | undefined => {
  const arguments_ = command.registeredArguments;
  const least = arguments_.filter(({ required }) => required).length;
  const most = arguments_.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : arguments_.length;
  return given < least || given > most ? `takes ${least} to ${most} arguments, not ${given}` : undefined;
};

/**
 * The problem of a command line, without the word `rekindle`; undefined where its command takes it. `isPart`: texts
 * leave out arguments.
 */
export const problemIn = async (words: readonly string[], isPart = false): Promise<string | undefined> => {
  const [name = "", ...rest] = words;
  if (["demo", "host", "help"].includes(name)) return undefined;
  const opening = commandNamed(name);
  if (opening === undefined) return `there is no command ${name}`;
  let command = await opening;
  let left = rest;
  for (let below: Command | undefined; ; command = below, left = left.slice(1)) {
    below = command.commands.find((one) => one.name() === left[0] || one.aliases().includes(left[0] ?? ""));
    if (below === undefined) break;
  }
  if (left.some((word) => word === "--help")) return undefined;
  try {
    command.exitOverride().configureOutput({ writeErr: () => {} });
    const { operands, unknown } = command.parseOptions([...left]);
    const [first] = unknown.filter((word) => word.startsWith("-") && word !== "--");
    if (first !== undefined && name !== "submit") return `${command.name()} has no option ${first}`;
    return isPart ? undefined : argumentsWrong(command, operands.length + unknown.length);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return isPart && message.endsWith("argument missing") ? undefined : message;
  }
};

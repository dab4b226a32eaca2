/**
 * The command line as a whole: its commands, each loaded only when the user types it, and its exit codes. Options
 * before the command are moved behind it, where the command's own options are parsed.
 */
import { Command, CommanderError } from "commander";
import { type Row, rows } from "./command-table.ts";
import type { Tools } from "./io/tools.ts";

/** Options of most commands that people write before the command, as kubectl takes them; each has a value. */
const wanderers = ["-k", "--kubeconfig", "--context", "-n", "--namespace", "-o", "--output", "-s", "--server"];

/** Counts the words at the beginning that are such options and their values. */
const leading = (args: readonly string[]): number => {
  const [first = ""] = args;
  if (wanderers.includes(first) && args.length > 1) return 2 + leading(args.slice(2));
  const isJoined = wanderers.some((one) => first.startsWith(one.startsWith("--") ? `${one}=` : one));
  return isJoined ? 1 + leading(args.slice(1)) : 0;
};

/** Moves options before the command behind its name, and behind the name of its subcommand. */
const settled = (program: Command, args: readonly string[]): readonly string[] => {
  const count = leading(args);
  const rest = args.slice(count);
  let words = 0;
  const below = ({ commands }: Command, word: string): Command | undefined =>
    commands.find((one) => one.name() === word || one.aliases().includes(word));
  for (let at = below(program, rest[0] ?? ""); at !== undefined; at = below(at, rest[words] ?? "")) words += 1;
  return words === 0 ? args : [...rest.slice(0, words), ...args.slice(0, count), ...rest.slice(words)];
};

/** The command line from its command on. */
const commandWords = (args: readonly string[]): readonly string[] => args.slice(leading(args));

/** A command that reads its own arguments, its help included. */
const delegated = (name: string, run: (args: readonly string[]) => Promise<void>): Command =>
  new Command(name)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument("[arguments...]")
    .action((args: readonly string[]) => run(args));

const intro = `Batch applications on Kubernetes, run and recovered from stateless functions.

First steps:
  rekindle demo                      see it work, without a cluster
  rekindle host --dry-run            run it here, writing nothing
  rekindle list                      what runs, and what it waits for
  rekindle status NAMESPACE/NAME     what one application waits for
  rekindle manifests | kubectl apply --server-side -f -      install it`;

/** The exit codes of the command line, each with its meaning. */
export const exitCodes = [
  [0, "done"],
  [1, "could not be done"],
  [2, "not understood"],
  [3, "the application failed"],
  [4, "time is over"],
] as const;

const closing = `\nExit codes: ${exitCodes.map((row) => row.join(" ")).join(", ")}.`;

/** Subcommands of upstream's binary: a Deployment keeps its arguments when its image becomes Rekindle's. */
const upstreams: readonly string[] = ["controller", "webhook"];

/** A command with its name only. */
const closed = ({ name }: Row): Command => new Command(name);

const opened = async (row: Row, tools: Tools): Promise<Command> => {
  const all = async (): Promise<readonly Command[]> => [
    ...(await Promise.all(rows.filter((one) => one !== row).map((one) => opened(one, tools)))),
    ...["demo", "host"].map((name) => new Command(name)),
    closed(row),
  ];
  const { withExamples } = await import("./examples.ts");
  return withExamples((await row.open(all))(tools).summary(row.summary));
};

/** Sends all output of a command and its subcommands through the tools. */
const wired = (command: Command, tools: Tools, hint: string): Command => {
  for (const one of command.commands) wired(one, tools, hint);
  return command
    .showHelpAfterError(hint)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => tools.print(text.trimEnd()),
      writeErr: (text) => tools.warn(text.trimEnd()),
    });
};

/** The program with the command that the user types, and with the names of all others. */
const programFor = async (tools: Tools, commandName: string, end: (code: number) => void): Promise<Command> => {
  const running = (run: Tools["host"]) => async (args: readonly string[]) => end(await run(args));
  const program = new Command("rekindle").description(intro).version(tools.version).addHelpText("after", closing);
  wired(program, tools, "(rekindle --help shows what there is)");
  program.enablePositionalOptions();
  const add = (command: Command, summary: string): void => {
    wired(command.summary(summary), tools, `(rekindle ${command.name()} --help shows what there is)`);
    program.addCommand(command);
  };
  add(delegated("demo", running(tools.demo)), "watch applications run and recover, on a simulated cluster");
  add(delegated("host", running(tools.host)), "run everything in this process (host --help lists its settings)");
  for (const name of upstreams) {
    const host = (args: readonly string[]): Promise<number> => tools.host([name, ...args]);
    program.addCommand(delegated(name, running(host)), { hidden: true });
  }
  for (const row of rows) {
    const isAsked = commandName === row.name || commandName === row.alias;
    const command = isAsked ? await opened(row, tools) : closed(row);
    add(row.alias === undefined ? command : command.alias(row.alias), row.summary);
  }
  return program;
};

/** The name of the command on a command line; for `help NAME`, NAME. */
const askedIn = (given: readonly string[]): string => {
  const args = commandWords(given);
  return args[0] === "help" ? (args[1] ?? "") : (args[0] ?? "");
};

/** Prints a failure, and returns its exit code. */
const reportFailure = async (tools: Tools, cause: unknown): Promise<number> => {
  if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
  const { lineOf, Refused } = await import("./io/tools.ts");
  tools.warn(`rekindle: ${lineOf(cause)}`);
  return cause instanceof Refused ? cause.code : 1;
};

/** Runs one command line; its exit code: 0 done, 1 could not be done, 2 not understood, 3 and 4 as `--wait` ended. */
export const run = async (tools: Tools, args: readonly string[]): Promise<number> => {
  let code = 0;
  const keep = (given: number): void => {
    code = given;
  };
  try {
    const program = await programFor(tools, askedIn(args), keep);
    await program.parseAsync([...settled(program, args)], { from: "user" });
    return code;
  } catch (cause) {
    return await reportFailure(tools, cause);
  }
};

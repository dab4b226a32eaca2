/**
 * The command line as a whole: its commands, each loaded only when the user types it, and its exit codes. Options
 * before the command are moved behind it, where the command's own options are parsed.
 */
import { Command, CommanderError } from "commander";
import type { Row } from "./io/row.ts";
import type { Tools } from "./io/tools.ts";
import { vcctlRows } from "./vcctl/rows.ts";

/** The commands in the order of the help. A new command is a file in commands/ and a row here. */
export const rows: readonly Row[] = [
  {
    name: "create",
    summary: "create applications and other objects from files",
    open: async () => (await import("./commands/create.ts")).create,
  },
  {
    name: "submit",
    summary: "take spark-submit's flags and create a SparkApplication",
    open: async () => (await import("./commands/submit.ts")).submit,
  },
  {
    name: "render",
    summary: "print the objects that a submission would create; needs no cluster",
    open: async () => (await import("./commands/plan.ts")).render,
  },
  {
    name: "list",
    alias: "ls",
    summary: "list every application with its state and what it waits for",
    open: async () => (await import("./commands/status.ts")).list,
  },
  {
    name: "status",
    summary: "show what one application waits for, since when, until when, and what to do",
    open: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "page",
    summary: "serve the page on this machine: every application, what it waits for and what was lost, live",
    open: async () => (await import("./commands/page.ts")).page,
  },
  {
    name: "plan",
    summary: "show what the next step would do, and on which evidence; writes nothing",
    open: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "record",
    summary: "have the decisions about an application recorded in the log, for rekindle replay",
    open: async () => (await import("./commands/plan.ts")).record,
  },
  {
    name: "replay",
    summary: "repeat recorded decisions, and show where this version decides otherwise; needs no cluster",
    open: async () => (await import("./commands/plan.ts")).replay,
  },
  {
    name: "log",
    summary: "print the log of the driver or an executor; -f continues into the next attempt",
    open: async () => (await import("./commands/log.ts")).log,
  },
  {
    name: "event",
    summary: "print the events of an application and of its pods",
    open: async () => (await import("./commands/log.ts")).event,
  },
  {
    name: "forward",
    summary: "open the driver's page on a port of this machine",
    open: async () => (await import("./commands/page.ts")).forward,
  },
  {
    name: "suspend",
    summary: "end the run of an application; resume starts a new one",
    open: async () => (await import("./commands/lifecycle.ts")).suspend,
  },
  {
    name: "pause",
    summary: "pause an application: Rekindle changes nothing of it, and its pods continue",
    open: async () => (await import("./commands/lifecycle.ts")).pause,
  },
  {
    name: "resume",
    summary: "end a suspension or a pause",
    open: async () => (await import("./commands/lifecycle.ts")).resume,
  },
  {
    name: "recover",
    summary: "recover from a damaged, foreign or lost record; or end everything that belongs to it",
    open: async () => (await import("./commands/recover.ts")).recover,
  },
  {
    name: "checkpoints",
    summary: "copy records from one store into another: Kubernetes objects, a DynamoDB table",
    open: async () => (await import("./commands/records.ts")).checkpoints,
  },
  {
    name: "cluster",
    summary: "write the record with which functions reach a cluster",
    open: async () => (await import("./commands/records.ts")).cluster,
  },
  {
    name: "delete",
    summary: "delete applications, and their pods with them",
    open: async () => (await import("./commands/lifecycle.ts")).deletion,
  },
  ...vcctlRows,
  {
    name: "annotations",
    summary: "list every timeout and policy that an application may request by annotation",
    open: async () => (await import("./commands/plan.ts")).annotations,
  },
  {
    name: "manifests",
    summary: "print the manifests that install Rekindle; pipe them into kubectl apply",
    open: async () => (await import("./commands/manifests.ts")).manifests,
  },
  {
    name: "migrate",
    summary:
      "take over from an operator of Spark or Volcano's controllers, or give back; without a flag it only reports",
    open: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "uninstall",
    summary: "remove what manifests installed; running applications continue",
    open: async () => (await import("./commands/uninstall.ts")).uninstall,
  },
  {
    name: "docs",
    summary: "find sections of the documentation by words; needs no cluster",
    open: async () => (await import("./commands/docs.ts")).docs,
  },
  {
    name: "completion",
    summary: "print a script for bash, zsh or fish that completes commands, options and names",
    open: async (all) => (await import("./commands/completion.ts")).completion(all),
  },
];

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
  [1, "the command failed"],
  [2, "the command line is wrong"],
  [3, "the application failed"],
  [4, "the timeout has passed"],
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
  wired(program, tools, "(rekindle --help lists the commands)");
  program.enablePositionalOptions();
  const add = (command: Command, summary: string): void => {
    wired(command.summary(summary), tools, `(rekindle ${command.name()} --help lists the options)`);
    program.addCommand(command);
  };
  add(delegated("demo", running(tools.demo)), "watch applications run and recover, on a simulated cluster");
  add(delegated("host", running(tools.host)), "run everything in this process (host --help lists its settings)");
  for (const name of upstreams) {
    const host = (args: readonly string[]): Promise<number> => tools.host([name, ...args]);
    program.addCommand(delegated(name, running(host)), { hidden: true });
  }
  for (const row of rows) {
    const isNamed = commandName === row.name || commandName === row.alias;
    const command = isNamed ? await opened(row, tools) : closed(row);
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
  const { lineOf, Refused } = await import("../inspection/io/refusal.ts");
  tools.warn(`rekindle: ${lineOf(cause)}`);
  return cause instanceof Refused ? cause.code : 1;
};

/** Runs one command line; its exit code: 0 done, 1 failed, 2 a wrong command line, 3 and 4 as `--wait` ended. */
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

/** The command line as a whole: its commands, each loaded only when it is asked for, and how it ends. */
import { Command, CommanderError } from "commander";
import { commandWords, settled } from "./precedence.ts";
import type { Tools } from "./tools.ts";

type Open = (tools: Tools) => Command;

type Row = {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** `all` opens every other command. */
  readonly open: (all: () => Promise<readonly Command[]>) => Promise<Open>;
};

/** A command that reads its own arguments, its help included. */
const delegated = (name: string, run: (args: readonly string[]) => Promise<void>): Command =>
  new Command(name)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument("[arguments...]")
    .action((args: readonly string[]) => run(args));

/** In the order of the help. A command more is a file in commands/ and a row here. */
const rows: readonly Row[] = [
  {
    name: "create",
    summary: "create applications, and what stands beside them, from files",
    open: async () => (await import("./commands/create.ts")).create,
  },
  {
    name: "submit",
    summary: "spark-submit's flags, and an application on Kubernetes",
    open: async () => (await import("./commands/submit.ts")).submit,
  },
  {
    name: "render",
    summary: "the objects that a submission would create; asks no cluster",
    open: async () => (await import("./commands/render.ts")).render,
  },
  {
    name: "list",
    alias: "ls",
    summary: "every application, its state, and what it waits for",
    open: async () => (await import("./commands/list.ts")).list,
  },
  {
    name: "status",
    summary: "what one application waits for, since when and until when, and what to do",
    open: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "plan",
    summary: "what is seen and remembered, and what the next step would do; writes nothing",
    open: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "log",
    summary: "what the driver or an executor prints; -f goes on into the next attempt",
    open: async () => (await import("./commands/log.ts")).log,
  },
  {
    name: "event",
    summary: "what was told about an application and its pods",
    open: async () => (await import("./commands/event.ts")).event,
  },
  {
    name: "forward",
    summary: "the driver's page on a port of this machine",
    open: async () => (await import("./commands/forward.ts")).forward,
  },
  {
    name: "suspend",
    summary: "end the run of an application, to begin anew when it is resumed",
    open: async () => (await import("./commands/hold.ts")).suspend,
  },
  {
    name: "pause",
    summary: "let no step touch an application; its pods go on",
    open: async () => (await import("./commands/hold.ts")).pause,
  },
  {
    name: "resume",
    summary: "end a suspension or a pause",
    open: async () => (await import("./commands/hold.ts")).resume,
  },
  {
    name: "recover",
    summary: "bring back what a damaged, foreign or lost record tells of; or end all that belongs to it",
    open: async () => (await import("./commands/recover.ts")).recover,
  },
  {
    name: "checkpoints",
    summary: "copy records from one store into another: objects of the cluster, a table",
    open: async () => (await import("./commands/checkpoints.ts")).checkpoints,
  },
  {
    name: "cluster",
    summary: "make the record by which functions reach a cluster",
    open: async () => (await import("./commands/cluster.ts")).cluster,
  },
  {
    name: "delete",
    summary: "remove applications, and their pods with them",
    open: async () => (await import("./commands/delete.ts")).deletion,
  },
  {
    name: "job",
    summary: "Volcano jobs, in the manner of vcctl: run, list, view, suspend, resume, delete",
    open: async () => (await import("./commands/job.ts")).job,
  },
  {
    name: "jobflow",
    summary: "Volcano flows of jobs, in the manner of vcctl: create, list, get, describe, delete",
    open: async () => (await import("./commands/flow.ts")).jobflow,
  },
  {
    name: "jobtemplate",
    summary: "templates of such jobs, likewise",
    open: async () => (await import("./commands/flow.ts")).jobtemplate,
  },
  {
    name: "pod",
    summary: "pods of Volcano jobs, in the manner of vcctl: list",
    open: async () => (await import("./commands/pod.ts")).pod,
  },
  {
    name: "queue",
    summary: "Volcano queues, in the manner of vcctl: create, list, get, delete, operate",
    open: async () => (await import("./commands/queue.ts")).queue,
  },
  {
    name: "annotations",
    summary: "every timeout and policy that an application may ask for by annotation",
    open: async () => (await import("./commands/annotations.ts")).annotations,
  },
  {
    name: "manifests",
    summary: "print what installs Rekindle; pipe it into kubectl apply",
    open: async () => (await import("./commands/manifests.ts")).manifests,
  },
  {
    name: "migrate",
    summary: "take over from kubeflow's operator or Volcano's controllers, and give back; alone it only reports",
    open: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "uninstall",
    summary: "remove what manifests made; running applications go on",
    open: async () => (await import("./commands/uninstall.ts")).uninstall,
  },
  {
    name: "completion",
    summary: "what bash, zsh or fish needs to complete commands, options and names",
    open: async (all) => (await import("./commands/completion.ts")).completion(all),
  },
];

const intro = `Batch applications on Kubernetes, run and recovered from stateless functions.

First steps:
  rekindle demo                      see it work, without a cluster
  rekindle host --dry-run            run it here, writing nothing
  rekindle list                      what runs, and what it waits for
  rekindle status NAMESPACE/NAME     what one application waits for
  rekindle manifests | kubectl apply --server-side -f -      install it`;

const closing = `
Exit codes: 0 done, 1 could not be done, 2 not understood, 3 the application failed, 4 time is over.`;

/** Subcommands of upstream's binary: a deployment keeps its arguments when its image becomes ours. */
const upstreams: readonly string[] = ["controller", "webhook"];

/** A command of which only its name and summary are known. */
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

/** Output of this command, whatever it says, goes through the tools. */
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

/** The program with the command that is asked for, and the names of all others. */
const programFor = async (tools: Tools, asked: string, end: (code: number) => void): Promise<Command> => {
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
    const isAsked = asked === row.name || asked === row.alias;
    const command = isAsked ? await opened(row, tools) : closed(row);
    add(row.alias === undefined ? command : command.alias(row.alias), row.summary);
  }
  return program;
};

/** The command that a command line is about. */
const askedIn = (given: readonly string[]): string => {
  const args = commandWords(given);
  return args[0] === "help" ? (args[1] ?? "") : (args[0] ?? "");
};

/** What a failure is told as, and its exit code. */
const told = async (tools: Tools, cause: unknown): Promise<number> => {
  if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
  const { lineOf, Refused } = await import("./failure.ts");
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
    return await told(tools, cause);
  }
};

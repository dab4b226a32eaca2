/** The command line as a whole: commands, options, help, exit codes. */
import { Command, CommanderError } from "commander";
import { ApiError } from "../core/errors.ts";
import { adviceOn, lineOf, Refused } from "./failure.ts";
import { listed, listText } from "./list.ts";
import { manifestsText } from "./manifests.ts";
import { setPaused } from "./pause.ts";
import { planText } from "./plan.ts";
import { look, type Seen, statusText } from "./status.ts";
import { targetOf } from "./target.ts";
import type { Session, Tools, Where } from "./tools.ts";
import { removalOf, removalText, removeAll } from "./uninstall.ts";

type Scoped = Where & { readonly namespace?: string };

/** Opens the connection for one command and closes it; an error then names the server that it came from. */
const connected = async (tools: Tools, where: Where, act: (session: Session) => Promise<void>): Promise<void> => {
  const session = await tools.connect(where);
  try {
    await act(session);
  } catch (cause) {
    throw cause instanceof ApiError ? new Refused(adviceOn(cause, session), { cause }) : cause;
  } finally {
    session.close();
  }
};

const onCluster = (name: string): Command =>
  new Command(name)
    .option("--kubeconfig <file>", "how to reach the cluster (default: $KUBECONFIG, else ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)");

const onNamespace = (name: string): Command =>
  onCluster(name).option("-n, --namespace <name>", "namespace of the application (default: the context's)");

const namesOf = (text: string): readonly string[] => text.split(",").filter((name) => name !== "");

/** An option that may stand alone: then it means all. */
const namesOrAll = (text: string | undefined): true | readonly string[] => (text === undefined ? true : namesOf(text));

type ManifestOptions = {
  readonly namespace: string;
  readonly image: string;
  readonly namespaces: readonly string[];
  readonly sparkNamespace: readonly string[];
  readonly sparkAccount: readonly string[];
  /** True: all of them; else of these groups. */
  readonly withoutCrds?: true | readonly string[];
  readonly withoutDeployment?: boolean;
  readonly rbacOnly?: boolean;
};

const sparkAccounts: readonly string[] = ["spark", "spark-operator-spark"];

/** The CRDs to print: all but those that are there already. */
const wantedCrds = async (tools: Tools, { withoutCrds, rbacOnly }: ManifestOptions): Promise<readonly string[]> => {
  if (withoutCrds === true || rbacOnly === true) return [];
  const crds = await tools.crds();
  return crds.filter(({ group }) => withoutCrds?.includes(group) !== true).map(({ text }) => text);
};

const manifests = (tools: Tools): Command =>
  new Command("manifests")
    .summary("print what installs Rekindle; pipe it into kubectl apply")
    .description("Prints CRDs, roles and one host as YAML:\n\n  rekindle manifests | kubectl apply --server-side -f -")
    .option("--namespace <name>", "namespace of the host", "rekindle")
    .option("--image <image>", "image of the host", `rekindle:${tools.version}`)
    .option("--namespaces <a,b>", "look after these namespaces only, with Roles instead of a ClusterRole", namesOf, [])
    .option(
      "--spark-namespace <a,b>",
      "also accounts with the rights of Spark drivers in these namespaces",
      namesOf,
      [],
    )
    .option(
      "--spark-account <a,b>",
      "their names: ours, and the one that upstream's examples use",
      namesOf,
      sparkAccounts,
    )
    .option(
      "--without-crds [groups]",
      "these CRDs are there already, e.g. sparkoperator.k8s.io; without a value: all",
      namesOrAll,
    )
    .option("--without-deployment", "the host runs elsewhere")
    .option("--rbac-only", "neither CRDs nor Deployment: only namespace, accounts and roles")
    .action(async (options: ManifestOptions) => {
      const { sparkNamespace: sparkNamespaces, sparkAccount, rbacOnly, withoutDeployment } = options;
      const host = rbacOnly !== true && withoutDeployment !== true;
      const installation = { ...options, sparkNamespaces, sparkAccounts: sparkAccount, host };
      tools.print(manifestsText(installation, await wantedCrds(tools, options)).trimEnd());
    });

const list = (tools: Tools): Command =>
  onNamespace("list")
    .alias("ls")
    .summary("every application, its state, and what it waits for")
    .option("-o, --output <form>", "table or json", "table")
    .action((options: Scoped & { readonly output: string }) =>
      connected(tools, options, async (session) => {
        const rows = await listed(session, options.namespace ?? "");
        tools.print(options.output === "json" ? JSON.stringify(rows, null, 2) : listText(rows, tools.now()));
      }),
    );

/** A record that looks well may still be none that the next step can use; who may not find out says what there is. */
const judged = async (tools: Tools, session: Session, { target, found }: Seen): Promise<Seen["found"]> => {
  if (found.is !== "record") return found;
  const preview = await tools.preview(session, target.key).catch(() => undefined);
  return preview?.would === "stop" ? { is: "unreadable", error: preview.why } : found;
};

const status = (tools: Tools): Command =>
  onNamespace("status")
    .summary("what one application waits for, since when and until when, and what to do")
    .argument("<application>", "NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME")
    .action((name: string, options: Scoped) =>
      connected(tools, options, async (session) => {
        const target = targetOf(name, session, options.namespace);
        const seen = await look(session, target, tools.now());
        tools.print(statusText({ ...seen, found: await judged(tools, session, seen) }));
      }),
    );

const plan = (tools: Tools): Command =>
  onNamespace("plan")
    .summary("what is seen and remembered, and what the next step would do; writes nothing")
    .argument("<application>", "NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME")
    .action((name: string, options: Scoped) =>
      connected(tools, options, async (session) => {
        const target = targetOf(name, session, options.namespace);
        const seen = await look(session, target, tools.now());
        tools.print(planText(seen, await tools.preview(session, target.key)));
      }),
    );

const pausing = (tools: Tools, name: "pause" | "resume", summary: string): Command =>
  onNamespace(name)
    .summary(summary)
    .argument("<application>", "NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME")
    .action((text: string, options: Scoped) =>
      connected(tools, options, async (session) => {
        const target = targetOf(text, session, options.namespace);
        tools.print(await setPaused(session, target, name === "pause"));
      }),
    );

const uninstall = (tools: Tools): Command =>
  onCluster("uninstall")
    .summary("remove what manifests made; running applications go on")
    .option("--crds", "remove the CRDs even if there are objects of them, and thereby these objects")
    .option("--yes", "do not ask")
    .action((options: Where & { readonly crds?: boolean; readonly yes?: boolean }) =>
      connected(tools, options, async (session) => {
        const removal = await removalOf(session, options.crds === true);
        tools.print(removalText(removal) || "nothing of Rekindle is installed here");
        if (removal.goes.length === 0) return;
        const question = `Remove these ${removal.goes.length} from ${session.context ?? session.server}?`;
        if (options.yes !== true && !(await tools.confirm(question)))
          throw new Refused("nothing was removed (--yes does not ask)");
        await removeAll(session, removal);
        tools.print(`removed ${removal.goes.length}`);
      }),
    );

/** A command that reads its own arguments, its help included. */
const delegated = (name: string, summary: string, run: (args: readonly string[]) => Promise<void>): Command =>
  new Command(name)
    .summary(summary)
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

/** Runs one command line; its exit code: 0 done, 1 could not be done, 2 not understood. */
export const run = async (tools: Tools, args: readonly string[]): Promise<number> => {
  let code = 0;
  const keep = (end: (args: readonly string[]) => Promise<number>) => async (given: readonly string[]) => {
    code = await end(given);
  };
  const program = new Command("rekindle")
    .description(intro)
    .version(tools.version)
    .showHelpAfterError("(rekindle --help shows what there is)")
    .addCommand(delegated("demo", "watch applications run and recover, on a simulated cluster", keep(tools.demo)))
    .addCommand(delegated("host", "run everything in this process (host --help lists its settings)", keep(tools.host)))
    .addCommand(manifests(tools))
    .addCommand(list(tools))
    .addCommand(status(tools))
    .addCommand(plan(tools))
    .addCommand(pausing(tools, "pause", "let no step touch an application; its pods go on"))
    .addCommand(pausing(tools, "resume", "end a pause"))
    .addCommand(uninstall(tools));
  for (const command of [program, ...program.commands]) {
    if (command !== program) command.showHelpAfterError(`(rekindle ${command.name()} --help shows what there is)`);
    command.exitOverride().configureOutput({
      writeOut: (text) => tools.print(text.trimEnd()),
      writeErr: (text) => tools.warn(text.trimEnd()),
    });
  }
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    tools.warn(`rekindle: ${lineOf(cause)}`);
    return 1;
  }
};

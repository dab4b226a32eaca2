/** `rekindle recover` as people type it. */
import { type Command, Option } from "commander";
import type { Key } from "../../core/key.ts";
import { exits, Refused } from "../io/failure.ts";
import type { Recovered, RecoverHow, Session, Tools } from "../io/tools.ts";
import { keyNamed, keysIn, recoveredText } from "../lifecycle/recover.ts";
import {
  application,
  connected,
  countFrom,
  onNamespace,
  outputOption,
  type Scoped,
  spanOf,
  spanOption,
} from "./options.ts";

type Options = Scoped & {
  readonly strict?: boolean;
  readonly mode: RecoverHow["mode"];
  readonly fresh?: true;
  readonly reconfigure?: true;
  readonly coexist?: true;
  readonly timeout?: number;
  readonly grace: number;
  readonly wait: number;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly allNamespaces?: true;
  readonly output: string;
};

const howOf = ({ strict = true, mode, timeout, grace, wait, ...asked }: Options): RecoverHow => ({
  ...{ strict, mode, fresh: asked.fresh === true, reconfigure: asked.reconfigure === true },
  ...{ coexist: asked.coexist === true, dryRun: asked.dryRun === true },
  ...(timeout === undefined ? {} : { returnMs: timeout }),
  graceSeconds: grace,
  waitMs: wait,
});

const longestReturnMs = 600_000;

const returning = (text: string): number => {
  const ms = spanOf(text);
  if (ms >= 1_000 && ms <= longestReturnMs) return ms;
  throw new Refused(`${JSON.stringify(text)}: write a span from 1s to 10m`);
};

const chosen = async (session: Session, names: readonly string[], options: Options): Promise<readonly Key[]> => {
  if (names.length > 0) return await Promise.all(names.map((name) => keyNamed(name, session, options.namespace)));
  return await keysIn(
    session,
    options.allNamespaces === true ? "" : (options.namespace ?? session.namespace ?? "default"),
  );
};

const questions = {
  cleanup: "End everything that belongs to these",
  fresh: "Discard the records of these",
} as const;

const agreed = async (tools: Tools, keys: readonly Key[], options: Options): Promise<void> => {
  const question =
    options.mode === "cleanup" ? questions.cleanup : options.fresh === true ? questions.fresh : undefined;
  if (question === undefined || options.yes === true || options.dryRun === true) return;
  const names = keys.map(({ namespace, name }) => `${namespace}/${name}`).join(", ");
  if (!(await tools.confirm(`${question}: ${names}?`)))
    throw new Refused("nothing was changed (--yes skips the question)");
};

/** Recovers the keys one after the other. A refusal is a result and does not end the loop. */
const recoverAll = async (tools: Tools, session: Session, keys: readonly Key[], how: RecoverHow) => {
  const all: Recovered[] = [];
  for (const key of keys) all.push(await tools.recover(session, key, how));
  return all;
};

const concluded = (all: readonly Recovered[]): void => {
  const refused = all.filter((one) => one.refused !== undefined);
  if (refused.length > 0) throw new Refused(`${refused.length} refused: ${refused[0]?.refused}`);
  const waiting = all.find((one) => one.waitsFor !== undefined);
  if (waiting === undefined) return;
  const message = `time is over: ${waiting.namespace}/${waiting.name} waits for ${waiting.waitsFor}; a host continues it, and so does this command`;
  throw new Refused(message, { code: exits.timeOver });
};

const description = `Checks the records of applications and repairs what it can: a record that is unreadable, edited or missing, or that
another cluster or another version wrote. Without names it checks the whole namespace.

Every write is conditional: the command may run beside a host, may be interrupted at any point, and may be repeated. It creates
no pods; a host does. It writes nothing for applications whose kind another controller leads.`;

export const recover = (tools: Tools): Command =>
  onNamespace("recover")
    .description(description)
    .argument("[applications...]", application[1])
    .option("--strict", "refuse a record that cannot be read (the default)")
    .option("--no-strict", "keep the readable part, and rebuild the rest from status and objects")
    .addOption(
      new Option("--mode <mode>", "reconnect: adopt its running pods; cleanup: delete everything that belongs to it")
        .choices(["reconnect", "cleanup"])
        .default("reconnect"),
    )
    .option("--fresh", "discard the record, whatever it contains, and adopt the running pods")
    .option("--reconfigure", "adopt the record under the settings of the next host")
    .option(
      "--timeout <span>",
      "time in which missing pods may reappear (default: its annotation, else 30s)",
      returning,
    )
    .option("--grace <seconds>", "cleanup: seconds until pods are deleted by force", countFrom(0), 30)
    .addOption(spanOption("--wait <span>", "maximum duration; a host continues with the rest", 60_000))
    .option("--coexist", "work although another controller leads, which watches other namespaces")
    .option("--dry-run", "only print the findings")
    .option("--yes", "do not ask, with --mode cleanup or --fresh")
    .option("-A, --all-namespaces", "all namespaces")
    .addOption(outputOption("text", "json", "yaml"))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, async (session) => {
        const keys = await chosen(session, names, options);
        if (keys.length === 0) return tools.print("there is nothing to recover");
        await agreed(tools, keys, options);
        const all = await recoverAll(tools, session, keys, howOf(options));
        tools.print(recoveredText(all, options.output));
        concluded(all);
      }),
    );

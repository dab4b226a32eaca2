/** `rekindle delete` as people type it. */
import type { Command } from "commander";
import { Refused } from "../io/failure.ts";
import { nameText } from "../io/output.ts";
import type { Session, Tools } from "../io/tools.ts";
import { kindNamed, kindNames, usual } from "../kinds/all.ts";
import type { Kind } from "../kinds/kind.ts";
import { awaitGone, type Going, goingNamed, goingSelected, remove } from "../lifecycle/delete.ts";
import { findTarget } from "../selection/target.ts";
import { application, connected, onNamespace, type Scoped, spanOption } from "./options.ts";

type Options = Scoped & {
  readonly selector?: string;
  readonly all?: true;
  readonly kind?: string;
  readonly yes?: true;
  readonly wait?: true;
  readonly timeout: number;
};

const kindOf = (name: string | undefined): Kind => {
  const kind = name === undefined ? usual : kindNamed(name);
  if (kind === undefined) throw new Refused(`${name} is not a kind that Rekindle runs (${kindNames})`);
  return kind;
};

const going = async (session: Session, names: readonly string[], options: Options): Promise<readonly Going[]> => {
  const isMany = options.selector !== undefined || options.all === true;
  if (isMany === names.length > 0)
    throw new Refused("name what to delete, or use -l LABELS or --all; exactly one of these");
  if (isMany) {
    const namespace = options.namespace ?? session.namespace ?? "default";
    return goingSelected(session, kindOf(options.kind), { namespace, selector: options.selector });
  }
  return Promise.all(
    names.map(async (name) => goingNamed(session, await findTarget(name, session, options.namespace))),
  );
};

const act = async (tools: Tools, session: Session, names: readonly string[], options: Options): Promise<void> => {
  const found = await going(session, names, options);
  if (found.length === 0) return tools.print("nothing matches");
  const question = `Delete ${found.map(({ target }) => `${target.key.namespace}/${target.key.name}`).join(", ")}?`;
  if (names.length === 0 && options.yes !== true && !(await tools.confirm(question)))
    throw new Refused("nothing was deleted (--yes skips the question)");
  for (const one of found) {
    await remove(session, one);
    tools.print(`${nameText(one.target.kind.resource, one.target.key.name)} deleted`);
  }
  if (options.wait === true) await awaitGone(tools, session, found, options.timeout);
};

export const deletion = (tools: Tools): Command =>
  onNamespace("delete")
    .argument("[applications...]", application[1])
    .option("-l, --selector <labels>", "all with these labels in the namespace")
    .option("--all", "all of the namespace")
    .option("--kind <kind>", `of which kind, with -l or --all (default: ${usual.resource.kind})`)
    .option("--yes", "do not ask, with -l or --all")
    .option("--wait", "wait until they and their pods are gone")
    .addOption(spanOption("--timeout <span>", "how long --wait waits", 120_000))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, (session) => act(tools, session, names, options)),
    );

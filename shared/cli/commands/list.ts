/** `rekindle list` as people type it. */
import type { Command } from "commander";
import { type Asked, changedRows, type Listed, listed, listText } from "../inspection/list.ts";
import { Refused } from "../io/failure.ts";
import type { Session, Tools } from "../io/tools.ts";
import { everyKind, kindNamed, kindNames } from "../kinds/all.ts";
import type { Kind } from "../kinds/kind.ts";
import { connected, onNamespace, outputOption, type Scoped } from "./options.ts";

type Options = Scoped & {
  readonly output: string;
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly watch?: true;
};

const kindsNamed = (names: readonly string[]): readonly Kind[] => {
  if (names.length === 0) return everyKind;
  return names.map((name) => {
    const kind = kindNamed(name);
    if (kind === undefined) throw new Refused(`${name} is not a kind that Rekindle runs (${kindNames})`);
    return kind;
  });
};

const againMs = 2_000;

/** Prints changed rows until the user stops the command. */
const watched = async (tools: Tools, session: Session, asked: Asked, form: string): Promise<never> => {
  let before: readonly Listed[] = [];
  for (;;) {
    const after = await listed(session, asked);
    const changed = changedRows(before, after);
    if (changed.length > 0) tools.print(listText(changed, tools.now(), form, tools.paint));
    before = after;
    await tools.sleep(againMs);
  }
};

export const list = (tools: Tools): Command =>
  onNamespace("list")
    .argument("[kinds...]", `only these kinds (${kindNames})`)
    .option("-A, --all-namespaces", "all namespaces, as without -n")
    .option("-l, --selector <labels>", "only applications with these labels, e.g. team=data")
    .option("-w, --watch", "keep running, and print changes")
    .addOption(outputOption("table", "wide", "json", "yaml", "name", "key"))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, async (session) => {
        if (options.allNamespaces === true && options.namespace !== undefined)
          throw new Refused("use -A or -n, not both");
        const asked = { namespace: options.namespace ?? "", selector: options.selector, kinds: kindsNamed(names) };
        if (options.watch === true) return await watched(tools, session, asked, options.output);
        const text = listText(await listed(session, asked), tools.now(), options.output, tools.paint);
        if (text !== "") tools.print(text);
      }),
    );

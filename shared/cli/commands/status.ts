/** `rekindle status` and `rekindle list` as people type them. */
import type { Command } from "commander";
import { asJson, asYaml, nameText } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import type { Paint } from "../../inspection/io/text.ts";
import { everyKind, kindNamed, kindNames, usual } from "../../inspection/kinds/all.ts";
import type { Kind } from "../../inspection/kinds/kind.ts";
import { changedRows, type Listed, type ListScope, listed, listText } from "../../inspection/list.ts";
import { lookHinting, type StatusInput, statusText, statusView } from "../../inspection/status.ts";
import { findTarget, fullName, stillText, type Target } from "../../inspection/target.ts";
import { type Bounds, within } from "../io/deadline.ts";
import { application, connected, onNamespace, outputOption, type Scoped, timeoutOption } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";

type Options = Scoped & { readonly output: string; readonly watch?: true; readonly timeout?: number };

/** Checks by a preview whether the next step can use the record. If the preview fails, the record counts as usable. */
const judged = async (
  tools: Tools,
  session: Session,
  { target, found }: StatusInput,
): Promise<StatusInput["found"]> => {
  if (found.is !== "record") return found;
  const preview = await tools.preview(session, target.key).catch(() => undefined);
  return preview?.would === "stop" ? { is: "unreadable", error: preview.why } : found;
};

const details = ({ target, object }: StatusInput): string =>
  Object.entries(target.kind.wide(object))
    .filter(([, value]) => value !== "")
    .map(([head, value]) => `${head.toLowerCase().padEnd(10)} ${value}`)
    .join("\n");

/** Names the object that a name without a kind has found; "" for a SparkApplication or for a name with a kind. */
const foundText = (name: string, { target: { kind, key } }: StatusInput): string =>
  kind === usual || kindNamed(name.split("/")[0] ?? "") === kind ? "" : `found      ${fullName(key)}\n`;

/** Returns the status in one of the output forms. */
const textOf = (seen: StatusInput, form: string, paint: Paint): string => {
  const { resource } = seen.target.kind;
  if (form === "name") return nameText(resource, seen.object.metadata.name);
  if (form === "json") return asJson(statusView(seen));
  if (form === "yaml") return asYaml(statusView(seen));
  const text = statusText(seen, paint);
  return form === "wide" ? [text, details(seen)].filter(Boolean).join("\n") : text;
};

const againMs = 2_000;

/** The part of the status that a watcher has not seen: lines of text that changed, or the whole of changed data. */
const newsIn = (seen: StatusInput, before: StatusInput | undefined, form: string, paint: Paint): string => {
  const text = textOf(seen, form, paint);
  if (before === undefined) return text;
  // Both at the same time: a span such as "5s ago" is no change.
  const said = textOf({ ...before, now: seen.now }, form, paint);
  if (!["text", "wide"].includes(form)) return text === said ? "" : text;
  const known = new Set(said.split("\n"));
  return text
    .split("\n")
    .filter((line) => !known.has(line))
    .join("\n");
};

/** Reads the status repeatedly, prints what changes, and returns when the application has ended. */
const watched = async (tools: Tools, see: () => Promise<StatusInput>, form: string): Promise<void> => {
  for (let before: StatusInput | undefined; ; ) {
    const seen = await see();
    const news = newsIn(seen, before, form, tools.paint);
    if (news !== "") tools.print(news);
    before = seen;
    if (seen.state.ended !== undefined) return;
    await tools.sleep(againMs);
  }
};

export const status = (tools: Tools): Command =>
  onNamespace("status")
    .argument(...application)
    .option("-w, --watch", "keep running until it has ended, and print changes")
    .addOption(timeoutOption())
    .addOption(outputOption("text", "wide", "json", "yaml", "name"))
    .action((name: string, options: Options) =>
      connected(tools, options, async (session) => {
        const target: Target = await findTarget(name, session, options.namespace);
        const show = async (bounds: Bounds): Promise<void> => {
          const see = async (): Promise<StatusInput> => {
            const seen = await lookHinting(bounds.session, target, tools.now());
            const { notes } = await tools.check(seen.object);
            return { ...seen, notes, found: await judged(tools, bounds.session, seen) };
          };
          if (options.watch === true) return await watched(bounds.tools, see, options.output);
          const seen = await see();
          const isText = ["text", "wide"].includes(options.output);
          tools.print(`${isText ? foundText(name, seen) : ""}${textOf(seen, options.output, tools.paint)}`);
        };
        await within({ tools, session }, options.timeout, show, () => stillText(session, target));
      }),
    );

type ListOptions = Scoped & {
  readonly output: string;
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly watch?: true;
  readonly timeout?: number;
};

const kindsNamed = (names: readonly string[]): readonly Kind[] => {
  if (names.length === 0) return everyKind;
  return names.map((name) => {
    const kind = kindNamed(name);
    if (kind === undefined) throw new Refused(`${name} is not a kind that Rekindle runs (${kindNames})`);
    return kind;
  });
};

/** Prints changed rows until the user stops the command. */
const watchedList = async (tools: Tools, session: Session, scope: ListScope, form: string): Promise<never> => {
  let before: readonly Listed[] = [];
  for (;;) {
    const after = await listed(session, scope, tools.now());
    const changed = changedRows(before, after);
    if (changed.length > 0) tools.print(listText(changed, tools.now(), form, tools.paint));
    before = after;
    await tools.sleep(againMs);
  }
};

export const list = (tools: Tools): Command =>
  onNamespace("list", "only of this namespace")
    .argument("[kinds...]", `only these kinds (${kindNames})`)
    .option("-A, --all-namespaces", "all namespaces (the default)")
    .option("-l, --selector <labels>", "only applications with these labels, e.g. team=data")
    .option("-w, --watch", "keep running, and print changes")
    .addOption(timeoutOption())
    .addOption(outputOption("table", "wide", "json", "yaml", "name", "key"))
    .action((names: readonly string[], options: ListOptions) =>
      connected(tools, options, async (session) => {
        if (options.allNamespaces === true && options.namespace !== undefined)
          throw new Refused("use -A or -n, not both");
        const scope = { namespace: options.namespace ?? "", selector: options.selector, kinds: kindsNamed(names) };
        const show = async (bounds: Bounds): Promise<void> => {
          if (options.watch === true) return await watchedList(bounds.tools, bounds.session, scope, options.output);
          const rows = await listed(bounds.session, scope, tools.now());
          const text = listText(rows, tools.now(), options.output, tools.paint);
          if (text !== "") tools.print(text);
        };
        await within({ tools, session }, options.timeout, show, async () => "the timeout has passed");
      }),
    );

/** `rekindle event` as people type it. */
import type { Command } from "commander";
import { eventText, heardOf } from "../inspection/event.ts";
import type { Session, Tools } from "../io/tools.ts";
import { findTarget, isMissing, type Target, targetOf } from "../selection/target.ts";
import { application, connected, onNamespace, outputOption, type Scoped } from "./options.ts";

type Options = Scoped & { readonly follow?: true; readonly pods?: true; readonly output: string };

const againMs = 2_000;

/** Prints each event once, as it comes, until the application has ended. */
const followed = async (tools: Tools, session: Session, target: Target, options: Options): Promise<void> => {
  const known = new Set<string>();
  for (;;) {
    const { events, isOver } = await heardOf(session, target, options.pods === true);
    const news = events.filter(({ id }) => !known.has(id));
    if (news.length > 0) tools.print(eventText(news, tools.now(), options.output, known.size === 0));
    for (const { id } of news) known.add(id);
    if (isOver) return;
    await tools.sleep(againMs);
  }
};

const shown = async (tools: Tools, session: Session, target: Target, options: Options): Promise<void> => {
  const { events } = await heardOf(session, target, options.pods === true);
  const isTable = options.output === "table";
  if (events.length === 0 && isTable) return tools.print("no events: Kubernetes keeps them for an hour by default");
  tools.print(eventText(events, tools.now(), options.output));
};

export const event = (tools: Tools): Command =>
  onNamespace("event")
    .argument(...application)
    .option("-f, --follow", "follow new events until the application has ended")
    .option("--pods", "include the events of its pods")
    .addOption(outputOption("table", "json", "yaml"))
    .action((name: string, options: Options) =>
      connected(tools, options, async (session) => {
        // Events outlast their object: for a missing object they are shown by its name.
        const target = await findTarget(name, session, options.namespace).catch((cause: unknown) => {
          if (isMissing(cause)) return targetOf(name, session, options.namespace);
          throw cause;
        });
        return options.follow === true
          ? followed(tools, session, target, options)
          : shown(tools, session, target, options);
      }),
    );

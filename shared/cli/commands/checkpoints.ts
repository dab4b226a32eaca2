/** `rekindle checkpoints` as people type it: copies records from one store into another. */
import { Command } from "commander";
import { counted } from "../../core/counted.ts";
import { Refused } from "../io/failure.ts";
import { asJson } from "../io/output.ts";
import type { Moved, Tools, Where } from "../io/tools.ts";
import { connected, onCluster, outputOption } from "./options.ts";

type Options = Where & {
  readonly from: string;
  readonly to: string;
  readonly cluster: string;
  readonly home: string;
  readonly namespace?: readonly string[];
  readonly remove?: true;
  readonly dryRun?: true;
  readonly output: string;
};

const count = (all: readonly Moved[], did: Moved["did"]): number => all.filter((one) => one.did === did).length;

const sum = (all: readonly Moved[], { dryRun }: Options): string => {
  const words = dryRun === true ? "to be copied" : "copied";
  const parts = [`${count(all, "copied")} ${words}`, `${count(all, "there")} there already`];
  return `${all.length} records: ${[...parts, `${count(all, "removed")} copied and removed here`, `${count(all, "refused")} refused`].join(", ")}`;
};

const next = ({ to, remove, dryRun }: Options): string => {
  if (dryRun === true) return "nothing was written; repeat it without --dry-run to copy";
  if (remove === true) return "removed records are only in the other store";
  return `nothing was removed here. Next: stop hosts and functions (npm run deploy -- … --set Working=DISABLED), type this again with --remove, which copies what they saved meanwhile, and start them with REKINDLE_CHECKPOINTS=${to}`;
};

const migrate = (tools: Tools): Command =>
  onCluster("migrate")
    .summary("copy records from one store into another")
    .description(
      `Copies every record from one store into another, each by a conditional save: hosts may work on meanwhile, and what
they save after its copy is copied when this is typed again. It may be interrupted anywhere. A place is
kubernetes, or dynamodb://TABLE?region=REGION.`,
    )
    .requiredOption("--to <place>", "the store to copy to")
    .option("--from <place>", "the store to copy from", "kubernetes")
    .option("--cluster <alias>", "the cluster's name in keys, as hosts and functions have it", "default")
    .option("--home <namespace>", "namespace for the records of objects that have none", "rekindle")
    .option("-n, --namespace <names...>", "only of these namespaces (default: of all)")
    .option("--remove", "delete each copied record here, unless it was saved again meanwhile")
    .option("--dry-run", "only print what would be copied")
    .addOption(outputOption("text", "json"))
    .action((options: Options) =>
      connected(tools, options, async (session) => {
        const { from, to, cluster, home, namespace: namespaces = [] } = options;
        const flags = { remove: options.remove === true, dryRun: options.dryRun === true };
        const all: Moved[] = [];
        for await (const one of tools.move(session, { from, to, cluster, home, namespaces, ...flags })) {
          all.push(one);
          if (one.why !== undefined) tools.warn(`${one.key}: ${one.why}`);
        }
        tools.print(options.output === "json" ? asJson(all) : `${sum(all, options)}\n${next(options)}`);
        const refused = count(all, "refused");
        if (refused > 0) throw new Refused(`left ${counted(refused, "record")} in place, see above`);
      }),
    );

export const checkpoints = (tools: Tools): Command => new Command("checkpoints").addCommand(migrate(tools));

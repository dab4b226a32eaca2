/** `rekindle migrate` as people type it: a report, `--apply`, or `--undo`. */
import type { Command } from "commander";
import { Refused } from "../failure.ts";
import { goBack } from "../migration/back.ts";
import { leave, type Work } from "../migration/leave.ts";
import { examine, type Report } from "../migration/report.ts";
import { reportText } from "../migration/words.ts";
import { connected, onCluster, outputOption, spanOf } from "../options.ts";
import { asJson, asYaml } from "../output.ts";
import type { Session, Tools, Where } from "../tools.ts";

type Options = Where & {
  readonly apply?: true;
  readonly undo?: true;
  readonly force?: true;
  readonly yes?: true;
  readonly wait: string;
  readonly output: string;
};

const placeOf = ({ context, server }: Session): string => context ?? server;

/** What a machine reads: the report, without whole objects. */
const plain = ({ installed, saved, ...report }: Report): unknown => ({
  workloads: installed.workloads.map(({ object: _, ...workload }) => workload),
  leases: installed.leases.map(({ metadata: { namespace, name }, spec }) => ({ namespace, name, spec })),
  webhooks: installed.hooks.map(({ resource, object }) => ({ kind: resource.kind, name: object.metadata.name })),
  phase: saved?.phase ?? "none",
  ...report,
});

const printed = (report: Report, session: Session, output: string): string => {
  if (output === "json") return asJson(plain(report));
  return output === "yaml" ? asYaml(plain(report)) : reportText(report, placeOf(session));
};

const unfinished = ({ objects }: Report): number =>
  Object.entries(objects["SparkApplication"] ?? {})
    .filter(([state]) => state !== "COMPLETED" && state !== "FAILED")
    .reduce((sum, [, count]) => sum + count, 0);

const agreed = async (tools: Tools, options: Options, question: string): Promise<void> => {
  if (options.yes !== true && !(await tools.confirm(question)))
    throw new Refused("nothing was changed (--yes does not ask)");
};

const forward = async (work: Work, tools: Tools, options: Options): Promise<void> => {
  const { session } = work;
  const report = await examine(session, tools);
  const { installed, saved, blocks } = report;
  tools.print(reportText(report, placeOf(session)));
  if (installed.workloads.length + installed.hooks.length === 0 && saved === undefined)
    throw new Refused("there is nothing to leave");
  if (blocks.length > 0 && options.force !== true && saved?.phase !== "left")
    throw new Refused(`${blocks.length} thing(s) stand in the way, see above; --force goes on regardless`);
  await agreed(tools, options, `Stop kubeflow's operator in ${placeOf(session)} and take over?`);
  await leave(work);
  tools.print(
    `done: ${unfinished(report)} unfinished application(s) are for a host of Rekindle now; one that runs takes them within a minute of upstream's last write, else: rekindle host`,
  );
};

const backward = async (work: Work, tools: Tools, options: Options): Promise<void> => {
  await agreed(tools, options, `Bring kubeflow's operator in ${placeOf(work.session)} back?`);
  await goBack(work, options.force === true);
  tools.print("done: kubeflow's operator goes on with what is there; hosts of Rekindle stand aside while it leads");
};

export const migrate = (tools: Tools): Command =>
  onCluster("migrate")
    .description(
      `Without --apply or --undo nothing is changed: it tells what of kubeflow's Spark operator is installed, what runs
under it, what will differ and what stands in the way. --apply stops the operator, keeps and removes its webhook
configurations, and leaves what runs to the hosts of Rekindle. --undo puts all of it back. Both may be interrupted
anywhere and typed again.`,
    )
    .option("--apply", "leave kubeflow's operator")
    .option("--undo", "go back to it")
    .option("--force", "although something stands in the way")
    .option("--yes", "do not ask")
    .option("--wait <span>", "longest wait for pods to come or go", "2m")
    .addOption(outputOption("text", "json", "yaml"))
    .action((options: Options) =>
      connected(tools, options, async (session) => {
        const work: Work = { session, tools, waitMs: spanOf(options.wait) };
        if (options.apply === true && options.undo === true) throw new Refused("--apply or --undo, not both");
        if (options.apply === true) return await forward(work, tools, options);
        if (options.undo === true) return await backward(work, tools, options);
        tools.print(printed(await examine(session, tools), session, options.output));
      }),
    );

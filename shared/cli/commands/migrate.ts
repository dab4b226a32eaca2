/**
 * `rekindle migrate` as people type it: a report, `--apply`, or `--undo`; of one installation, or of all that are
 * found. The report ends with what to type.
 */

import { type Command, Option } from "commander";
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { asJson, asYaml } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { columns } from "../../inspection/io/text.ts";
import { connected, onNamespace, outputOption, spanOf } from "../io/options.ts";
import type { ServerChoice, Tools } from "../io/tools.ts";
import { holderText, leave } from "../migration/apply.ts";
import { type Family, type FamilyName, families, familyNames } from "../migration/families.ts";
import { moveAll } from "../migration/move-command.ts";
import { examine, type Report } from "../migration/report.ts";
import { goBack } from "../migration/undo.ts";
import { findInstalled, type Installed, isInstalled, loadSaved } from "../migration/upstream.ts";

/** The failure policies of a configuration: they say whether requests are refused while its server is silent. */
const forceOf = (object: Stored): string => {
  const { webhooks } = object;
  const policies = z
    .array(z.looseObject({ failurePolicy: z.string().default("Fail") }))
    .catch([])
    .parse(webhooks);
  return [...new Set(policies.map(({ failurePolicy }) => failurePolicy))].join(", ");
};

const partsText = ({ workloads, schedulers, leases, hooks, now }: Installed): readonly string[] =>
  columns([
    ...[...workloads, ...schedulers].map(({ part, namespace, name, replicas, standing, image }) => [
      part,
      `${namespace}/${name}`,
      `${replicas} wanted, ${standing} there; ${image}`,
    ]),
    ...leases.map((lease) => ["lease", `${lease.metadata.namespace}/${lease.metadata.name}`, holderText(lease, now)]),
    ...hooks.map(({ resource, object }) => [
      "webhooks",
      object.metadata.name,
      `${resource.kind}, failurePolicy ${forceOf(object)}`,
    ]),
  ]).split("\n");

/** Flags; properties, too, are read as such. */
const flagsText = ({ flags, family: { properties } }: Report): readonly string[] =>
  flags.length === 0
    ? []
    : columns(
        flags.map(({ flag, says }) => [
          properties === undefined ? flag : flag.replace("--", ""),
          says.replace(/^flag --[^:]+: /, ""),
        ]),
      ).split("\n");

const statesText = ({ objects, family }: Report): readonly string[] => {
  const rows = family.kinds.flatMap(({ resource: { kind }, becomes }) =>
    Object.entries(objects[kind] ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([state, count]) => [`${count}`, kind, state, becomes[state] ?? ""]),
  );
  return rows.length === 0 ? ["none"] : columns(rows).split("\n");
};

const section = (head: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [head, ...lines.map((line) => `  ${line}`)];

const nextText = ({ saved, blocks, installed, family }: Report): string => {
  const migrate = `rekindle migrate --family ${family.name}`;
  if (saved?.phase === "left") return `upstream's controllers are stopped: ${migrate} --undo starts them again`;
  if (saved !== undefined)
    return `a migration is under way (${saved.phase}): ${migrate} ${saved.phase === "leaving" ? "--apply" : "--undo"} continues it`;
  if (installed.workloads.length === 0) return "there is nothing to take over from";
  return blocks.length === 0
    ? `nothing stands in the way: ${migrate} --apply`
    : `remove what stands in the way, or use --force: ${migrate} --apply --force`;
};

/** The whole report. */
const reportText = (report: Report, where: string): string => {
  const { installed, watched, differs, blocks, family } = report;
  return [
    ...section(`${family.title} in ${where}`, isInstalled(installed) ? partsText(installed) : ["not found"]),
    ...section("its namespaces", [watched.length === 0 ? "all" : watched.join(", ")]),
    ...section(family.properties === undefined ? "its flags" : "its properties", flagsText(report)),
    ...section("its objects, and what becomes of them", statesText(report)),
    ...section("what will differ", differs),
    ...section("what stands in the way", blocks),
    nextText(report),
  ].join("\n");
};

type Options = ServerChoice & {
  readonly namespace?: string;
  readonly to?: string;
  readonly family?: FamilyName;
  readonly apply?: true;
  readonly undo?: true;
  readonly force?: true;
  readonly yes?: true;
  readonly wait: string;
  readonly output: string;
};

const placeOf = ({ context, server }: Session): string => context ?? server;

/** The report as data, without whole objects. */
const plain = ({ installed, saved, family: _, ...report }: Report): unknown => ({
  workloads: [...installed.workloads, ...installed.schedulers].map(({ object: __, ...workload }) => workload),
  leases: installed.leases.map(({ metadata: { namespace, name }, spec }) => ({ namespace, name, spec })),
  webhooks: installed.hooks.map(({ resource, object }) => ({ kind: resource.kind, name: object.metadata.name })),
  phase: saved?.phase ?? "none",
  ...report,
});

/** Prints the reports; in JSON and YAML by the names of the families. */
const printed = (reports: readonly Report[], session: Session, output: string): string => {
  const data = Object.fromEntries(reports.map((report) => [report.family.name, plain(report)]));
  if (output === "json") return asJson(data);
  if (output === "yaml") return asYaml(data);
  if (reports.length > 0) return reports.map((report) => reportText(report, placeOf(session))).join("\n\n");
  return `${titles(Object.values(families))}: not found in ${placeOf(session)}; there is nothing to take over from`;
};

const titles = (all: readonly Family[]): string => all.map(({ title }) => title).join(" and ");

/** The families of a command: the one that it names, or all that are installed or have a record of a migration. */
const meant = async (session: Session, { family }: Options): Promise<readonly Family[]> => {
  if (family !== undefined) return [families[family]];
  const found = Object.values(families).map(async (one) => {
    const isHere = (await loadSaved(session, one)) !== undefined || isInstalled(await findInstalled(session, one));
    return isHere ? [one] : [];
  });
  return (await Promise.all(found)).flat();
};

const examined = async (session: Session, tools: Tools, options: Options): Promise<readonly Report[]> => {
  const reports: Report[] = [];
  for (const family of await meant(session, options)) reports.push(await examine(session, tools, family));
  return reports;
};

const agreed = async (tools: Tools, options: Options, question: string): Promise<void> => {
  if (options.yes !== true && !(await tools.confirm(question)))
    throw new Refused("nothing was changed (--yes skips the question)");
};

const inTheWay = (reports: readonly Report[]): number =>
  reports.filter(({ saved }) => saved?.phase !== "left").reduce((sum, { blocks }) => sum + blocks.length, 0);

const blocking = (count: number): string =>
  `${count === 1 ? "1 problem stands" : `${count} problems stand`} in the way, see above`;

const tell = async (session: Session, tools: Tools, options: Options): Promise<void> => {
  const reports = await examined(session, tools, options);
  tools.print(printed(reports, session, options.output));
  const count = inTheWay(reports);
  if (count > 0 && options.force !== true) throw new Refused(blocking(count));
};

const forward = async (session: Session, tools: Tools, options: Options): Promise<void> => {
  const all = await examined(session, tools, options);
  tools.print(printed(all, session, "text"));
  const reports = all.filter(
    ({ installed: { workloads, hooks }, saved }) => workloads.length + hooks.length > 0 || saved !== undefined,
  );
  if (reports.length === 0) throw new Refused("there is nothing to take over from");
  const count = inTheWay(reports);
  if (count > 0 && options.force !== true) throw new Refused(`${blocking(count)}; --force continues anyway`);
  const names = titles(reports.map(({ family }) => family));
  await agreed(tools, options, `Stop ${names} in ${placeOf(session)} and take over?`);
  for (const { family } of reports) await leave({ session, family, tools, waitMs: spanOf(options.wait) });
  const unfinished = reports.map((one) => `${one.unfinished} unfinished ${one.family.kinds[0].resource.plural}`);
  tools.print(
    `done: a host of Rekindle takes over ${unfinished.join(" and ")} within a minute of upstream's last write; if none runs, start one: rekindle host`,
  );
};

const backward = async (session: Session, tools: Tools, options: Options): Promise<void> => {
  const known = await Promise.all(
    Object.values(families).map(async (one) => ((await loadSaved(session, one)) === undefined ? [] : [one])),
  );
  const left = known.flat().filter(({ name }) => options.family === undefined || options.family === name);
  if (left.length === 0) throw new Refused("there is nothing to undo: no record of a migration is in this cluster");
  await agreed(tools, options, `Bring ${titles(left)} in ${placeOf(session)} back?`);
  const waitMs = spanOf(options.wait);
  for (const family of left) await goBack({ session, family, tools, waitMs }, options.force === true);
  tools.print(
    `done: ${titles(left)} continue with the existing objects; hosts of Rekindle write nothing while they lead`,
  );
};

/** The API groups between which running applications move. */
const movable = [families.spark, families.apache].map(({ kinds: [{ resource }] }) => resource.group);

/** The options of the two uses of the command that exclude each other. */
const checked = (names: readonly string[], { apply, undo, family, to }: Options): void => {
  if (apply === true && undo === true) throw new Refused("--apply or --undo, not both");
  if (names.length > 0 && to === undefined)
    throw new Refused(`${names.join(", ")}: --to names the API that they move to`);
  if (to === undefined) return;
  if (names.length === 0) throw new Refused("--to: name the applications that move");
  if (undo === true || family !== undefined)
    throw new Refused(
      "--to moves applications: --undo and --family are for controllers; the way back is --to the other API",
    );
};

export const migrate = (tools: Tools): Command =>
  onNamespace("migrate")
    .description(
      `Without --apply or --undo the command changes nothing. It prints which parts of kubeflow's Spark operator, of
Apache's and of Volcano's controllers are installed, what they run, what will differ, and what prevents the migration (then its exit code is 1).
--apply saves and removes their webhook configurations, then stops the controllers; hosts of Rekindle adopt what runs.
Volcano's scheduler stays. --undo restores everything. Both may be interrupted at any point and repeated.
With --to, named running applications of one of Spark's operators move into the API of the other, with their drivers.`,
    )
    .argument("[applications...]", "with --to: NAME or NAMESPACE/NAME")
    .addOption(new Option("--to <group>", "move running applications into this API").choices(movable))
    .addOption(new Option("--family <name>", "only this family (default: all that are found)").choices(familyNames))
    .option("--apply", "take over from upstream's controllers")
    .option("--undo", "give back to upstream's controllers")
    .option("--force", "continue even if something stands in the way")
    .option("--yes", "skip the question")
    .option("--wait <duration>", "longest wait for pods to come or go", "2m")
    .addOption(outputOption("text", "json", "yaml"))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, async (session) => {
        spanOf(options.wait);
        checked(names, options);
        const { to } = options;
        if (to !== undefined) return await moveAll(session, tools, names, { ...options, to });
        if (options.apply === true) return await forward(session, tools, options);
        if (options.undo === true) return await backward(session, tools, options);
        await tell(session, tools, options);
      }),
    );

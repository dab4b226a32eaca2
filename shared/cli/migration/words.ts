/** The report of a migration for people: lists under heads, and at the end what to type. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { columns } from "../io/text.ts";
import { holderText } from "./lock.ts";
import type { Report } from "./report.ts";
import { type Installed, isInstalled } from "./upstream.ts";

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

const flagsText = ({ flags }: Report): readonly string[] =>
  flags.length === 0
    ? []
    : columns(flags.map(({ flag, says }) => [flag, says.replace(/^flag --[^:]+: /, "")])).split("\n");

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
  if (saved?.phase === "left") return `upstream was left: ${migrate} --undo brings it back`;
  if (saved !== undefined)
    return `a migration is under way (${saved.phase}): ${migrate} ${saved.phase === "leaving" ? "--apply" : "--undo"} continues it`;
  if (installed.workloads.length === 0) return "there is nothing to take over from";
  return blocks.length === 0
    ? `nothing stands in the way: ${migrate} --apply`
    : `remove what stands in the way, or use --force: ${migrate} --apply --force`;
};

/** The whole report. */
export const reportText = (report: Report, where: string): string => {
  const { installed, watched, differs, blocks, family } = report;
  return [
    ...section(`${family.title} in ${where}`, isInstalled(installed) ? partsText(installed) : ["not found"]),
    ...section("its namespaces", [watched.length === 0 ? "all" : watched.join(", ")]),
    ...section("its flags", flagsText(report)),
    ...section("its objects, and what becomes of them", statesText(report)),
    ...section("what will differ", differs),
    ...section("what stands in the way", blocks),
    nextText(report),
  ].join("\n");
};

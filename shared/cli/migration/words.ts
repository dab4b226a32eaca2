/** The report of a migration for people: lists under heads, and at the end what to type. */
import { columns } from "../text.ts";
import { holderText } from "./lock.ts";
import type { Report } from "./report.ts";
import type { Installed } from "./upstream.ts";

/** What becomes of an application that is found in a state, as a person would say it. */
const becomes: Readonly<Record<string, string>> = {
  NEW: "submitted",
  SUBMITTED: "followed where it is",
  RUNNING: "followed where it is",
  UNKNOWN: "followed where it is",
  SUCCEEDING: "completed, or run again as its policy says",
  FAILING: "tried again when upstream would have, or failed",
  SUBMISSION_FAILED: "tried again when upstream would have, or failed",
  PENDING_RERUN: "submitted when its old pods are gone",
  INVALIDATING: "ended and run again, for its spec was changed",
  SUSPENDING: "suspended",
  SUSPENDED: "left suspended",
  RESUMING: "submitted",
  COMPLETED: "left as it is, until its time to live is over",
  FAILED: "left as it is, until its time to live is over",
};

const partsText = ({ workloads, leases, hooks, now }: Installed): readonly string[] =>
  columns([
    ...workloads.map(({ part, namespace, name, replicas, standing, image }) => [
      part,
      `${namespace}/${name}`,
      `${replicas} wanted, ${standing} there; ${image}`,
    ]),
    ...leases.map((lease) => ["lease", `${lease.metadata.namespace}/${lease.metadata.name}`, holderText(lease, now)]),
    ...hooks.map(({ resource, object }) => ["webhooks", object.metadata.name, resource.kind]),
  ]).split("\n");

const flagsText = ({ flags }: Report): readonly string[] =>
  flags.length === 0
    ? []
    : columns(flags.map(({ flag, says }) => [flag, says.replace(/^flag --[^:]+: /, "")])).split("\n");

const statesText = (objects: Report["objects"]): readonly string[] => {
  const rows = Object.entries(objects).flatMap(([kind, states]) =>
    Object.entries(states)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([state, count]) => [`${count}`, kind, state, kind === "SparkApplication" ? (becomes[state] ?? "") : ""]),
  );
  return rows.length === 0 ? ["none"] : columns(rows).split("\n");
};

const section = (head: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [head, ...lines.map((line) => `  ${line}`)];

const nextText = ({ saved, blocks, installed }: Report): string => {
  if (saved?.phase === "left") return "upstream was left: rekindle migrate --undo brings it back";
  if (saved !== undefined)
    return `a migration is under way (${saved.phase}): rekindle migrate ${saved.phase === "leaving" ? "--apply" : "--undo"} goes on with it`;
  if (installed.workloads.length === 0) return "there is no kubeflow operator to leave";
  return blocks.length === 0
    ? "nothing stands in the way: rekindle migrate --apply"
    : "mend what stands in the way, or say --force: rekindle migrate --apply --force";
};

/** The whole report. */
export const reportText = (report: Report, where: string): string => {
  const { installed, watched, objects, differs, blocks } = report;
  const isThere = installed.workloads.length + installed.leases.length + installed.hooks.length > 0;
  return [
    ...section(`kubeflow's Spark operator in ${where}`, isThere ? partsText(installed) : ["not found"]),
    ...section("its namespaces", [watched.length === 0 ? "all" : watched.join(", ")]),
    ...section("its flags", flagsText(report)),
    ...section("its objects, and what becomes of them", statesText(objects)),
    ...section("what will differ", differs),
    ...section("what stands in the way", blocks),
    nextText(report),
  ].join("\n");
};

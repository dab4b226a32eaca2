/**
 * Tables of the documentation that are made from code, by their marks: the text of a page between `<!-- NAME -->` and
 * `<!-- /NAME -->` is replaced by the table of that name.
 */
import * as z from "zod";
import { openApi } from "../shared/api/openapi.ts";
import { exitCodes } from "../shared/cli/program.ts";
import type { Line } from "../shared/core/annotation.ts";
import { familiesFor, upstreamNaming } from "../shared/deployments/host/metrics.ts";
import { functionFigures } from "../shared/deployments/resync/gauges.ts";
import { shownKinds } from "../shared/inspection/kinds/all.ts";
import { rightsTable } from "../shared/installation/roles.ts";
import { policyLines } from "../shared/spark/application/spec/policies.ts";
import { acts, followed } from "../shared/spark/application/state/machine.ts";
import { connectAnnotationLines } from "../shared/spark/connect/idle.ts";
import { losses, lossReasons } from "../shared/spark/executors/losses.ts";
import { flowAnnotationLines } from "../shared/volcano/flow/retries.ts";
import { annotationPolicyLines } from "../shared/volcano/job/annotations.ts";
import { table as jobTable } from "../shared/volcano/job/machine.ts";
import { settingMeanings, settingModes, settingPlaces, settingReasons } from "./settings-page.ts";

type Row = readonly (string | number)[];

const cell = (value: string | number): string => String(value).replaceAll("|", "\\|").replaceAll("\n", " ");

export const markdown = (heads: readonly string[], rows: readonly Row[]): string =>
  [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

const code = (text: string): string => `\`${text === "" ? '""' : text}\``;
const yes = (is: boolean): string => (is ? "yes" : "");
const replaced = { yes: "yes", no: "", ask: "if the driver goes on" } as const;

const pairs = (heads: readonly [string, string], rows: Readonly<Record<string, string>>): string =>
  markdown(
    heads,
    Object.entries(rows).map(([from, to]) => [code(from), to]),
  );

const annotations = (lines: readonly Line[]): string =>
  markdown(
    ["annotation", "default", "range", "meaning"],
    lines.map((line) => [code(line.annotation), line.default, line.range, line.meaning]),
  );

const lossTable = (): string =>
  markdown(
    ["reason", "it means that", "counts", "kept", "replaced"],
    lossReasons.map((reason) => {
      const { means, counts, keeps, replaced: again } = losses[reason];
      return [code(reason), means, yes(counts), yes(keeps), replaced[again]];
    }),
  );

const jobMoves = (): string =>
  markdown(
    ["phase", "action", "pods", "the phase changes", "into", "counts as a retry"],
    Object.entries(jobTable).flatMap(([phase, row]) =>
      Object.entries(row).map(([action, { pods, when, into = "", spends }]) => [
        code(phase),
        action === "otherwise" ? "any other" : code(action),
        code(pods),
        when === "now" || when === "never" ? when : code(when),
        into === "" ? "" : code(into),
        yes(spends === true),
      ]),
    ),
  );

/** Where functions tell a metric: the function and the dimensions of its lines, or the reason why there is none. */
const inFunctions = (wanted: string): string => {
  const { by, dimensions, reason } = functionFigures.find(({ name }) => name === wanted) ?? { dimensions: [] };
  if (by === undefined) return `no: ${reason}`;
  const more = [...new Set(dimensions.flat())].filter((name) => name !== "cluster");
  const also = by === "resync" ? "; `GET /metrics` of `api`" : "";
  return `${code(by)}${more.length === 0 ? "" : `, by ${more.map(code).join(", ")}`}${also}`;
};

const metrics = (): string =>
  markdown(
    ["metric", "kind", "labels", "meaning", "in functions"],
    familiesFor(upstreamNaming).map(({ figure: { name, kind, help }, labels }) => [
      code(name),
      kind,
      labels.map(code).join(", "),
      help,
      inFunctions(name),
    ]),
  );

const operations = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ summary: z.string(), tags: z.array(z.string()) }))),
});

const paths = (): string =>
  markdown(
    ["request", "a caller may", "does"],
    Object.entries(operations.parse(openApi("", shownKinds)).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary, tags }]) => [
        code(`${method.toUpperCase()} ${path}`),
        tags.join(", "),
        summary,
      ]),
    ),
  );

/** Table by the name of its mark. */
export const tables: Readonly<Record<string, () => string>> = {
  settings: () => markdown(...settingMeanings()),
  "setting-modes": () => markdown(...settingModes()),
  "setting-places": () => markdown(...settingPlaces()),
  "setting-reasons": settingReasons,
  rights: rightsTable,
  acts: () => pairs(["state", "act"], acts),
  followed: () => pairs(["evidence", "next state"], followed),
  "job-phases": jobMoves,
  policies: () => annotations(policyLines()),
  wishes: () => annotations(annotationPolicyLines()),
  connects: () => annotations(connectAnnotationLines()),
  flows: () => annotations(flowAnnotationLines()),
  losses: lossTable,
  metrics,
  paths,
  "exit-codes": () =>
    markdown(
      ["exit code", "meaning"],
      exitCodes.map(([exit, meaning]) => [exit, meaning]),
    ),
};

/** The page with its marked tables replaced. */
export const filled = (page: string, more: typeof tables = {}): string =>
  page.replaceAll(/<!-- ([a-z-]+) -->\n[\s\S]*?\n?<!-- \/\1 -->/g, (_, name: string) => {
    const make = more[name] ?? tables[name];
    if (make === undefined) throw new Error(`no table is called ${name}: see infra/reference.ts`);
    return `<!-- ${name} -->\n${make()}\n<!-- /${name} -->`;
  });

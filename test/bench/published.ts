/**
 * The figures of benchmarks in README and in `shared/docs/benchmarks.md`. `npm run bench -- --parts NAME,NAME --publish`
 * measures parts, keeps their figures in `published.json`, and writes both documents from all that it has.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type Figure, figureShape, rounded } from "./figures.ts";

const entry = z.object({
  /** ISO 8601. */
  measuredAt: z.string(),
  /** The share of the processors' time that other processes took. */
  others: z.number(),
  figures: z.array(figureShape),
});

const published = z.record(z.string(), entry);

export type Published = z.infer<typeof published>;

/** Above this share of other processes a part's times are too long: a quiet machine has less. */
export const quietShare = 0.05;

type Row = {
  readonly part: string;
  readonly command: string;
  /** `of` returns a figure with its unit. */
  readonly sentence: (of: (name: string) => string) => string;
};

const rows: readonly Row[] = [
  {
    part: "submit",
    command: "npm run bench -- submit --admission",
    sentence: (of) =>
      `1,000 SparkApplications at once, with webhooks and quotas: all drivers after ${of("submit.1000.until-all-drivers")}, where bare requests take ${of("submit.1000.bare-POSTs")} for the same objects; ${of("submit.host-cpu-per-application")} CPU each`,
  },
  {
    part: "recovery",
    command: "npm run bench -- recovery",
    sentence: (of) =>
      `a visible executor loss is replaced after ${of("recovery.visible-to-POST.p50")} (median) and ${of("recovery.visible-to-POST.p99")} (99 %); list, read and create alone take ${of("recovery.bare-LIST-GET-POST.p50")} and ${of("recovery.bare-LIST-GET-POST.p99")}`,
  },
  {
    part: "alone",
    command: "npm run bench -- alone",
    sentence: (of) =>
      `one SparkApplication alone: from the answer to its creation to its driver's creation ${of("alone.created-to-driver.p50")} (median) and ${of("alone.created-to-driver.p95")} (95 %)`,
  },
  {
    part: "job",
    command: "npm run bench -- job",
    sentence: (of) =>
      `a Volcano Job of 1,000 pods: all created after ${of("job.1x1000.all-created")}, ${of("job.1x1000.host-cpu")} CPU, ${of("job.1x1000.requests")}; 500 jobs of one pod after ${of("job.500x1.all-created")}; a failed pod is replaced after ${of("job.failure-to-replacement.p50")} (median)`,
  },
  {
    part: "settled",
    command: "npm run bench -- settled --count 100000",
    sentence: (of) =>
      `a host starts beside 100,000 completed applications: ${of("settled.100000.start.writes")}, ${of("settled.100000.start.host-cpu")} CPU, ${of("settled.100000.start.host-peak-rss")}; at rest ${of("settled.100000.rest.host-cpu-a-minute")} CPU a minute`,
  },
  {
    part: "upstream",
    command: "npm run bench -- upstream --count 1500",
    sentence: (of) =>
      `a quarter of the load of Spark Operator's published benchmark, 1,500 applications with 9,000 pods on stand-ins for nodes: ${of("upstream.1500.drivers-a-minute")} a minute, where bare requests alone create ${of("upstream.1500.bare-drivers-a-minute")}; ${of("upstream.host-cpu-per-application")} CPU each, ${of("upstream.1500.host-peak-rss")}`,
  },
  {
    part: "fairness",
    command: "npm run bench -- fairness",
    sentence: (of) =>
      `ten applications of one tenant have their drivers after ${of("fairness.ten-alone")} alone, ${of("fairness.ten-while-10000-are-created")} while another tenant creates 10,000, and ${of("fairness.ten-behind-10000")} behind these`,
  },
];

const counted = new Set(["drivers", "requests", "writes"]);

const numberText = (value: number, unit: string): string =>
  counted.has(unit) ? Math.round(value).toLocaleString("en-US") : rounded(value);

const inSentence = ({ value, unit }: Figure): string => `${numberText(value, unit)} ${unit}`;

const figureIn =
  (part: string, figures: readonly Figure[]) =>
  (name: string): string => {
    const figure = figures.find((one) => one.name === name);
    if (figure === undefined) throw new Error(`the part ${part} has no figure ${name}`);
    return inSentence(figure);
  };

const loadText = (others: number): string =>
  others < quietShare ? "" : `other processes took ${Math.round(100 * others)} % of the processors`;

const startOf = ({ command }: Row): string => `| \`${command}\` |`;

/** Returns README with the rows of all figures that are published. Throws where README lacks the row of a part. */
export const withFigures = (readme: string, all: Published): string => {
  const lines = readme.split("\n");
  for (const row of rows) {
    const measured = all[row.part];
    if (measured === undefined) continue;
    const at = lines.findIndex((line) => line.startsWith(startOf(row)));
    if (at === -1) throw new Error(`README has no row for ${row.command}`);
    const load = loadText(measured.others);
    const sentence = row.sentence(figureIn(row.part, measured.figures));
    lines[at] = `${startOf(row)} ${sentence}${load === "" ? "" : `; ${load}`} |`;
  }
  return lines.join("\n");
};

const figureRow = (figure: Figure): string => {
  const { name, value, unit, floor, aim } = figure;
  const ratio = floor === undefined ? "" : `${numberText(floor, unit)}, ${rounded(value / floor)} times`;
  const goal = aim === undefined ? "" : `${numberText(aim, unit)}${value > aim ? ", missed" : ""}`;
  return `| \`${name}\` | ${inSentence(figure)} | ${ratio} | ${goal} |`;
};

/** Returns the page of all published figures. */
export const pageOf = (all: Published): string =>
  [
    "# Figures of benchmarks",
    "",
    "Two processors. `npm run bench -- --parts NAME,NAME --publish` measures parts and writes this page. A floor is what bare",
    "requests need for the same work in the same run. An aim is the highest value that is good enough; a miss is no failure.",
    "Times of different days do not compare: the machine under them changes. [What each part measures](../../test/bench/README.md).",
    ...Object.entries(all)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([part, { measuredAt, others, figures }]) => [
        "",
        `## ${part}`,
        "",
        `Measured on ${measuredAt.slice(0, 10)}, ${loadText(others) || "on a quiet machine"}.`,
        "",
        "| figure | value | floor | aim |",
        "|---|---|---|---|",
        ...figures.map(figureRow),
      ]),
    "",
  ].join("\n");

const file = join(import.meta.dirname, "published.json");
const readmeFile = join(import.meta.dirname, "../../README.md");
const pageFile = join(import.meta.dirname, "../../shared/docs/benchmarks.md");

export const publishedFigures = (): Published => published.parse(JSON.parse(readFileSync(file, "utf8")));

/** Each figure stands on a line of its own. */
const textOf = (all: Published): string =>
  JSON.stringify(all, null, 2).replaceAll(
    /\{\s+("name":[^{}]*?)\s+\}/g,
    (_, fields: string) => `{ ${fields.replaceAll(/\s+/g, " ")} }`,
  );

type Measured = { readonly name: string; readonly others: number; readonly figures: readonly Figure[] };

/** Keeps the figures of a part in place of its earlier ones, and writes README's rows and the page of figures. */
export const publish = ({ name, others, figures }: Measured, measuredAt: string): void => {
  const all = publishedFigures();
  all[name] = { measuredAt, others, figures: [...figures] };
  const readme = withFigures(readFileSync(readmeFile, "utf8"), all);
  writeFileSync(file, `${textOf(all)}\n`);
  writeFileSync(readmeFile, readme);
  writeFileSync(pageFile, pageOf(all));
};

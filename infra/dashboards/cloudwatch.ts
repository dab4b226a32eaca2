/**
 * The dashboard of CloudWatch, whose lines are the metrics that functions tell. A line of a metric that no function
 * tells is left out, and so is a panel without lines. Counters of functions have no dimension for their labels: such a
 * line is their sum.
 */
import { type FunctionFigure, functionFigures } from "../../shared/deployments/resync/gauges.ts";
import { type Heading, type Line, type Panel, type Place, placed } from "./panel.ts";
import { panels } from "./panels.ts";

/** CloudFormation's parameters, which `!Sub` fills in. */
const alias = `$\{Alias}`;
const region = `$\{AWS::Region}`;

const namespace = "Rekindle";

/** Seconds of a point: that of resyncs, which tell the gauges, and of every rate. */
const periodS = 300;
const windowS = { "1h": 3_600, "1d": 86_400 } as const;

/** The metric of a cluster, see "Dashboard Body Structure and Syntax" of CloudWatch. */
const metric = (name: string, more: object): readonly unknown[] => [namespace, name, "cluster", alias, more];

type Free = readonly string[];

/** The legend with the values of the labels that vary; `!Sub` makes CloudWatch's own `${…}` of `${!…}`. */
const legendOf = (line: Line, free: Free): string => {
  const values = free.map((label) => `$\{!PROP('Dim.${label}')}`).join(" ");
  return line.legend.replace(/\{\{\w+\}\}/, values === "" ? "all" : values).trim();
};

const searched = (line: Line, labels: Free): string => {
  const chosen = line.where === undefined ? "" : ` ${line.where.label}="${line.where.value}"`;
  const asked = `{${[namespace, "cluster", ...labels].join(",")}} MetricName="${line.name}" cluster="${alias}"${chosen}`;
  return `SEARCH('${asked}', 'Maximum', ${periodS})`;
};

/** A gauge of objects, which is not told while it is 0. */
const gaugeOf = (line: Line, labels: Free, id: string): readonly (readonly unknown[])[] => {
  if (labels.length === 0)
    return [
      metric(line.name, { id, stat: "Maximum", period: periodS, visible: false }),
      [{ expression: `FILL(${id}, 0)`, label: line.legend, id: `${id}f` }],
    ];
  const found = searched(line, labels);
  if (line.by === undefined) return [[{ expression: `SUM(${found})`, label: line.legend, id }]];
  const free = labels.filter((label) => label !== line.where?.label);
  return [[{ expression: found, label: legendOf(line, free), id }]];
};

const rateOf = (line: Line, unit: string, id: string): readonly (readonly unknown[])[] => [
  metric(line.name, { id, stat: "Sum", period: periodS, visible: false }),
  [{ expression: `${unit}${id} / PERIOD(${id})`, label: legendOf(line, []), id: `${id}r` }],
];

/** Returns the entries of a line; none where functions do not tell its metric. */
const entriesOf = (line: Line, { by, dimensions }: FunctionFigure, id: string): readonly (readonly unknown[])[] => {
  if (by === undefined) return [];
  const label = legendOf(line, []);
  switch (line.ask) {
    case "gauge":
      if (by !== "resync") return [metric(line.name, { id, stat: "Maximum", period: periodS, label })];
      return gaugeOf(line, (dimensions[0] ?? []).slice(1), id);
    case "rate":
      return rateOf(line, line.a === "minute" ? "60 * " : "", id);
    case "increase":
      return [metric(line.name, { id, stat: "Sum", period: windowS[line.within], label })];
    case "quantile":
      return [metric(line.name, { id, stat: `p${line.of * 100}`, period: periodS, label })];
    case "mean":
      return [metric(line.name, { id, stat: "Average", period: windowS["1h"], label })];
  }
};

const figureOf = (name: string): FunctionFigure => {
  const found = functionFigures.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the dashboards ask for ${name}, which is not a metric`);
  return found;
};

const isTold = ({ name }: Line): boolean => figureOf(name).by !== undefined;

const isSplit = ({ name, by }: Line): boolean => figureOf(name).dimensions.some((all) => all.includes(by ?? ""));

const views = { stat: "singleValue", graph: "timeSeries" } as const;

const widgetOf = (one: Panel | Heading, { x, y, w, h }: Place): object => {
  const place = { x, y, width: w, height: h };
  if ("row" in one) return { type: "text", ...place, properties: { markdown: `## ${one.row}` } };
  const { title, split, shape, lines } = one;
  const whole = split !== undefined && lines.every(isSplit) ? `${title}, ${split}` : title;
  const metrics = lines.flatMap((line, at) => entriesOf(line, figureOf(line.name), `m${at}`));
  const properties = {
    title: whole,
    view: views[shape],
    region,
    period: periodS,
    yAxis: { left: { min: 0 } },
    metrics,
  };
  return { type: "metric", ...place, properties };
};

/** The body of the dashboard, for `!Sub`; a line for each widget. */
export const cloudWatchDashboard = (): string => {
  const shown = panels
    .map((one) => ("row" in one ? one : { ...one, lines: one.lines.filter(isTold) }))
    .filter((one) => "row" in one || one.lines.length > 0);
  const widgets = placed(shown).map(([one, place]) => JSON.stringify(widgetOf(one, place)));
  return `{"widgets":[\n${widgets.join(",\n")}\n]}\n`;
};

const begin = "      # dashboard, by npm run crds\n";
const end = "      # /dashboard\n";

/** The template with the body of its dashboard replaced. */
export const withDashboard = (template: string): string => {
  const [from, to] = [template.indexOf(begin), template.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the template has no lines ${begin.trim()} and ${end.trim()}`);
  const body = cloudWatchDashboard().replaceAll(/^(?=.)/gm, "        ");
  return `${template.slice(0, from)}${begin}      DashboardBody: !Sub |\n${body}${template.slice(to)}`;
};

/** The dashboard of Grafana, whose queries are PromQL of what hosts tell under /metrics. */
import { type Heading, type Line, type Panel, type Place, placed, type Where } from "./panel.ts";
import { panels } from "./panels.ts";

const source = { type: "prometheus", uid: `$\{datasource}` } as const;

const selected = (name: string, where: Where | undefined): string =>
  where === undefined ? name : `${name}{${where.label}${where.is}${JSON.stringify(where.value)}}`;

const grouped = (of: string, labels: readonly (string | undefined)[], inner: string): string => {
  const by = labels.filter((label) => label !== undefined);
  return by.length === 0 ? `${of}(${inner})` : `${of} by (${by.join(", ")}) (${inner})`;
};

const queryOf = (line: Line): string => {
  const { name, by, where } = line;
  const series = selected(name, where);
  switch (line.ask) {
    case "gauge":
      return grouped("max", [by], line.summed === true ? grouped("sum", ["instance", by], series) : series);
    case "rate": {
      const rate = grouped("sum", [by], `rate(${series}[$__rate_interval])`);
      return line.a === "minute" ? `${rate} * 60` : rate;
    }
    case "increase":
      return grouped("sum", [by], `increase(${series}[${line.within}])`);
    case "quantile":
      return `histogram_quantile(${line.of}, sum by (le) (rate(${name}_bucket[$__rate_interval])))`;
    case "mean":
      return `sum(rate(${name}_sum[1h])) / sum(rate(${name}_count[1h]))`;
  }
};

const gridPos = ({ h, w, x, y }: Place) => ({ h, w, x, y });

const headingOf = ({ id, row }: Heading, place: Place) => ({
  ...{ type: "row", id, title: row, collapsed: false, gridPos: gridPos(place), panels: [] },
});

const shapes = {
  stat: { type: "stat", options: { reduceOptions: { calcs: ["lastNotNull"] } } },
  graph: {
    type: "timeseries",
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  },
} as const;

/** The address of the page under the dashboard's variable; blanks of a filter are escaped. */
const addressOf = (query: string): string => `$\{page}?${query.replaceAll(" ", "%20")}`;

const linksOf = (query: string | undefined) =>
  query === undefined ? [] : [{ title: "Rekindle's page", url: addressOf(query), targetBlank: true }];

const panelOf = ({ id, title, split, note = "", shape, unit, page, lines }: Panel, place: Place) => ({
  type: shapes[shape].type,
  id,
  title: split === undefined ? title : `${title}, ${split}`,
  description: note,
  links: linksOf(page),
  datasource: source,
  gridPos: gridPos(place),
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: shapes[shape].options,
  targets: lines.map((line, at) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + at),
    datasource: source,
    expr: queryOf(line),
    legendFormat: line.legend,
  })),
});

/** Where the page is after the port-forward of its guide. */
const usualPage = "http://127.0.0.1:8080/page";

const dashboard = () => ({
  uid: "rekindle",
  title: "Rekindle",
  description: "Applications, steps, queue and losses, as GET /metrics of the hosts tells them.",
  tags: ["rekindle", "spark", "volcano"],
  schemaVersion: 39,
  version: 1,
  editable: true,
  timezone: "browser",
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
      { name: "page", type: "textbox", query: usualPage, label: "Address of Rekindle's page" },
    ],
  },
  annotations: { list: [] },
  panels: placed(panels).map(([one, place]) => ("row" in one ? headingOf(one, place) : panelOf(one, place))),
});

/** The text of the file; lists of texts are on one line, as the house's formatter has them. */
export const grafanaDashboard = (): string =>
  `${JSON.stringify(dashboard(), undefined, 2).replaceAll(/\[\n\s+("[^"]*"(?:,\n\s+"[^"]*")*)\n\s+\]/g, (_, items: string) => `[${items.replaceAll(/,\n\s+/g, ", ")}]`)}\n`;

/**
 * Dashboard and alert rules use only metrics that a host exports: every query parses, and its metrics and labels are
 * registered.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parser } from "@prometheus-io/lezer-promql";
import { parse } from "yaml";
import * as z from "zod";
import type { Family } from "../../../shared/adapters/telemetry/metrics.ts";
import { familiesFor, upstreamNaming } from "../../../shared/deployments/host/metrics.ts";
import { parse as parseFilter } from "../../../shared/page/query.ts";

const read = (file: string): string => readFileSync(new URL(`../../../infra/grafana/${file}`, import.meta.url), "utf8");

const panels = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
});
const rules = z.object({
  spec: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
  }),
});

type Asked = { readonly where: string; readonly expr: string };

const dashboard = panels
  .parse(JSON.parse(read("dashboard.json")))
  .panels.flatMap(({ title, targets }) => targets.map(({ expr }): Asked => ({ where: title, expr })));
const alerts = rules
  .parse(parse(read("alerts.yaml")))
  .spec.groups.flatMap(({ rules: all }) => all.map(({ alert, expr }): Asked => ({ where: alert, expr })));

/** Suffixes of the series of a metric, by its type. */
const endings: Readonly<Record<Family["figure"]["kind"], readonly string[]>> = {
  counter: [""],
  gauge: [""],
  summary: ["_sum", "_count"],
  histogram: ["_bucket", "_sum", "_count"],
};

/** Every series that a host exports, and its labels. */
const series = new Map([
  ...familiesFor(upstreamNaming).flatMap(({ figure, labels }) =>
    endings[figure.kind].map((ending) => [`${figure.name}${ending}`, labels] as const),
  ),
  // The API server's own: nobody else knows which rings it could not deliver.
  ["apiserver_admission_webhook_fail_open_count", ["name", "type"]] as const,
]);

/** Labels that Prometheus itself adds to series, and to histograms. */
const everywhere = ["instance", "job", "le"];

/** Returns the texts of a query's nodes, by node type. */
const words = (query: string) => {
  const found: { kind: string; text: string }[] = [];
  const tree = parser.parse(query.replaceAll("$__rate_interval", "5m"));
  const text = query.replaceAll("$__rate_interval", "5m");
  tree.iterate({
    enter: ({ name, from, to, type }) =>
      void found.push({ kind: type.isError ? "error" : name, text: text.slice(from, to) }),
  });
  return (kind: string): readonly string[] => found.filter((one) => one.kind === kind).map((one) => one.text);
};

/** Returns the errors of a query, a line each. */
const wrongWith = ({ where, expr }: Asked): readonly string[] => {
  const of = words(expr);
  const figures = of("Identifier");
  const known = [...everywhere, ...figures.flatMap((name) => series.get(name) ?? [])];
  return [
    ...of("error").map(() => `${where}: ${expr} is no query`),
    ...figures.filter((name) => !series.has(name)).map((name) => `${where}: nobody tells ${name}`),
    ...of("LabelName")
      .filter((name) => !known.includes(name))
      .map((name) => `${where}: ${expr} has no ${name}`),
  ];
};

describe("the dashboard's panels", () => {
  const linked = z.object({
    templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string(), query: z.string() })) }),
    panels: z.array(
      z.object({ title: z.string(), type: z.string(), links: z.array(z.object({ url: z.string() })).default([]) }),
    ),
  });
  const { templating, panels: all } = linked.parse(JSON.parse(read("dashboard.json")));

  test("link a screen or a filter of the page, whose address is a variable of the dashboard", () => {
    assert.ok(templating.list.some(({ name, type, query }) => name === "page" && type === "textbox" && query !== ""));
    for (const { title, links } of all.filter(({ type }) => type !== "row")) {
      const [, search = ""] = /^\$\{page\}\?([!-~]+)$/.exec(links[0]?.url ?? "") ?? [];
      const given = new URLSearchParams(search);
      const filter = parseFilter(given.get("q") ?? "");
      assert.match(given.get("screen") ?? "applications", /^(overview|applications|queues|recovery|health)$/, title);
      assert.ok(given.has("screen") || filter.kinds.length === 1, `${title}: ${search} filters by no kind`);
      assert.deepEqual(filter.texts, [], title);
    }
  });
});

describe("what is asked of Prometheus", () => {
  for (const [name, asked] of [
    ["the dashboard", dashboard],
    ["the rules of alarms", alerts],
  ] as const) {
    test(`by ${name} is what a host, a function or the API server tells`, () => {
      assert.ok(asked.length >= 10, `${asked.length} queries`);
      assert.deepEqual(asked.flatMap(wrongWith), []);
    });
  }

  test("covers every figure of both families, and our own", () => {
    const told = new Set([...dashboard, ...alerts].flatMap(({ expr }) => words(expr)("Identifier")));
    const silent = familiesFor(upstreamNaming)
      .filter(({ figure }) => !endings[figure.kind].some((ending) => told.has(`${figure.name}${ending}`)))
      .map(({ figure }) => figure.name);
    // Upstream exports each latency twice: the dashboard shows the histogram. The count of applications is the sum of
    // those submitted and refused.
    const twice = ["spark_application_submit_latency_seconds", "spark_application_start_latency_seconds"];
    assert.deepEqual(
      silent.filter((one) => ![...twice, "spark_application_count"].includes(one)),
      [],
    );
  });

  const rows: readonly (readonly [expr: string, expected: RegExp])[] = [
    ["sum(rate(rekindle_steps[5m]))", /nobody tells rekindle_steps$/],
    ["sum by (reason) (rate(rekindle_steps_total[5m]))", /has no reason$/],
    ['rekindle_jobs{fase="Running"}', /has no fase$/],
    ["rekindle_step_duration_seconds", /nobody tells/],
    ["sum(rate(rekindle_steps_total[5m])", /is no query$/],
  ];
  for (const [expr, expected] of rows) {
    test(`that is ${expr} would be told`, () => {
      const [first = "", ...others] = wrongWith({ where: "here", expr });
      assert.match(first, expected);
      assert.deepEqual(others, []);
    });
  }
});

/** A runbook for every alarm and no runbook without one: of CloudWatch in the template, of Prometheus in the rules. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import * as z from "zod";
import { alertRules } from "../../../infra/alerts.ts";
import { ownFigures, ownLabels } from "../../../shared/core/metric.ts";
import { template } from "../../support/aws-template.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const named = z.looseObject({ AlarmName: z.object({ "Fn::Sub": z.string() }), AlarmDescription: z.string() });
const rules = z.object({
  spec: z.object({
    groups: z.array(
      z.object({
        rules: z.array(z.object({ alert: z.string(), annotations: z.looseObject({ runbook: z.string() }) })),
      }),
    ),
  }),
});

type Alarm = { readonly name: string; readonly page: string };

const kebab = (name: string): string => name.replace(/(?<!^)([A-Z])/g, "-$1").toLowerCase();

const resources = Object.entries(template.Resources).filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm");

const alarms: readonly Alarm[] = [
  ...resources.map(([id, { Properties }]) => {
    const { AlarmName, AlarmDescription } = named.parse(Properties);
    assert.equal(AlarmName["Fn::Sub"], `rekindle-\${Alias}-${kebab(id)}`);
    return { name: kebab(id), page: AlarmDescription.split(": ").at(-1) ?? "" };
  }),
  ...rules
    .parse(parse(read("infra/grafana/alerts.yaml")))
    .spec.groups.flatMap((group) => group.rules)
    .map(({ alert, annotations }) => ({
      name: kebab(alert.replace(/^Rekindle/, "")),
      page: annotations.runbook,
    })),
];

const links = (text: string) =>
  z
    .object({
      spec: z.object({
        groups: z.array(
          z.object({
            rules: z.array(
              z.object({
                annotations: z.strictObject({
                  summary: z.string(),
                  runbook: z.string().optional(),
                  runbook_url: z.url().optional(),
                  page: z.string().optional(),
                  page_url: z.url().optional(),
                }),
              }),
            ),
          }),
        ),
      }),
    })
    .parse(parse(text))
    .spec.groups.flatMap((group) => group.rules.map(({ annotations }) => annotations));

describe("the rules of alerts", () => {
  test("link no runbook without a base, and name its path", () => {
    const annotations = links(alertRules(undefined));
    assert.ok(annotations.length >= 10);
    assert.deepEqual(
      annotations.filter(({ runbook, runbook_url }) => runbook === undefined || runbook_url !== undefined),
      [],
    );
  });

  for (const base of ["https://git.example/rekindle/blob/main", "https://git.example/rekindle/blob/main/"])
    test(`link every runbook under ${base}`, () => {
      const paths = links(alertRules(undefined)).map(({ runbook }) => runbook);
      const told = links(alertRules(base));
      assert.deepEqual(
        told.map(({ runbook, runbook_url }) => [runbook, runbook_url]),
        paths.map((path) => [undefined, `https://git.example/rekindle/blob/main/${path}`]),
      );
    });

  test("link a screen of the page at a given address, and no page without one", () => {
    const screens = links(alertRules(undefined)).map(({ page }) => page);
    assert.ok(screens.every((query) => query === "screen=health" || query === "screen=recovery"));
    const pagesOf = (text: string) => links(text).map(({ page, page_url }) => [page, page_url]);
    assert.deepEqual(
      pagesOf(alertRules("https://git.example", "https://rekindle.example/page")),
      screens.map((query) => [undefined, `https://rekindle.example/page?${query}`]),
    );
    assert.deepEqual(
      pagesOf(alertRules("https://git.example")),
      screens.map(() => [undefined, undefined]),
    );
  });

  test("take no base and no page that is no URL", () => {
    for (const url of ["infra", "/docs", "ftp://git.example", ""]) {
      assert.throws(() => alertRules(url), /is no http:\/\/ or https:\/\/ URL/);
      assert.throws(() => alertRules("https://git.example", url), /is no http:\/\/ or https:\/\/ URL/);
    }
  });
});

const pages = globSync("infra/docs/runbooks/*.md", { cwd: root }).sort();

describe("a runbook", () => {
  test("stands for each alarm, under its name, and none without one", () => {
    assert.ok(alarms.length > 20, `${alarms.length} alarms`);
    assert.deepEqual(
      alarms.filter(({ name, page }) => page !== `infra/docs/runbooks/${name}.md`),
      [],
    );
    assert.deepEqual(pages, [...new Set(alarms.map(({ page }) => page))].sort());
  });

  for (const page of pages) {
    test(`${basename(page)} says when, what it means, where to look, what to do, and when it is over`, () => {
      const text = read(page);
      const parts = ["# ", "**When.** ", "**It means.** ", "## Look", "## Do", "**It is over** when "];
      assert.deepEqual(
        parts.filter((part) => !text.split("\n").some((line) => line.startsWith(part))),
        [],
      );
      const links = [...text.matchAll(/\]\((\.{0,2}[^)#:]+)\)/g)].map(([, to = ""]) => join("infra/docs/runbooks", to));
      assert.deepEqual(
        links.filter((to) => globSync(to, { cwd: root }).length === 0),
        [],
      );
    });
  }

  test("of a figure of ours is for one that functions tell of the whole cluster, in that dimension", () => {
    const own = resources.map(([, { Properties }]) => Properties).filter(({ Namespace }) => Namespace === "Rekindle");
    const free = ownFigures.map(({ name }) => name).filter((name) => ownLabels[name].length === 0);
    assert.ok(own.length > 0);
    assert.deepEqual(
      own.filter(({ MetricName }) => !free.some((name) => name === MetricName)),
      [],
    );
    for (const { Dimensions } of own) assert.deepEqual(Dimensions, [{ Name: "cluster", Value: { Ref: "Alias" } }]);
  });
});

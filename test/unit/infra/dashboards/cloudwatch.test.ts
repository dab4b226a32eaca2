/**
 * The dashboard of CloudWatch asks for metrics that functions tell, under dimensions under which they tell them. What
 * functions tell is read from the lines that their code prints, not from the table of which the dashboard is made.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import * as z from "zod";
import { resolverOf } from "../../../../infra/aws/resolving.ts";
import { readTemplate, type Template } from "../../../../infra/aws/template.ts";
import { withDashboard } from "../../../../infra/dashboards/cloudwatch.ts";
import { panels } from "../../../../infra/dashboards/panels.ts";
import { emfLines } from "../../../../shared/adapters/telemetry/emf.ts";
import type { MetricSample } from "../../../../shared/core/metric.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { stepFigures } from "../../../../shared/deployments/common/step-dependencies.ts";
import { functionFigures, openGaugeLines } from "../../../../shared/deployments/resync/gauges.ts";
import { measuresOf, measuresOfSave } from "../../../../shared/spark/application/metrics.ts";
import { measuresOfJob, measuresOfQueueSave } from "../../../../shared/volcano/metrics.ts";
import { template, templateText as text } from "../../../support/aws-template.ts";
import { openStanding } from "../../deployments/resync/standing.ts";
import { driver, remembered } from "../../spark/application/fixtures.ts";

const root = new URL("../../../../", import.meta.url);

const eight = Date.UTC(2026, 0, 1, 8);
const seven = "2026-01-01T07:00:00Z";

const stored = (kind: string, spec: object, status?: object): Stored => ({
  ...{ apiVersion: "v1", kind, spec, ...(status === undefined ? {} : { status }) },
  metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "1", creationTimestamp: seven },
});

const submitted = { submissionID: "s", submissionAttempts: 1, lastSubmissionAttemptTime: seven };
const executed = { ...submitted, executionAttempts: 1 };
const inState = (state: string) => ({ applicationState: { state }, terminationTime: "2026-01-01T07:30:00Z" });
const lives: readonly (readonly [before: object | undefined, after: object])[] = [
  [undefined, submitted],
  [submitted, { ...executed, ...inState("RUNNING") }],
  [executed, { ...executed, ...inState("COMPLETED"), executorState: { e: "COMPLETED" } }],
  [executed, { ...executed, ...inState("FAILED"), executorState: { e: "FAILED" } }],
];

/** The samples of every kind of status write, of a save with ended executors, and of a step. */
const written = (): readonly MetricSample[] => {
  const found: MetricSample[] = lives.flatMap(([before, after]) =>
    measuresOf(stored("SparkApplication", {}, before), after, eight),
  );
  const job = stored("Job", { tasks: [{ replicas: 1 }] }, { state: { phase: "Pending" } });
  found.push(...measuresOfJob(job, { state: { phase: "Running" }, retryCount: 1, running: 1 }, eight));
  const saved = remembered({
    driver: { ...driver, needs: [1_000, 1_024, 1_000, 1_024] },
    executors: { attempt: driver.attempt, ran: [60, 60] },
  });
  const grown = (executors: number) =>
    remembered({ allotment: { attempt: 1, prefix: "a", next: 2, alive: "", underway: [], grown: { "": executors } } });
  found.push(...measuresOfSave(undefined, saved, { namespace: "ns" }));
  for (const [before, after] of [[0, 2] as const, [2, 0] as const])
    found.push(...measuresOfSave(grown(before), grown(after), { namespace: "ns" }));
  const nomination = { uid: "g", group: "ns/g", at: eight, way: "preempt" as const, places: [] };
  const nominated = { ...nomination, victims: { v: { whole: true, pods: { p: "pod" } } } };
  found.push(...measuresOfQueueSave(undefined, { nominations: [nominated] }));
  const message = { cluster: "c", kind: "Job", namespace: "ns", name: "a", reason: "watch" } as const;
  const ended = stepFigures(
    (samples) => void found.push(...samples),
    () => eight,
  );
  ended({ message, ending: { did: "step", writes: 1 }, tookMs: 1, sentAt: eight - 2 });
  return found;
};

/** The samples that the engine, deliveries and saves count where they happen, read from the calls in their sources. */
const inSources = (): readonly MetricSample[] =>
  globSync(["shared/engine/**/*.ts", "shared/updates/*.ts", "shared/spark/application/metrics.ts"], {
    cwd: root,
  }).flatMap((path) =>
    [
      ...readFileSync(new URL(path, root), "utf8").matchAll(
        /do: "count", name: "(rekindle_\w+)",[^{]*of: \{([^}]*)\}/g,
      ),
    ].map(([, name = "", labels = ""]) => {
      assert.doesNotMatch(labels, /namespace/);
      return { do: "count", name, value: 1, of: {} } as const;
    }),
  );

const line = z.object({
  _aws: z.object({
    CloudWatchMetrics: z.tuple([
      z.object({
        Namespace: z.literal("Rekindle"),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ]),
  }),
});

/** Every metric that the lines make: its name and dimensions. */
const printed = async (): Promise<ReadonlySet<string>> => {
  const { parts, lines } = await openStanding();
  await openGaugeLines(parts)(() => false);
  const all = [...written(), ...inSources()].flatMap((sample) => emfLines([sample], { cluster: "prod", now: eight }));
  return new Set(
    [...lines, ...all].flatMap((one) => {
      const { Dimensions, Metrics } = line.parse(JSON.parse(one))._aws.CloudWatchMetrics[0];
      return Metrics.flatMap(({ Name }) => Dimensions.map((names) => `${Name} ${names.join()}`));
    }),
  );
};

const options = z.looseObject({
  id: z.string(),
  expression: z.string().optional(),
  visible: z.boolean().optional(),
});
const widgets = z.object({
  widgets: z.array(
    z.object({
      type: z.enum(["text", "metric"]),
      properties: z.looseObject({
        title: z.string().optional(),
        metrics: z.array(z.array(z.union([z.string(), options]))).default([]),
      }),
    }),
  ),
});

/** Returns the dashboard as an account has it, once CloudFormation has filled it in. */
const dashboardOf = (of: Template) => {
  const resolver = resolverOf(of, {
    parameters: { Alias: "prod" },
    pseudo: { "AWS::Region": "eu-west-1" },
    ref: (id) => id,
    attribute: (id, name) => `${id}.${name}`,
  });
  const { Type, Properties } = of.Resources["MetricsDashboard"] ?? { Type: "", Properties: {} };
  assert.equal(Type, "AWS::CloudWatch::Dashboard");
  const body = z.string().parse(resolver.resolve(Properties["DashboardBody"]));
  return { body, widgets: widgets.parse(JSON.parse(body)).widgets };
};

const search = /SEARCH\('\{Rekindle,([^}]+)\} MetricName="(\w+)" cluster="prod"(?: (\w+)="\w+")?', '\w+', \d+\)/;

/** The metric of an entry, as its name and dimensions; undefined for an expression of other entries. */
const askedBy = (entry: readonly (string | z.infer<typeof options>)[]): string | undefined => {
  const [namespace, name, ...dimensions] = entry.filter((one) => typeof one === "string");
  if (namespace !== undefined) {
    assert.deepEqual([namespace, dimensions], ["Rekindle", ["cluster", "prod"]]);
    return `${name} cluster`;
  }
  const { expression = "" } = options.parse(entry[0]);
  if (!expression.includes("SEARCH")) return undefined;
  const [, labels = "", found, chosen] = expression.match(search) ?? [];
  assert.ok(found !== undefined, expression);
  assert.ok(chosen === undefined || labels.split(",").includes(chosen), expression);
  return `${found} ${labels}`;
};

const askedIn = (of: Template): readonly string[] =>
  dashboardOf(of).widgets.flatMap(({ properties }) => properties.metrics.flatMap((one) => askedBy(one) ?? []));

/** Metrics that a template's dashboard asks for and no function tells. */
const silentIn = async (of: Template): Promise<readonly string[]> => {
  const told = await printed();
  return askedIn(of).filter((one) => !told.has(one));
};

describe("the dashboard of CloudWatch", () => {
  test("asks for what functions tell", async () => {
    assert.ok(askedIn(template).length > 30);
    assert.deepEqual(await silentIn(template), []);
  });

  test("shows every metric that functions tell, but for latencies that Grafana's shows once, too", () => {
    const asked = new Set(askedIn(template).map((one) => one.split(" ")[0]));
    const silent = functionFigures
      .filter(({ name, by }) => by !== undefined && !asked.has(name))
      .map(({ name }) => name);
    assert.deepEqual(silent, [
      "spark_application_count",
      "spark_application_submit_latency_seconds",
      "spark_application_start_latency_seconds",
    ]);
  });

  test("is made of a table that lists what the code of functions prints, and nothing else", async () => {
    const told = await printed();
    const listed = functionFigures.flatMap(({ name, dimensions }) => dimensions.map((one) => `${name} ${one.join()}`));
    assert.deepEqual([...listed].sort(), [...told].sort());
  });

  test("is filled in: no entry names another that is not there, and nothing is left to CloudFormation", () => {
    const { body, widgets: all } = dashboardOf(template);
    assert.doesNotMatch(body.replaceAll(/\$\{PROP\('Dim\.\w+'\)\}/g, ""), /\$\{/);
    for (const { properties } of all) {
      const known = properties.metrics.flatMap((entry) =>
        entry.flatMap((one) => (typeof one === "string" ? [] : [one])),
      );
      const ids = known.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
      for (const { expression = "" } of known)
        for (const [id] of expression.replaceAll(/'[^']*'/g, "").matchAll(/\bm\d+\w*\b/g))
          assert.ok(ids.includes(id), id);
    }
  });

  test("has the panels of Grafana's, but for those that ask only for what no function tells", () => {
    const titles = dashboardOf(template).widgets.flatMap(({ properties: { title } }) => title ?? []);
    const missing = panels.flatMap((one) =>
      "row" in one || titles.some((title) => title.startsWith(one.title)) ? [] : [one.title],
    );
    assert.deepEqual(missing, [
      "Requests to the API server a second",
      "Requests to the API server that failed",
      "Money for executors an hour",
      "Ended jobs that still exist",
    ]);
  });

  test("is in the template as the table of panels makes it", () => assert.equal(withDashboard(text), text));

  const rows: readonly (readonly [from: string, to: string, expected: string])[] = [
    ['"rekindle_steps_total","cluster"', '"rekindle_step_total","cluster"', "rekindle_step_total cluster"],
    ["{Rekindle,cluster,state}", "{Rekindle,cluster,status}", "rekindle_queues cluster,status"],
    ['MetricName=\\"rekindle_jobs\\"', 'MetricName=\\"jobs\\"', "jobs cluster,phase,queue_name"],
  ];
  for (const [from, to, expected] of rows) {
    test(`with ${to} would be found out`, async () => {
      assert.ok(text.includes(from));
      assert.deepEqual(await silentIn(readTemplate(text.replace(from, to))), [expected]);
    });
  }
});

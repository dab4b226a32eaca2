/** The gauges of a resync: those of a host's /metrics, with the same values, and the page that lists them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, mock, test } from "node:test";
import * as z from "zod";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { HttpRequest } from "../../../../shared/core/http.ts";
import { familiesFor, openGauges, upstreamNaming } from "../../../../shared/deployments/host/metrics.ts";
import { openResync } from "../../../../shared/deployments/resync/function.ts";
import { openGaugeLines } from "../../../../shared/deployments/resync/gauges.ts";
import { taken } from "../../adapters/sqs/fake.ts";
import { applications, onCluster, withQueue } from "../surroundings.ts";
import { openStanding, running } from "./standing.ts";

const never = (): boolean => false;

const line = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.tuple([
      z.object({
        Dimensions: z.tuple([z.array(z.string())]),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ]),
  }),
});

/** Returns the series of lines in the form of Prometheus, without the cluster. */
const seriesIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((text) => {
    const told = line.parse(JSON.parse(text));
    const { Dimensions, Metrics } = told._aws.CloudWatchMetrics[0];
    assert.equal(Dimensions[0][0], "cluster");
    const labels = Dimensions[0].slice(1).map((label) => `${label}="${String(told[label])}"`);
    return Metrics.map(
      ({ Name }) => `${Name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${String(told[Name])}`,
    );
  });

const gauges = familiesFor(upstreamNaming).filter(({ figure: { kind } }) => kind === "gauge");
const ofObjects = gauges.filter(({ figure: { lasting } }) => lasting !== true).map(({ figure: { name } }) => name);

describe("the gauges of a resync", () => {
  test("are those of a host, each with the same values", async () => {
    const { parts, lines } = await openStanding();
    await openGaugeLines(parts)(never);
    const { text } = await openGauges({ ...parts, naming: upstreamNaming })();
    const ofHost = text
      .split("\n")
      .filter((one) => ofObjects.some((name) => one.startsWith(`${name} `) || one.startsWith(`${name}{`)))
      .filter((one) => !one.endsWith(" 0"));
    const told = seriesIn(lines);
    assert.deepEqual([...told].sort(), [...ofHost].sort());
    const names = new Set(told.map((one) => one.split(/[ {]/)[0]));
    assert.deepEqual([...names].sort(), [...ofObjects].sort());
  });

  test("are of the active families, and need no list of other kinds", async () => {
    const { parts, lines } = await openStanding();
    const asked: string[] = [];
    const send = (sent: HttpRequest) => {
      asked.push(sent.path);
      return parts.transport.send(sent);
    };
    await openGaugeLines({ ...parts, families: ["spark"], transport: { ...parts.transport, send } })(never);
    const lasting = seriesIn(lines).filter((one) => !one.startsWith("rekindle_growth_waiting_seconds"));
    assert.deepEqual(lasting, [
      "spark_application_running_count 1",
      "spark_executor_running_count 1",
      "rekindle_updates_waiting 1",
      "rekindle_standby 1",
      "rekindle_unheard_changes 3",
      'rekindle_growth_waiting_executors{namespace="default"} 3',
    ]);
    assert.deepEqual(
      asked.filter((path) => path.includes("volcano")),
      [],
    );
  });

  test("are not printed if the time is over before all objects are counted, which the log says", async () => {
    for (const looks of [0, 1, 3]) {
      const { parts, lines, reports } = await openStanding();
      let seen = 0;
      await openGaugeLines(parts)(() => {
        seen += 1;
        return seen > looks;
      });
      assert.deepEqual([lines, reports], [[], ["warn resync: out of time, this run sends no gauges"]]);
    }
  });

  test("are printed by the function after its keys, unless the setting gauges is false", async () => {
    await onCluster(["pi"], async (cluster, _, { transport }) => {
      const found = await request(transport, "GET", `${applications}/pi`);
      await request(transport, "PUT", `${applications}/pi/status`, { ...found, status: running });
      await withQueue(taken, async (queues, bodies) => {
        const log = mock.method(console, "log", () => {});
        try {
          await (await openResync({ ...queues, ...cluster, REKINDLE_CLUSTER: "prod" }))({});
          assert.ok(bodies().length > 0);
          const lines = log.mock.calls.map(({ arguments: [text] }) => String(text)).filter((one) => /"_aws"/.test(one));
          assert.ok(lines.every((one) => JSON.parse(one).cluster === "prod"));
          assert.ok(seriesIn(lines).includes("spark_application_running_count 1"), lines.join("\n"));
          log.mock.resetCalls();
          await (await openResync({ ...queues, ...cluster, REKINDLE_GAUGES: "false" }))({});
          const silent = log.mock.calls.filter(({ arguments: [text] }) => /"_aws"/.test(String(text)));
          assert.deepEqual(silent, []);
        } finally {
          log.mock.restore();
        }
      });
    });
  });
});

describe("the reference page of metrics", () => {
  const page = readFileSync(new URL("../../../../infra/docs/reference/metrics.md", import.meta.url), "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name = "", rest = ""]) => [name, rest.split(" | ")]),
  );

  test("names for each gauge the function that prints it with its labels, or the reason why none does", async () => {
    const { parts, lines } = await openStanding();
    await openGaugeLines(parts)(never);
    const told = new Map(
      seriesIn(lines).map((one) => [one.split(/[ {]/)[0], [...one.matchAll(/(\w+)="/g)].map(([, label]) => label)]),
    );
    for (const { figure, labels } of gauges) {
      const inFunctions = rows.get(figure.name)?.[3] ?? "";
      const found = told.get(figure.name);
      if (found === undefined) assert.match(inFunctions, /^(`reconcile`|no: .{20,})/, figure.name);
      else {
        const by = found.length === 0 ? "" : `, by ${found.map((label) => `\`${label}\``).join(", ")}`;
        assert.equal(inFunctions, `\`resync\`${by}; \`GET /metrics\` of \`api\``);
        assert.deepEqual(found, labels);
      }
    }
  });
});

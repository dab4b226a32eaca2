/** The gauges of a resync: those of a host's /metrics, with the same values, and the page that lists them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, mock, test } from "node:test";
import * as z from "zod";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { HttpRequest } from "../../../../shared/core/http.ts";
import type { Obj } from "../../../../shared/core/object.ts";
import { openNamespaceScope } from "../../../../shared/deployments/common/namespaces.ts";
import { familiesFor, openGauges, upstreamNaming } from "../../../../shared/deployments/host/metrics.ts";
import { openResync } from "../../../../shared/deployments/resync/function.ts";
import { openGaugeLines } from "../../../../shared/deployments/resync/gauges.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { taken } from "../../adapters/sqs/fake.ts";
import { crds } from "../../host/stand.ts";
import { applications, onCluster, withQueue } from "../surroundings.ts";

const spark = "/apis/sparkoperator.k8s.io/v1beta2";
const batch = "/apis/batch.volcano.sh/v1alpha1";
const scheduling = "/apis/scheduling.volcano.sh/v1beta1";
const inDefault = (group: string, plural: string): string => `${group}/namespaces/default/${plural}`;

const sparkSpec = {
  ...{ type: "Scala", mainClass: "a.B", mainApplicationFile: "local:///a.jar", sparkVersion: "4.1.1", image: "i" },
  ...{ driver: {}, executor: {} },
};
const template = { spec: { containers: [{ name: "c", image: "i" }] } };
const jobSpec = { queue: "q", tasks: [{ name: "t", replicas: 1, template }] };
const running = { driverInfo: {}, applicationState: { state: "RUNNING" }, executorState: { "pi-1": "RUNNING" } };
const phases = ["Pending", "Inqueue", "Running", "Unknown", "Completed"] as const;

/** A value of each gauge of objects: collections, objects, and their statuses where these are subresources. */
const standing: readonly (readonly [path: string, object: Obj, status: object | undefined])[] = [
  [
    inDefault(spark, "sparkapplications"),
    { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata: { name: "pi" }, spec: sparkSpec },
    running,
  ],
  [
    inDefault(batch, "jobs"),
    { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name: "j" }, spec: jobSpec },
    { state: { phase: "Running" }, running: 1 },
  ],
  [
    `${scheduling}/queues`,
    { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name: "q" }, spec: {} },
    { state: "Open", allocated: { cpu: "1500m", memory: "2Gi" } },
  ],
  ...phases.map(
    (phase) =>
      [
        inDefault(scheduling, "podgroups"),
        {
          ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
          ...{ metadata: { name: phase.toLowerCase() }, spec: { queue: "q", minMember: 1 }, status: { phase } },
        },
        undefined,
      ] as const,
  ),
];

const updates = { kind: "SparkApplication", namespace: "default", name: "pi", uid: "u", updates: "stream" };
const hints = async () => [{ ...updates, generation: 1, rests: false, wakeAt: undefined, pruneAt: undefined }];

const open = async () => {
  const { transport } = openSimulator({ crds });
  for (const [path, object, status] of standing) {
    await request(transport, "POST", path, object);
    if (status === undefined) continue;
    const at = `${path}/${object.metadata.name}`;
    const found = await request(transport, "GET", at);
    await request(transport, "PUT", `${at}/status`, { ...found, status });
  }
  const territory = openNamespaceScope({ namespaces: [], transport, report: () => {}, now: () => 0 });
  const lines: string[] = [];
  const reports: string[] = [];
  const parts = {
    ...{ transport, territory, hints, cluster: "prod", now: () => 5 },
    print: (line: string): void => void lines.push(line),
    report: (level: string, text: string): void => void reports.push(`${level} ${text}`),
  };
  return { parts, lines, reports };
};

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
    const { parts, lines } = await open();
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

  test("are of the families that run, and ask for no other kind", async () => {
    const { parts, lines } = await open();
    const asked: string[] = [];
    const send = (sent: HttpRequest) => {
      asked.push(sent.path);
      return parts.transport.send(sent);
    };
    await openGaugeLines({ ...parts, families: ["spark"], transport: { ...parts.transport, send } })(never);
    assert.deepEqual(seriesIn(lines), [
      "spark_application_running_count 1",
      "spark_executor_running_count 1",
      "rekindle_updates_waiting 1",
    ]);
    assert.deepEqual(
      asked.filter((path) => path.includes("volcano")),
      [],
    );
  });

  test("are not told when the time is over before all objects are counted, which the log says", async () => {
    for (const looks of [0, 1, 3]) {
      const { parts, lines, reports } = await open();
      let seen = 0;
      await openGaugeLines(parts)(() => {
        seen += 1;
        return seen > looks;
      });
      assert.deepEqual([lines, reports], [[], ["warn resync: out of time, this run tells no gauges"]]);
    }
  });

  test("are printed by the function after its keys", async () => {
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
        } finally {
          log.mock.restore();
        }
      });
    });
  });
});

describe("the page of metrics", () => {
  const page = readFileSync(new URL("../../../../infra/docs/reference/metrics.md", import.meta.url), "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name = "", rest = ""]) => [name, rest.split(" | ")]),
  );

  test("says of each gauge which function tells it under which labels, or why none does", async () => {
    const { parts, lines } = await open();
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

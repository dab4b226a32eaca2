/** Details of the page: one read for all viewers, and never an answer of before a change. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkpointRef } from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";
import { openDetails } from "../../../../shared/deployments/page/detail.ts";
import { openRates } from "../../../../shared/inspection/rates.ts";
import type { Prices } from "../../../../shared/kube/prices.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { kueueCrds, reserved } from "../../../support/kueue.ts";
import { ownWorkload } from "../../../support/kueue-queue.ts";

const named = { kind: "SparkApplication", namespace: "team-a", name: "etl" };
const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/team-a/sparkapplications";

const application = (state: string): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "etl", namespace: "team-a", uid: "uid-etl", resourceVersion: state },
  status: { applicationState: { state } },
});

const post = (simulator: Simulator, at: string, object: object): void => {
  const headers = { "content-type": "application/json" };
  const { status, body } = simulator.handle({ method: "POST", path: at, headers, body: JSON.stringify(object) });
  assert.ok(status < 300, body);
};

/** A cluster with one application, a board that has seen it, and the reads of the application. */
const open = (sparkConf: Readonly<Record<string, string>> = {}, prices?: Prices) => {
  const simulator = openSimulator({ start: Date.parse("2026-11-02T08:00:00Z"), crds });
  post(simulator, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
  const { metadata: _, ...rest } = application("NEW");
  post(simulator, path, {
    ...rest,
    metadata: { name: "etl", namespace: "team-a" },
    spec: {
      type: "Scala",
      sparkVersion: "4.1.1",
      ...{ mainApplicationFile: "local:///a.jar", mainClass: "A", image: "spark:4.1.1" },
      driver: {},
      executor: {},
      sparkConf,
    },
  });
  const reads: string[] = [];
  const board = openBoard(Date.now);
  board.see(application("NEW"));
  const { transport: sent } = simulator;
  const transport: Transport = {
    ...sent,
    send: (request) => {
      if (request.path === `${path}/etl`) reads.push(request.path);
      return sent.send(request);
    },
  };
  const rates = openRates(transport, prices, () => 0);
  return { simulator, board, reads, details: openDetails({ transport, table: undefined }, board, { rates }) };
};

describe("details of the page", () => {
  test("have waits, saves and executors of the record, with start and requests, in a process that has seen no pod of them", async () => {
    const { simulator, details } = open();
    const { name } = checkpointRef({ cluster: "default", ...named }, "rekindle");
    const created = Date.parse("2026-11-02T07:50:00Z");
    const memory = {
      driver: { attempt: 1, submittedAt: created, needs: [1_000, 1_024, 2_000, 4_096] },
      executors: { attempt: 1, lifetimes: [[2, created / 1_000, 5, 65, "node-1", "memory"]], ran: [60, 60] },
      state: { phase: "RUNNING" },
    };
    const second = created / 1_000;
    const timeline = {
      waits: [["quota\nof team-a", second, second + 9]],
      waiting: ["the driver to finish", second + 9],
    };
    post(simulator, "/apis/rekindle.dev/v1alpha1/namespaces/team-a/checkpoints", {
      apiVersion: "rekindle.dev/v1alpha1",
      kind: "Checkpoint",
      metadata: { name, namespace: "team-a" },
      spec: { schema: 1, cluster: "c1", uid: "u1", saves: 1, memory, timeline: { ...timeline, saves: [second + 9] } },
    });
    const detail = await details(named);
    assert.deepEqual(
      detail?.lanes.map(({ id, up, end, cores, gib, lost, reason }) => [id, up, end, cores, gib, lost, reason]),
      [[2, created + 5_000, created + 65_000, 2, 4, true, "memory"]],
    );
    const saved = created + 9_000;
    assert.deepEqual(
      [detail?.savedAt, detail?.waits],
      [
        [saved],
        [
          { for: "quota of team-a", from: created, to: saved, isUsual: false },
          { for: "the driver to finish", from: saved, isUsual: true },
        ],
      ],
    );
  });

  test("have a fact about Kueue of an application in its queue, and none of another one", async () => {
    const { simulator, details } = open();
    const factOf = async (name: string) => (await details({ ...named, name }))?.facts.find(([of]) => of === "KUEUE");
    post(simulator, path, {
      apiVersion: "sparkoperator.k8s.io/v1beta2",
      kind: "SparkApplication",
      metadata: { name: "queued", namespace: "team-a", labels: { "kueue.x-k8s.io/queue-name": "all" } },
      spec: {
        ...{ type: "Scala", sparkVersion: "4.1.1", mainApplicationFile: "local:///a.jar", suspend: true },
        ...{ driver: {}, executor: {} },
      },
    });
    assert.match((await factOf("queued"))?.[1] ?? "", /^LocalQueue all: held: nobody admits it/);
    assert.equal(await factOf("etl"), undefined);
  });

  test("have the Workloads of Kueue that grant executors, the base first, where they are known", async () => {
    const { simulator, details } = open();
    for (const crd of kueueCrds) post(simulator, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    const labels = { "kueue.x-k8s.io/queue-name": "all" };
    post(simulator, path, {
      ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication" },
      metadata: { name: "grown", namespace: "team-a", labels },
      spec: { type: "Scala", sparkVersion: "4.1.1", mainApplicationFile: "local:///a.jar", driver: {}, executor: {} },
    });
    const grantsOf = async () => (await details({ ...named, name: "grown" }))?.grants;
    const { uid } = JSON.parse(
      simulator.handle({ method: "GET", path: `${path}/grown`, headers: {}, body: "" }).body,
    ).metadata;
    const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads";
    const metadata = { name: "grown", namespace: "team-a", uid, resourceVersion: "1", labels };
    const base = ownWorkload({ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata }, 2);
    const growth = (name: string, flavor: string): readonly [Obj, string] => [
      {
        ...base,
        metadata: {
          ...{ name, labels: { "app.kubernetes.io/managed-by": "rekindle", "rekindle.dev/app-uid": uid } },
          ownerReferences: [{ apiVersion: base.apiVersion, kind: "Workload", name: base.metadata.name, uid: "own" }],
        },
        spec: { podSets: [{ name: "executor", count: 3, template: { spec: { containers: [] } } }] },
      },
      flavor,
    ];
    for (const [one, flavor] of [
      [base, "spot"] as const,
      growth("grown-grow-a", "spot"),
      growth("grown-grow-b", "other"),
    ]) {
      post(simulator, workloads, one);
      simulator.handle({
        ...{ method: "PATCH", headers: { "content-type": "application/merge-patch+json" } },
        path: `${workloads}/${one.metadata.name}/status`,
        body: JSON.stringify({ status: reserved(one, flavor, simulator.clock.now(), true) }),
      });
    }
    assert.deepEqual(await grantsOf(), [
      { workload: base.metadata.name, executors: 2, flavors: "", isBase: true },
      { workload: "grown-grow-a", executors: 3, isBase: false, flavors: "" },
      { workload: "grown-grow-b", executors: 3, isBase: false, flavors: "other" },
    ]);
  });

  test("list the kept logs of drivers", async () => {
    const { simulator, details } = open();
    const log = { attempt: 2, pod: "etl-driver", uid: "u-2", at: 1_000, until: 9_000, text: "" };
    const specs = {
      "logs.SparkApplication": { memory: { logs: [log] } },
      SparkApplication: { logs: true, memory: {} },
    };
    for (const [kind, spec] of Object.entries(specs))
      post(simulator, "/apis/rekindle.dev/v1alpha1/namespaces/team-a/checkpoints", {
        ...{ apiVersion: "rekindle.dev/v1alpha1", kind: "Checkpoint" },
        metadata: { name: checkpointRef({ cluster: "default", ...named, kind }, "rekindle").name, namespace: "team-a" },
        spec: { schema: 1, cluster: "c1", uid: "u1", saves: 1, ...spec },
      });
    assert.deepEqual((await details(named))?.keptLogs, [{ attempt: 2, pod: "etl-driver", at: 1_000 }]);
  });

  test("have prices only where they are set, and those of the nodes of its pods", async () => {
    const byNode = {
      currency: "EUR",
      core: 1,
      gib: 0.5,
      nodes: [{ labels: { capacity: "spot" }, core: 0.1, gib: 0.05 }],
    };
    const { simulator, board, details } = open({}, byNode);
    const metadata = { name: "spot-1", labels: { capacity: "spot" } };
    post(simulator, "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata });
    for (const node of ["spot-1", "unknown"])
      board.see({
        ...{ apiVersion: "v1", kind: "Pod", spec: { nodeName: node, containers: [] } },
        metadata: {
          ...{ name: `pod-${node}`, namespace: "team-a", uid: node, resourceVersion: "1" },
          labels: { "sparkoperator.k8s.io/app-name": "etl", "spark-role": "executor", "spark-exec-id": "1" },
        },
      });
    assert.deepEqual((await details(named))?.prices, {
      ...{ currency: "EUR", usual: [1, 0.5], isByNode: true },
      nodes: { "spot-1": [0.1, 0.05] },
    });
    assert.equal((await open().details(named))?.prices, undefined);
  });

  test("say which confs the run does not get, by what and what to write instead, as status does", async () => {
    const notes = async (confs: Readonly<Record<string, string>>) => (await open(confs).details(named))?.notes ?? [];
    const [note = "", ...others] = await notes({ "spark.kubernetes.driver.podTemplateFile": "s3a://b/t.yaml" });
    assert.ok(
      note.startsWith(
        'spec.sparkConf["spark.kubernetes.driver.podTemplateFile"] has no effect: Rekindle, which writes',
      ) && note.includes("spec.driver.template"),
      note,
    );
    assert.deepEqual(others, []);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`hive.a${at}`, "x"]));
    assert.deepEqual((await notes(many)).slice(20), ["and 10 more notes: rekindle status shows all"]);
    assert.deepEqual(await notes({ "spark.sql.ansi.enabled": "true" }), []);
  });

  test("viewers at the same time share one read, and an unchanged application is not read again at once", async () => {
    const { details, reads } = open();
    const [one, other] = await Promise.all([details(named), details(named)]);
    assert.deepEqual([one?.name, other?.name], ["etl", "etl"]);
    await details(named);
    assert.equal(reads.length, 1);
  });

  test("a change shortly after a read is read once more for all viewers, and none gets the older answer", async () => {
    const { simulator, board, details, reads } = open();
    await details(named);
    const headers = { "content-type": "application/merge-patch+json" };
    const body = JSON.stringify({ status: { applicationState: { state: "RUNNING" }, driverInfo: {} } });
    assert.equal(simulator.handle({ method: "PATCH", path: `${path}/etl/status`, headers, body }).status, 200);
    board.see(application("RUNNING"));
    const answers = await Promise.all([details(named), details(named)]);
    assert.equal(reads.length, 2);
    assert.deepEqual(
      answers.map((detail) => detail?.group),
      ["running", "running"],
    );
  });

  test("a spec that is too large for YAML is replaced by a hint", async () => {
    const confs = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`spark.a${at}`, "x"]));
    const { details } = open(confs);
    assert.equal((await details(named))?.spec, "too large to be shown here: kubectl get -o yaml shows it");
  });
});

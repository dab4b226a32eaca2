/** Scripted Spark: the executors that a driver creates, loses, replaces and leaves behind. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { itemsAt, numberAt, textAt } from "../../../../shared/simulator/storage/json.ts";
import { exitOf, open, podsPath, submit } from "../stand.ts";

const executors = (names: readonly string[]): readonly string[] => names.filter((name) => name.includes("-exec-"));

test("a driver creates its executors, runs its job, cleans up and succeeds", () => {
  const stand = open();
  submit(stand);
  stand.pass(2600);
  assert.deepEqual(
    executors(stand.pods()).map((name) => name.replace(/-[0-9a-f]{16}-/, "-")),
    ["pi-exec-1 Pending", "pi-exec-2 Pending"],
  );
  stand.rest();
  assert.deepEqual(stand.pods(), ["pi-driver Succeeded"]);
  const { body } = stand.simulator.handle({ method: "GET", path: `${podsPath}/pi-driver/log`, headers: {} });
  assert.match(body, /Pi is roughly 3\.14/);
});

test("executors have Spark's labels, the driver as owner, and the fields of the user's confs and template", () => {
  const stand = open();
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "pi-conf", uid: "u" };
  const template = {
    metadata: { labels: { team: "data" }, ownerReferences: [owner] },
    spec: {
      containers: [
        { name: "main", image: "x" },
        { name: "side", image: "y" },
      ],
    },
  };
  const confs = {
    "spark.kubernetes.executor.label.own": "1",
    "spark.kubernetes.executor.annotation.note": "a:b",
    "spark.kubernetes.executor.podNamePrefix": "pre",
    "spark.kubernetes.executor.podTemplateFile": "/opt/spark/pod-template/pod.yml",
    "spark.executor.memory": "2g",
  };
  submit(stand, "pi", confs, {}, template);
  stand.pass(2400);
  const pod = stand.pod("pre-exec-1");
  assert.deepEqual(pod?.metadata.labels, {
    team: "data",
    own: "1",
    "spark-app-name": "pi",
    "spark-app-selector": "spark-pi",
    "spark-exec-id": "1",
    "spark-exec-resourceprofile-id": "0",
    "spark-role": "executor",
  });
  assert.equal(pod?.metadata.annotations?.["note"], "a:b");
  assert.deepEqual(
    pod?.metadata.ownerReferences?.map(({ name }) => name),
    ["pi-conf", "pi-driver"],
  );
  const containers = itemsAt(pod, "spec", "containers");
  assert.deepEqual(
    containers.map((each) => textAt(each, "name")),
    ["side", "main"],
  );
  assert.equal(textAt(containers[1], "resources", "limits", "memory"), "2432Mi");
});

test("a lost executor is deleted and replaced under a new id", () => {
  const stand = open({ scripts: { pi: [{ executors: { "1": { runMs: 500, exitCode: 137, reason: "OOMKilled" } } }] } });
  submit(stand, "pi", { "spark.kubernetes.executor.podNamePrefix": "pi" });
  stand.pass(5500);
  assert.deepEqual(executors(stand.pods()), ["pi-exec-2 Running", "pi-exec-3 Running"]);
});

test("an ended executor stays with deleteOnTermination=false, labelled inactive", () => {
  const stand = open({ scripts: { pi: [{ executors: { "1": { runMs: 500, exitCode: 1 } } }] } });
  const confs = {
    "spark.kubernetes.executor.podNamePrefix": "pi",
    "spark.kubernetes.executor.deleteOnTermination": "false",
  };
  submit(stand, "pi", confs);
  stand.pass(5500);
  assert.deepEqual(executors(stand.pods()), ["pi-exec-1 Failed", "pi-exec-2 Running", "pi-exec-3 Running"]);
  assert.equal(stand.pod("pi-exec-1")?.metadata.labels?.["spark-exec-inactive"], "true");
  stand.rest();
  assert.deepEqual(executors(stand.pods()), ["pi-exec-1 Failed", "pi-exec-2 Succeeded", "pi-exec-3 Succeeded"]);
});

test("a deleted executor is replaced, and does not count as a failure", () => {
  const stand = open();
  submit(stand, "pi", { "spark.kubernetes.executor.podNamePrefix": "pi", "spark.executor.maxNumFailures": "0" });
  stand.pass(3000);
  stand.call("DELETE", `${podsPath}/pi-exec-1`, { gracePeriodSeconds: 0 });
  stand.rest();
  assert.deepEqual(stand.pods(), ["pi-driver Succeeded"]);
});

test("a driver exits with 11 after too many failures", () => {
  const stand = open({ scripts: { pi: [{ executors: { "*": { runMs: 100, exitCode: 1 } } }] } });
  submit(stand);
  stand.rest();
  assert.equal(exitOf(stand.pod("pi-driver")), 11);
});

test("executors end by themselves after their driver died", () => {
  const stand = open({ scripts: { pi: [{ runMs: 4000, exitCode: 137 }] } });
  submit(stand, "pi", { "spark.kubernetes.executor.podNamePrefix": "pi" });
  stand.pass(4500);
  assert.deepEqual(stand.pods(), ["pi-driver Failed", "pi-exec-1 Running", "pi-exec-2 Running"]);
  stand.rest();
  assert.deepEqual(stand.pods(), ["pi-driver Failed", "pi-exec-1 Failed", "pi-exec-2 Failed"]);
  assert.equal(exitOf(stand.pod("pi-exec-1")), 1);
});

test("each attempt of an application has its own script, and the last script is for all later attempts", () => {
  const stand = open({ scripts: { pi: [{ exitCode: 2 }, { exitCode: 3 }] } });
  const codes = ["one", "two", "three"].map((name) => {
    submit(stand, name, {}, { labels: { "spark-app-name": "pi", "spark-app-selector": name, "spark-role": "driver" } });
    stand.rest();
    return exitOf(stand.pod(`${name}-driver`));
  });
  assert.deepEqual(codes, [2, 3, 3]);
});

test("an annotation of the pod is its script", () => {
  const stand = open();
  submit(
    stand,
    "pi",
    {},
    {
      annotations: { "simulator.rekindle.dev/script": '{"exitCode":9,"jobMs":10}' },
      labels: { "spark-role": "driver" },
    },
  );
  stand.rest();
  assert.equal(exitOf(stand.pod("pi-driver")), 9);
});

test("a driver with the minimum and maximum of zero creates no executor, and uses executors of others", () => {
  const stand = open();
  submit(stand, "pi", { "spark.dynamicAllocation.enabled": "true", "spark.executor.instances": "0" });
  stand.pass(3000);
  assert.deepEqual(executors(stand.pods()), []);
  const labels = { "spark-app-selector": "spark-pi", "spark-role": "executor", "spark-exec-id": "1001" };
  stand.call("POST", podsPath, {
    metadata: { name: "own-exec-1001", labels },
    spec: { restartPolicy: "Never", containers: [{ name: "spark-kubernetes-executor", image: "x" }] },
  });
  stand.pass(1000);
  const path = `${podsPath}/pi-driver:4040/proxy/api/v1/applications/spark-pi/executors`;
  const { body } = stand.call("GET", path);
  assert.deepEqual(
    itemsAt({ body }, "body").map((each) => textAt(each, "id")),
    ["driver", "1001"],
  );
  stand.rest();
  assert.equal(exitOf(stand.pod("pi-driver")), 0);
});

test("an executor ends by itself if it finds no driver", () => {
  const stand = open({ scripts: { pi: [{ bootMs: 10_000 }] } });
  submit(stand, "pi", { "spark.executor.instances": "1" });
  const labels = { "spark-app-selector": "spark-pi", "spark-role": "executor", "spark-exec-id": "1001" };
  stand.call("POST", podsPath, {
    metadata: { name: "early", labels },
    spec: { restartPolicy: "Never", containers: [{ name: "spark-kubernetes-executor", image: "x" }] },
  });
  stand.pass(5000);
  assert.equal(exitOf(stand.pod("early")), 1);
});

test("the proxy is refused before the context is up", () => {
  const stand = open();
  submit(stand);
  stand.pass(1000);
  const { status } = stand.call("GET", `${podsPath}/pi-driver:4040/proxy/api/v1/applications`);
  assert.equal(status, 503);
  assert.equal(numberAt(stand.pod("pi-driver"), "metadata", "generation"), 1);
});

test("an executor works as long as its script says, and the driver's answer has its state", () => {
  const stand = open({ scripts: { pi: [{ hangs: true, executors: { "1": { busyMs: 10_000 } } }] } });
  submit(stand, "pi", { "spark.executor.instances": "2" });
  const path = `${podsPath}/pi-driver:4040/proxy/api/v1/applications/spark-pi/allexecutors`;
  const tasks = (): readonly unknown[] =>
    itemsAt({ body: stand.call("GET", path).body }, "body").map((each) => numberAt(each, "activeTasks"));
  stand.pass(8_000);
  assert.deepEqual(tasks(), [undefined, 1, undefined]);
  stand.pass(10_000);
  assert.deepEqual(tasks(), [undefined, 0, undefined]);
});

test("the gauge of a driver follows its script: numbers, none, nonsense, and a flapping one", () => {
  const gauge = [
    [0, 3],
    [20_000, "silent"],
    [30_000, { shows: -1 }],
    [40_000, { flaps: 8 }],
  ] as const;
  const stand = open({ scripts: { pi: [{ hangs: true, gauge, executors: { "*": { shuffleBytes: 900 } } }] } });
  submit(stand, "pi", { "spark.executor.instances": "1" });
  const proxy = `${podsPath}/pi-driver:4040/proxy`;
  const name = "spark-pi.driver.ExecutorAllocationManager.executors.numberMaxNeededExecutors";
  const need = (): number | undefined =>
    numberAt(stand.call("GET", `${proxy}/metrics/json/`).body, "gauges", name, "value");
  const after = (ms: number): number | undefined => {
    stand.pass(ms);
    return need();
  };
  assert.equal(after(10_000), 3);
  assert.throws(() => after(13_000), /not found/);
  assert.equal(after(10_000), -1);
  assert.deepEqual([after(10_000), after(5_000)].sort(), [0, 8]);
  const all = stand.call("GET", `${proxy}/api/v1/applications/spark-pi/allexecutors`).body;
  assert.deepEqual(
    itemsAt({ body: all }, "body").map((each) => numberAt(each, "totalShuffleWrite")),
    [undefined, 900],
  );
});

/**
 * Translations between the two APIs of SparkApplications: every example of both upstreams gives the same next attempt in the other
 * API, or is refused with a reason.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { yamlDocuments } from "../../../../shared/adapters/kubernetes/yaml.ts";
import { fieldsOf } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { compared } from "../../../../shared/spark/apache/translation/compared.ts";
import { directions } from "../../../../shared/spark/apache/translation/directions.ts";
import { dataDir, skipWithoutData } from "../../../support/data.ts";
import type { Fields } from "./fixtures.ts";

const kubeflow = "sparkoperator.k8s.io";
const apache = "spark.apache.org";

const running: Readonly<Record<string, Fields>> = {
  [kubeflow]: { applicationState: { state: "RUNNING" } },
  [apache]: { currentState: { currentStateSummary: "RunningHealthy", lastTransitionTime: "2026-11-02T08:00:00Z" } },
};

const groupOf = (object: Fields): string => String(object["apiVersion"]).split("/")[0] ?? "";

/** The object as it runs. */
const runs = (object: Fields): Stored => {
  const metadata = {
    name: "pi",
    namespace: "default",
    ...fieldsOf(object["metadata"]),
    uid: "u",
    resourceVersion: "1",
  };
  return {
    ...object,
    apiVersion: String(object["apiVersion"]),
    kind: "SparkApplication",
    metadata,
    status: running[groupOf(object)],
  };
};

const translated = (object: Fields) => {
  const other = groupOf(object) === kubeflow ? apache : kubeflow;
  const direction = directions[other];
  assert.ok(direction);
  return direction.translate(runs(object));
};

/** Why examples do not move, by their files. */
const refused: Readonly<Record<string, RegExp>> = {
  "spark-pi-kube-scheduler.yaml": /^spec\.batchScheduler/,
  "spark-pi-volcano.yaml": /^spec\.batchScheduler/,
  "spark-pi-yunikorn.yaml": /^spec\.batchScheduler/,
  "spark-connect-server-iceberg.yaml": /create a SparkConnect instead$/,
  "spark-connect-server-usw2-az2.yaml": /create a SparkConnect instead$/,
  "spark-connect-server-with-spark-cluster.yaml": /^spark\.master in spec\.sparkConf/,
  "spark-connect-server.yaml": /create a SparkConnect instead$/,
  "spark-thrift-server.yaml": /Spark Thrift server/,
};

const examples = (folder: string): readonly (readonly [file: string, object: Fields])[] =>
  dataDir === undefined
    ? []
    : readdirSync(join(dataDir, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => /\.ya?ml$/.test(file))
        .sort()
        .flatMap((file) =>
          yamlDocuments(readFileSync(join(dataDir ?? "", folder, file), "utf8"))
            .map((document) => ("value" in document ? fieldsOf(document.value) : {}))
            .filter(({ kind }) => kind === "SparkApplication")
            .map((object) => [file, object] as const),
        );

describe("examples of upstream", { skip: skipWithoutData }, () => {
  for (const [folder, count] of [
    ["spark-operator/examples", 12],
    ["spark-kubernetes-operator/examples", 33],
  ] as const)
    test(`${folder}: all move, and back, but for those with a reason`, () => {
      const found = examples(folder);
      assert.equal(found.length, count);
      for (const [file, object] of found) {
        const { object: there, blocks } = translated(object);
        const why = refused[file.split("/").at(-1) ?? ""];
        if (why === undefined) assert.deepEqual(blocks, [], file);
        else assert.match(blocks[0] ?? "", why, file);
        if (why === undefined && there !== undefined)
          assert.deepEqual(
            translated({ ...there }).blocks.filter((one) => !/configMapSpecs/.test(one)),
            [],
            `${file}, back`,
          );
      }
    });
});

const application = (spec: Fields): Fields => ({
  apiVersion: `${kubeflow}/v1beta2`,
  spec: {
    ...{ type: "Scala", sparkVersion: "4.1.1", image: "spark:4.1.1", mainClass: "org.example.Pi" },
    ...{ mainApplicationFile: "local:///a.jar", driver: {}, executor: {}, ...spec },
  },
});

describe("fields of kubeflow's API that become confs and templates", () => {
  const jmx = { exposeDriverMetrics: true, exposeExecutorMetrics: true, prometheus: { jmxExporterJar: "/jmx.jar" } };
  const rows: Readonly<Record<string, Fields>> = {
    "a GPU": { driver: { coreLimit: "1", gpu: { name: "example.com/gpu", quantity: 1 } } },
    "security contexts": { driver: { podSecurityContext: { runAsUser: 1 }, securityContext: { runAsUser: 2 } } },
    "a host's network": { driver: { hostNetwork: true }, executor: { hostNetwork: true } },
    "a scheduler and a priority": { driver: { schedulerName: "other", priorityClassName: "high" } },
    metrics: { monitoring: jmx },
    "a Python program": { mainApplicationFile: "local:///a.py", deps: { pyFiles: ["local:///b.py"] } },
    "scratch space": {
      volumes: [{ name: "spark-local-dir-1", emptyDir: {} }],
      driver: { volumeMounts: [{ name: "spark-local-dir-1", mountPath: "/scratch" }] },
    },
    "sidecars and volumes": {
      volumes: [{ name: "data", configMap: { name: "data" } }],
      driver: { sidecars: [{ name: "log", image: "log" }], volumeMounts: [{ name: "data", mountPath: "/data" }] },
    },
    secrets: { driver: { secrets: [{ name: "a", path: "/a", secretType: "Generic" }] } },
    "dynamic allocation": { dynamicAllocation: { enabled: true, maxExecutors: 4 } },
  };
  for (const [name, spec] of Object.entries(rows))
    test(`${name}: the next attempt is the same`, () => {
      assert.deepEqual(translated(application(spec)).blocks, []);
    });
});

describe("the restarts and the retention", () => {
  const tolerationsOf = (spec: Fields): Fields =>
    fieldsOf(fieldsOf(translated(application(spec)).object?.spec)["applicationTolerations"]);

  test("retries of failures and of refused submissions become restarts", () => {
    const policy = { type: "OnFailure", onFailureRetries: 3, onSubmissionFailureRetries: 2, onFailureRetryInterval: 7 };
    assert.deepEqual(tolerationsOf({ restartPolicy: policy })["restartConfig"], {
      ...{ restartPolicy: "OnFailure", maxRestartAttempts: 5 },
      ...{ maxRestartOnFailure: 3, maxRestartOnSchedulingFailure: 2 },
      ...{ restartBackoffMillis: 7_000, restartBackoffMillisForSchedulingFailure: 5_000 },
    });
  });

  test("pods stay as they do in kubeflow's API, and the time to live is the same", () => {
    const { resourceRetainPolicy, ttlAfterStopMillis } = tolerationsOf({ timeToLiveSeconds: 60 });
    assert.deepEqual([resourceRetainPolicy, ttlAfterStopMillis], ["Always", 60_000]);
  });
});

describe("what another next attempt has", () => {
  const attempt = (env: readonly Fields[], properties: string) => ({
    before: [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "spark.properties": properties } },
    ],
    driver: { apiVersion: "v1", kind: "Pod", metadata: { name: "d" }, spec: { containers: [{ name: "main", env }] } },
  });
  const before = attempt([{ name: "A", value: "1" }], "spark.app.id=a\nspark.x=1\n");

  test("names of the attempt are no difference", () => {
    assert.deepEqual(compared(before, attempt([{ name: "A", value: "1" }], "spark.app.id=b\nspark.x=1\n")), []);
  });

  test("it stands in the way of a move: an R program has its class by kubeflow's API alone", () => {
    const sparkConf = { "spark.kubernetes.container.image": "spark-r:4.1.1" };
    const spec = { runtimeVersions: { sparkVersion: "4.1.1" }, sparkRFiles: "local:///a.R", sparkConf };
    assert.deepEqual(translated({ apiVersion: `${apache}/v1`, spec }).blocks, [
      "the next attempt would have another driver pod's spec containers: let this run end, and write the application for the other API",
    ]);
  });

  test("a conf, and a variable of the driver, are", () => {
    assert.deepEqual(compared(before, attempt([], "spark.app.id=a\nspark.x=2\n")), [
      "conf spark.x",
      "driver pod's spec containers",
    ]);
  });
});

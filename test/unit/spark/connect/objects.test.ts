/** The pod, the service and the command line of a SparkConnect, field by field, and as a shell reads it. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { isRecord } from "../../../../shared/core/json.ts";
import type { Obj } from "../../../../shared/core/object.ts";

import { connect, type Given, made, type Spec } from "./fixtures.ts";

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return inner[Number(step)];
    return isRecord(inner) ? inner[step] : undefined;
  }, value);

const kindOf = (kind: string, spec?: Spec, given?: Given): Obj => {
  const found = made(connect(spec), given).find((object) => object.kind === kind);
  assert.ok(found);
  return found;
};

const podOf = (spec?: Spec, given?: Given): Obj => kindOf("Pod", spec, given);

/** Returns the words of the command that a shell in the pod starts. */
const wordsOf = (spec?: Spec, env: Readonly<Record<string, string>> = {}): readonly string[] => {
  const line = String(at(podOf(spec), "spec", "containers", 0, "args", 0));
  const shown = line.replace("$SPARK_HOME/sbin/start-connect-server.sh", "printf '%s\\n'");
  const { stdout, status } = spawnSync("bash", ["-c", shown], {
    env: { PATH: process.env["PATH"] ?? "", POD_IP: "10.0.0.7", ...env },
    encoding: "utf8",
  });
  assert.equal(status, 0);
  return stdout.trimEnd().split("\n");
};

const confsOf = (words: readonly string[]): readonly string[] =>
  words.filter((_, index) => words[index - 1] === "--conf");

describe("the server's command line", () => {
  test("has upstream's confs", () => {
    const words = wordsOf();
    assert.deepEqual(words.slice(0, 2), ["--master", "k8s://https://kubernetes.default.svc"]);
    assert.deepEqual(confsOf(words), [
      "spark.kubernetes.namespace=ns",
      "spark.kubernetes.container.image=spark:4.1.1",
      "spark.kubernetes.executor.container.image=spark:4.1.1",
      "spark.kubernetes.driver.label.sparkoperator.k8s.io/launched-by-spark-operator=true",
      "spark.kubernetes.driver.label.sparkoperator.k8s.io/connect-name=sc",
      "spark.kubernetes.driver.label.team=a",
      "spark.driver.bindAddress=0.0.0.0",
      "spark.driver.host=10.0.0.7",
      "spark.driver.port=7078",
      "spark.driver.blockManager.port=7079",
      "spark.kubernetes.driver.pod.name=sc-server",
      "spark.kubernetes.executor.label.sparkoperator.k8s.io/launched-by-spark-operator=true",
      "spark.kubernetes.executor.label.sparkoperator.k8s.io/connect-name=sc",
      "spark.kubernetes.executor.label.team=a",
      "spark.kubernetes.executor.podNamePrefix=sc",
    ]);
  });

  const rows: readonly (readonly [what: string, spec: Spec, want: readonly string[]])[] = [
    [
      "sizes",
      { server: { cores: 2, memory: "1g" }, executor: { instances: 3, cores: 1, memory: "512m" } },
      [
        "spark.driver.cores=2",
        "spark.driver.memory=1g",
        "spark.executor.instances=3",
        "spark.executor.cores=1",
        "spark.executor.memory=512m",
      ],
    ],
    [
      "Spark and Hadoop, with characters of a shell",
      {
        sparkConf: { "spark.a": `it's "$HOME" \`x\` a b`, "spark.kubernetes.driver.pod.name": "other" },
        hadoopConf: { "fs.x": "1", "spark.hadoop.fs.y": "2" },
      },
      [
        `spark.a=it's "$HOME" \`x\` a b`,
        "spark.hadoop.fs.x=1",
        "spark.hadoop.fs.y=2",
        "spark.kubernetes.driver.pod.name=sc-server",
      ],
    ],
    [
      "an executors' template",
      { executor: { template: { spec: { containers: [{ name: "spark-kubernetes-executor", image: "other:1" }] } } } },
      [
        "spark.kubernetes.container.image=other:1",
        "spark.kubernetes.executor.container.image=other:1",
        "spark.kubernetes.executor.podTemplateFile=/tmp/spark/executor-pod-template.yaml",
        "spark.kubernetes.executor.podTemplateContainerName=spark-kubernetes-executor",
      ],
    ],
    [
      "dynamic allocation",
      {
        dynamicAllocation: {
          enabled: true,
          minExecutors: 1,
          maxExecutors: 4,
          initialExecutors: 2,
          shuffleTrackingTimeout: 9,
        },
      },
      [
        "spark.dynamicAllocation.enabled=true",
        "spark.dynamicAllocation.initialExecutors=2",
        "spark.dynamicAllocation.minExecutors=1",
        "spark.dynamicAllocation.maxExecutors=4",
        "spark.dynamicAllocation.shuffleTracking.enabled=true",
        "spark.dynamicAllocation.shuffleTracking.timeout=9",
      ],
    ],
  ];
  for (const [what, spec, want] of rows) {
    test(`has the confs of ${what}`, () => {
      const confs = confsOf(wordsOf(spec));
      assert.deepEqual(
        want.filter((conf) => !confs.includes(conf)),
        [],
      );
    });
  }

  test("has no confs of disabled dynamic allocation", () => {
    const confs = confsOf(wordsOf({ dynamicAllocation: { enabled: false, maxExecutors: 4 } }));
    assert.deepEqual(
      confs.filter((conf) => conf.startsWith("spark.dynamicAllocation")),
      [],
    );
  });

  test("has the deployment's confs below those of the SparkConnect", () => {
    const sparkDefaults = { "spark.eventLog.enabled": "true", "spark.eventLog.dir": "s3a://all" };
    const pod = podOf({ sparkConf: { "spark.eventLog.dir": "s3a://own" } }, { sparkDefaults });
    const line = String(at(pod, "spec", "containers", 0, "args", 0));
    assert.match(line, / --conf spark\.eventLog\.dir=s3a:\/\/own --conf spark\.eventLog\.enabled=true /);
    assert.doesNotMatch(line, /s3a:\/\/all/);
  });

  test("has an IPv6 address in brackets", () => {
    assert.ok(confsOf(wordsOf({}, { POD_IP: "fd00::7" })).includes("spark.driver.host=[fd00::7]"));
  });
});

describe("the server's pod", () => {
  const template = {
    metadata: { labels: { key1: "v", "spark-role": "mine" }, annotations: { key3: "v" } },
    spec: {
      serviceAccount: "spark",
      securityContext: { runAsUser: 185, capabilities: { drop: ["ALL"] } },
      containers: [
        { name: "sidecar", image: "s:1" },
        {
          name: "spark-kubernetes-driver",
          image: "own:1",
          env: [{ name: "A", value: "b" }],
          volumeMounts: [{ name: "v", mountPath: "/v" }],
          readinessProbe: { exec: { command: ["true"] } },
          lifecycle: { postStart: {} },
        },
      ],
      volumes: [{ name: "v", emptyDir: {} }],
    },
  };
  const pod = podOf({ server: { template } });
  const rows: readonly (readonly [what: string, path: readonly (string | number)[], want: unknown])[] = [
    [
      "keeps the template's labels, except for the labels of its selector",
      ["metadata", "labels"],
      {
        key1: "v",
        "sparkoperator.k8s.io/launched-by-spark-operator": "true",
        "sparkoperator.k8s.io/connect-name": "sc",
        "spark-role": "connect-server",
        "spark-version": "4.1.1",
      },
    ],
    ["keeps the service account", ["spec", "serviceAccount"], "spark"],
    ["drops unknown fields, as a typed client would", ["spec", "securityContext"], { runAsUser: 185 }],
    ["leaves sidecars alone", ["spec", "containers", 0], { name: "sidecar", image: "s:1" }],
    ["keeps the container's own image", ["spec", "containers", 1, "image"], "own:1"],
    ["runs a shell", ["spec", "containers", 1, "command"], ["bash", "-c"]],
    ["keeps the user's probe", ["spec", "containers", 1, "readinessProbe"], { exec: { command: ["true"] } }],
    [
      "has a startup probe at the port",
      ["spec", "containers", 1, "startupProbe"],
      {
        tcpSocket: { port: 15002 },
        initialDelaySeconds: 5,
        periodSeconds: 10,
        timeoutSeconds: 1,
        failureThreshold: 30,
      },
    ],
    [
      "adds to the environment",
      ["spec", "containers", 1, "env"],
      [
        { name: "A", value: "b" },
        { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "SPARK_NO_DAEMONIZE", value: "true" },
      ],
    ],
    [
      "mounts the executors' template",
      ["spec", "containers", 1, "volumeMounts", 1],
      {
        name: "spark-configmap-volume",
        subPath: "executor-pod-template.yaml",
        mountPath: "/tmp/spark/executor-pod-template.yaml",
        readOnly: true,
      },
    ],
    [
      "has the volume of its ConfigMap",
      ["spec", "volumes", 1],
      {
        name: "spark-configmap-volume",
        configMap: {
          name: "sc-conf",
          items: [{ key: "executor-pod-template.yaml", path: "executor-pod-template.yaml" }],
        },
      },
    ],
    [
      "stops the server in its preStop hook",
      ["spec", "containers", 1, "lifecycle"],
      {
        preStop: { exec: { command: ["bash", "-c", "$SPARK_HOME/sbin/stop-connect-server.sh"] } },
      },
    ],
  ];
  for (const [what, path, want] of rows) test(what, () => assert.deepEqual(at(pod, ...path), want));

  test("without a template has one container with Spark's name and the common image", () => {
    assert.deepEqual(
      [at(podOf(), "spec", "containers", 0, "name"), at(podOf(), "spec", "containers", 0, "image")],
      ["spark-kubernetes-driver", "spark:4.1.1"],
    );
  });

  test("serves in the first container when none has Spark's name", () => {
    const containers = [{ name: "a", image: "a:1" }, { name: "b" }];
    const own = podOf({ server: { template: { spec: { containers } } } });
    assert.deepEqual(
      [at(own, "spec", "containers", 0, "image"), at(own, "spec", "containers", 1)],
      ["a:1", { name: "b" }],
    );
    assert.deepEqual(at(own, "spec", "containers", 0, "command"), ["bash", "-c"]);
  });
});

describe("the service", () => {
  test("has upstream's ports and finds the server", () => {
    const { spec, metadata } = kindOf("Service");
    assert.deepEqual(
      [at(spec, "ports")].flat().map((port) => [at(port, "name"), at(port, "port"), at(port, "appProtocol")]),
      [
        ["driver-rpc", 7078, "tcp"],
        ["blockmanager", 7079, "tcp"],
        ["web-ui", 4040, "http"],
        ["spark-connect-server", 15002, "grpc"],
      ],
    );
    assert.deepEqual(at(spec, "selector"), podOf().metadata.labels);
    assert.equal(metadata.labels?.["sparkoperator.k8s.io/created-by-spark-operator"], "true");
  });

  test("has the fields of the user's service", () => {
    const service = { metadata: { name: "mine", annotations: { a: "b" } }, spec: { type: "LoadBalancer", ports: [] } };
    const { metadata, spec } = kindOf("Service", { server: { service } });
    assert.deepEqual(
      [metadata.name, metadata.annotations, at(spec, "type"), [at(spec, "ports")].flat().length],
      ["mine", { a: "b" }, "LoadBalancer", 4],
    );
  });
});

/** render: from files and a host's settings to the objects of a run, without a cluster. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseAllDocuments, stringify } from "yaml";
import { full, openTerminal } from "./terminal.ts";

const piped = (...objects: readonly unknown[]): string => objects.map((object) => stringify(object)).join("---\n");

const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "b" } };

describe("rekindle render", () => {
  test("prints the objects of a submission, deterministically, without a request", async () => {
    const stdin = piped(config, full("app"));
    const unasked = { send: async () => assert.fail("asked"), stream: async () => assert.fail("asked") };
    const terminal = openTerminal({ transport: unasked, stdin });
    const { code, out, err } = await terminal.run("render", "-f", "-");
    assert.deepEqual([code, err], [0, ""]);
    const kinds = parseAllDocuments(out).map((document) => `${document.get("kind")}`);
    assert.deepEqual(kinds, [
      ...["ConfigMap", "ConfigMap", "Service"].sort((a, b) => kinds.indexOf(a) - kinds.indexOf(b)),
      "Pod",
      "Service",
    ]);
    assert.match(out, /name: app-driver\n/);
    assert.equal((await terminal.run("render", "-f", "-")).out, out);
    assert.notEqual((await terminal.run("render", "-f", "-", "--attempt", "2")).out, out);
  });

  test("reads what kubectl reads: octal modes, merged maps, and the last of repeated keys", async () => {
    const stdin = [
      "apiVersion: sparkoperator.k8s.io/v1beta2",
      "kind: SparkApplication",
      "metadata: {name: merged, namespace: default}",
      "spec:",
      '  {type: Scala, mode: cluster, image: "x/spark:3.5.3", sparkVersion: "3.5.3", mainClass: M, mainApplicationFile: "local:///a.jar",',
      "  volumes: [{name: key, secret: {secretName: ssh, defaultMode: 0400}}],",
      "  driver: &pod {memory: 1g, memory: 2g, labels: {team: orders}, hostNetwork: no, volumeMounts: [{name: key, mountPath: /k}]},",
      "  executor: {<<: *pod, instances: 2, memory: 4g}}",
    ].join("\n");
    const { code, out, err } = await openTerminal({ stdin }).run("render", "-f", "-");
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /defaultMode: 256\n/);
    assert.match(out, /spark\.kubernetes\.executor\.label\.team=orders/);
    assert.match(out, /spark\.driver\.memory=2g/);
    assert.match(out, /spark\.executor\.memory=4g/);
  });

  const misspelt: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ["spec.executor.instnces", full("typo", { executor: { instnces: 1 } })],
    ["spec.driver.ports[0].port", full("typo", { driver: { ports: [{ name: "a", protocol: "TCP", port: 1 }] } })],
    ["spec.sparkConfig", full("typo", { sparkConfig: {} })],
    ["metadata.label", { ...full("typo"), metadata: { name: "typo", label: {} } }],
    ["sepc", { ...full("typo"), sepc: {} }],
    [
      "spec.template.restart",
      {
        ...full("typo"),
        kind: "ScheduledSparkApplication",
        spec: { schedule: "@daily", template: { restart: {} } },
      },
    ],
    [
      "spec.server.image",
      {
        ...{ apiVersion: "sparkoperator.k8s.io/v1alpha1", kind: "SparkConnect", metadata: { name: "typo" } },
        spec: { sparkVersion: "4.0.1", server: { image: "x", template: { any: {} } }, executor: {} },
      },
    ],
  ];
  for (const [path, object] of misspelt) {
    test(`refuses the unknown field ${path}, as create does`, async () => {
      const { code, out, err } = await openTerminal({ stdin: piped(object) }).run("render", "-f", "-");
      assert.deepEqual([code, out], [1, ""]);
      assert.ok(err.includes(`unknown field "${path}": a field that is misspelt, or not known to Rekindle`), err);
    });
  }

  const port = { servicePort: 9_999, servicePortName: "api", ingressURLFormat: "{{$appName}}.x.org/api" };
  const accompanied = full("app", {
    driverIngressOptions: [port],
    driverPodDisruptionBudget: true,
    batchScheduler: "volcano",
  });
  const hosts: readonly { name: string; settings: readonly string[]; want: readonly string[] }[] = [
    {
      name: "by default",
      settings: [],
      want: ["Pod app-driver", "Service app-ui-svc", "Service app-driver-9999", "Ingress app-ing-9999"],
    },
    {
      name: "with everything on",
      settings: ["--enable-driver-pdb", "--enable-batch-scheduler", "--ingress-url-format", "{{$appName}}.x.org"],
      want: [
        ...["PodDisruptionBudget app-driver", "PodGroup spark-app-pg", "Pod app-driver", "Service app-ui-svc"],
        ...["Ingress app-ui-ingress", "Service app-driver-9999", "Ingress app-ing-9999"],
      ],
    },
    {
      name: "without a web UI",
      settings: ["--enable-ui-service=false"],
      want: ["Pod app-driver", "Service app-driver-9999", "Ingress app-ing-9999"],
    },
  ];
  for (const { name, settings, want } of hosts) {
    test(`prints the run's auxiliary objects under a host's settings: ${name}`, async () => {
      const { out, err } = await openTerminal({ stdin: piped(accompanied) }).run(
        "render",
        "-f",
        "-",
        "--",
        ...settings,
      );
      const all = parseAllDocuments(out).map((each) => `${each.get("kind")} ${each.getIn(["metadata", "name"])}`);
      const submitted = /^(ConfigMap|Service spark-|Service app-\w+-driver-svc)/;
      assert.deepEqual(
        all.filter((each) => !submitted.test(each)),
        want,
        err,
      );
    });
  }

  test("refuses settings that no host has", async () => {
    const { code, err } = await openTerminal({ stdin: piped(full("app")) }).run(
      "render",
      "-f",
      "-",
      "--",
      "--enable-uis",
    );
    assert.equal(code, 1);
    assert.match(err, /flag --enable-uis: unknown/);
  });

  test("prints a schedule's run, and refuses an invalid schedule with its field", async () => {
    const { spec, ...rest } = full("nightly");
    const scheduled = { ...rest, kind: "ScheduledSparkApplication", spec: { schedule: "@daily", template: spec } };
    const { out } = await openTerminal({ stdin: piped(scheduled) }).run("render", "-f", "-");
    assert.match(out, /sparkoperator\.k8s\.io\/scheduled-app-name: nightly/);
    const { code, err } = await openTerminal({ stdin: piped(full("w", { driver: { memory: "x" } })) }).run(
      "render",
      "-f",
      "-",
    );
    assert.equal(code, 1);
    assert.match(err, /: SparkApplication w: spec\.driver\.memory/);
  });

  test("names every document that is no object, and every line that is no YAML", async () => {
    const text = "kind: [\n---\napiVersion: v1\nkind: Pod\nmetadata: {}\n---\n7\n";
    for (const command of ["render", "create"]) {
      const { code, err } = await openTerminal({ stdin: text }).run(command, "-f", "-");
      assert.equal(code, 1);
      for (const part of [
        /standard input:\d/,
        /document 2: metadata\.name must be there/,
        /document 3: is not an object/,
      ])
        assert.match(err, part);
    }
  });

  test("names the mistakes of every document, as create does", async () => {
    const job = {
      apiVersion: "batch.volcano.sh/v1alpha1",
      kind: "Job",
      metadata: { name: "j" },
      spec: { minAvailable: -1 },
    };
    const bad = [full("a", { driver: { memory: "x" }, type: "C" }), full("b", { sparkVersion: 1 }), job];
    const text = bad.map((one) => piped(one)).join("\n---\n");
    for (const [command, wanted] of [
      ["render", ["SparkApplication a: spec.type", "SparkApplication b: spec.sparkVersion", "refused"]],
      [
        "create",
        ["SparkApplication a: spec.type", "SparkApplication b: spec.sparkVersion", "Job j: spec.minAvailable"],
      ],
    ] as const) {
      const { code, out, err } = await openTerminal({ stdin: text }).run(command, "-f", "-");
      assert.deepEqual([code, out], [1, ""]);
      for (const part of wanted) assert.ok(err.includes(part), `${part} in ${err}`);
    }
  });
});

describe("rekindle render, of a SparkConnect", () => {
  const connect = (server: unknown) => ({
    ...{ apiVersion: "sparkoperator.k8s.io/v1alpha1", kind: "SparkConnect", metadata: { name: "c" } },
    spec: { sparkVersion: "4.1.1", image: "apache/spark:4.1.1", server, executor: { instances: 1 } },
  });

  test("prints ConfigMap, Service and server, and refuses an invalid one with its field", async () => {
    const { out, err } = await openTerminal({ stdin: piped(connect({ memory: "1g" })) }).run("render", "-f", "-");
    const kinds = parseAllDocuments(out).map((document) => `${document.get("kind")}`);
    assert.deepEqual(kinds, ["ConfigMap", "Service", "Pod"], err);
    const wrong = await openTerminal({ stdin: piped(connect({ memory: "x" })) }).run("render", "-f", "-");
    assert.match(wrong.err, /: SparkConnect c: spec\.server\.memory: "x"/);
  });
});

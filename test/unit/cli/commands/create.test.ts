/** create, submit: from files and flags to objects, and the messages for invalid ones. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { full, openTerminal, type Terminal } from "../terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-create-"));
after(() => rmSync(folder, { recursive: true }));

const file = (name: string, ...objects: readonly unknown[]): string => {
  const path = join(folder, name);
  writeFileSync(path, objects.map((object) => (typeof object === "string" ? object : stringify(object))).join("---\n"));
  return path;
};

const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "b" } };

const stored = ({ simulator }: Terminal, name: string) =>
  request(
    simulator.transport,
    "GET",
    `/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/${name}`,
  );

const made = (name: string): string => `sparkapplication.sparkoperator.k8s.io/${name} created`;

describe("rekindle create", () => {
  test("accepts several documents, every served kind, and lists", async () => {
    const list = { apiVersion: "v1", kind: "List", items: [full("b"), full("c")] };
    const { code, out, err } = await openTerminal().run("create", "-f", file("many.yaml", config, full("a"), list));
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(out, ["configmap/c created", made("a"), made("b"), made("c")].join("\n"));
  });

  test("accepts folders, several -f, and standard input", async () => {
    const inner = join(folder, "inner");
    mkdirSync(inner);
    writeFileSync(join(inner, "2.yaml"), stringify(full("second")));
    writeFileSync(join(inner, "1.json"), JSON.stringify(full("first")));
    writeFileSync(join(inner, "remarks.txt"), "not one");
    const terminal = openTerminal({ stdin: stringify(full("piped")) });
    const { out, err } = await terminal.run("create", "-f", inner, "-f", "-");
    assert.equal(out, [made("first"), made("second"), made("piped")].join("\n"), err);
  });

  test("refuses an existing object, and replaces its spec with --override", async () => {
    const terminal = openTerminal();
    const path = file("twice.yaml", full("twice"));
    await terminal.run("create", "-f", path);
    const again = await terminal.run("create", "-f", path);
    assert.deepEqual([again.code, again.out], [1, ""]);
    assert.match(again.err, /SparkApplication twice: there is a .* twice already; --override gives it this spec\n/);
    const other = await terminal.run(
      "create",
      "-f",
      file("other.yaml", full("twice", { arguments: ["7"] })),
      "--override",
    );
    assert.equal(other.out, "sparkapplication.sparkoperator.k8s.io/twice replaced");
    assert.match(JSON.stringify(await stored(terminal, "twice")), /"arguments":\["7"\]/);
  });

  test("creates nothing in a dry run", async () => {
    const terminal = openTerminal();
    const { out } = await terminal.run("create", "-f", file("dry.yaml", full("dry")), "--dry-run");
    assert.equal(out, "sparkapplication.sparkoperator.k8s.io/dry created (dry run)");
    assert.equal((await terminal.run("list")).out, "no applications");
  });

  const bad: readonly (readonly [string, readonly unknown[], RegExp])[] = [
    ["yaml", ["a: [1"], /yaml\.yaml:\d+: is not YAML \(/],
    ["text", ["just text"], /text\.yaml: is not an object of Kubernetes: apiVersion, kind and metadata are missing$/],
    [
      "kindless",
      [config, { metadata: { name: "x" } }],
      /kindless\.yaml, document 2: apiVersion and kind must be there/,
    ],
    [
      "unquoted",
      ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no}"],
      /unquoted\.yaml: metadata\.name must be text, and YAML reads false here: put the name in quotes$/,
    ],
    ["nameless", [{ ...config, metadata: {} }], /nameless\.yaml: metadata\.name must be there, as text$/],
    ["nothing", ["# nothing"], /nothing\.yaml: there is nothing in it$/],
    [
      "unsubmittable",
      [full("ok"), full("bad", { sparkConf: { "spark.master": "x" } })],
      /document 2: SparkApplication bad: sparkConf key "spark\.master" is not allowed[^\n]*\nrekindle: nothing was sent/,
    ],
    [
      "upload",
      [full("up", { mainApplicationFile: "app.jar" })],
      /SparkApplication up: .*app\.jar.*\nrekindle: nothing was sent/,
    ],
    [
      "typo",
      [full("typo", { drvier: {} })],
      /SparkApplication typo: unknown field "spec\.drvier": a field that is misspelt/,
    ],
    ["type", [full("typed", { type: "Cobol" })], /SparkApplication typed: spec\.type/],
    ["unknown", [{ ...config, kind: "Widget" }], /Widget c: the server knows no Widget in v1\n/],
  ];
  for (const [name, objects, line] of bad) {
    test(`refuses with the place: ${name}`, async () => {
      const { code, err } = await openTerminal().run("create", "-f", file(`${name}.yaml`, ...objects));
      assert.equal(code, 1);
      assert.match(err, line);
    });
  }

  test("prints the server's message about a field without its surroundings", async () => {
    const path = file("server.yaml", full("typed", { type: "Cobol" }));
    const { err } = await openTerminal().run("create", "-f", path, "--no-check");
    assert.match(
      err,
      /SparkApplication typed: spec\.type: (Unsupported|Invalid) value: "Cobol"[^\n]*\nrekindle: 1 of 1 refused$/,
    );
  });

  test("creates the other objects if one is refused", async () => {
    const path = file("mixed.yaml", full("typo", { drvier: {} }), full("fine"));
    const { code, out, err } = await openTerminal().run("create", "-f", path);
    assert.deepEqual([code, out], [1, made("fine")]);
    assert.match(err, /rekindle: 1 of 2 refused$/);
  });

  test("refuses contradictory namespaces", async () => {
    const object = { ...full("placed"), metadata: { name: "placed", namespace: "default" } };
    const { err } = await openTerminal().run("create", "-f", file("placed.yaml", object), "-n", "other");
    assert.match(err, /its metadata\.namespace is default, and -n says other: keep one of them/);
  });
});

describe("rekindle submit", () => {
  const line = [
    ...["submit", "--master", "k8s://https://example:6443", "--deploy-mode", "cluster", "--name", "Spark Pi"],
    ...["--class", "org.example.Pi", "--image", "apache/spark:4.1.1", "--num-executors", "2"],
    ...[
      "--conf",
      "spark.kubernetes.namespace=default",
      "-c",
      "spark.x=a=b",
      "--jars",
      "local:///a.jar, local:///b.jar",
    ],
    ...["--conf", "spark.kubernetes.authenticate.driver.serviceAccountName=spark", "--driver-memory", "2g"],
  ];

  test("turns spark-submit's command line into an application", async () => {
    const { code, out, err } = await openTerminal().run(...line, "-o", "yaml", "local:///pi.jar", "10", "--class", "x");
    assert.equal(code, 0, err);
    assert.deepEqual(parse(out), {
      apiVersion: "sparkoperator.k8s.io/v1beta2",
      kind: "SparkApplication",
      metadata: { namespace: "default", name: "spark-pi-9a3e1cc7" },
      spec: {
        ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "apache/spark:4.1.1" },
        ...{ mainApplicationFile: "local:///pi.jar", mainClass: "org.example.Pi", arguments: ["10", "--class", "x"] },
        deps: { jars: ["local:///a.jar", "local:///b.jar"] },
        driver: { serviceAccount: "spark", memory: "2g" },
        executor: { instances: 2 },
        sparkConf: { "spark.x": "a=b" },
      },
    });
  });

  test("prints with -o yaml a file for kubectl apply, which YAML 1.1 reads alike", async () => {
    const confs = ["on", "off", "yes", "no", "y", "n", "0755", "1e3", "1:30"].flatMap((value, at) => [
      ...["-c", `spark.${at}=${value}`],
    ]);
    const typed = async (...more: readonly string[]) =>
      (await openTerminal().run(...line, ...confs, ...more, "-o", "yaml", "local:///pi.jar")).out;
    const [printed, again, other] = [await typed(), await typed(), await typed("--executor-memory", "2g")];
    assert.deepEqual(parse(printed, { version: "1.1" }), parse(printed));
    assert.match(printed, /^ {2}name: spark-pi-[\da-f]{8}$/m);
    assert.doesNotMatch(printed, /generateName/);
    assert.equal(again, printed);
    assert.notEqual(parse(other).metadata.name, parse(printed).metadata.name);
    const kept = file("kept.yaml", printed);
    const { code, err } = await openTerminal().run("create", "-f", kept);
    assert.equal(code, 0, err);
  });

  test("prefers flags to confs, and confs to the file", async () => {
    const path = file("defaults.conf", "# remark\nspark.a 1\nspark.b=2\nspark.kubernetes.container.image: x:1.2.3\n");
    const args = ["--properties-file", path, "--conf", "spark.b=3", "--driver-class-path", "/x", "-o", "json"];
    const { out, err } = await openTerminal().run("submit", ...args, "local:///pi.py");
    assert.equal(err, "");
    const { spec } = JSON.parse(out);
    assert.deepEqual(
      [spec.type, spec.image, spec.sparkVersion, spec.sparkConf],
      ["Python", "x:1.2.3", "1.2.3", { "spark.a": "1", "spark.b": "3", "spark.driver.extraClassPath": "/x" }],
    );
  });

  const end = (state: string, errorMessage?: string) => async (terminal: Terminal["simulator"]) => {
    const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/app";
    const found = await request(terminal.transport, "GET", path);
    await request(terminal.transport, "PUT", `${path}/status`, {
      ...found,
      status: { driverInfo: {}, applicationState: { state, errorMessage } },
    });
  };
  const ends: readonly (readonly [string, number, RegExp, RegExp])[] = [
    [
      "COMPLETED",
      0,
      /app created\nstate {6}COMPLETED/,
      /^0s {2}default\/app is NEW and waits for a host to look at it$/,
    ],
    ["FAILED", 3, /app created$/, /default\/app has failed: exit 7$/],
    [
      "RUNNING",
      4,
      /app created$/,
      /^2s {2}default\/app is RUNNING and waits for .*\n.*default\/app is still RUNNING; it continues: rekindle status default\/app$/m,
    ],
  ];
  for (const [state, code, out, err] of ends) {
    test(`--wait returns ${code} for an application that ends ${state}`, async () => {
      const terminal = openTerminal({ slept: end(state, state === "FAILED" ? "exit 7" : undefined) });
      const ran = await terminal.run(...line, "--application", "app", "--wait", "--timeout", "20s", "local:///pi.jar");
      assert.equal(ran.code, code, ran.err);
      assert.match(ran.out, out);
      assert.match(ran.err, err);
    });
  }

  test("lets the server complete the name", async () => {
    const terminal = openTerminal();
    assert.match(
      (await terminal.run(...line, "local:///pi.jar")).out,
      /^sparkapplication\.sparkoperator\.k8s\.io\/spark-pi-\w{5} created$/,
    );
  });

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--master", "yarn", "x.jar"], /--master yarn: applications run on Kubernetes/],
    [["--deploy-mode", "client", "x.jar"], /--deploy-mode client: use cluster/],
    [["--queue", "q", "x.jar"], /--queue: it is for YARN/],
    [["--supervise", "x.jar"], /--supervise: .*--restart OnFailure/],
    [["--conf", "nothing", "x.jar"], /--conf nothing: write KEY=VALUE/],
    [["--num-executors", "two", "x.jar"], /--num-executors two: write a whole number/],
    [["local:///x.jar"], /no image is named: add --image/],
    [["--image", "team/etl:7", "local:///x.py"], /tag of team\/etl:7 names no version of Spark: add --spark-version/],
    [["--image", "s:4.1.1", "x.jar"], /x\.jar/],
    [
      ["--image", "s:4.1.1", "--class", "C", "--driver-memory", "lots", "local:///x.jar"],
      /spec\.driver\.memory: "lots"/,
    ],
  ];
  for (const [args, said] of wrong) {
    test(`refuses in one line: submit ${args.join(" ")}`, async () => {
      const { code, err } = await openTerminal().run("submit", ...args);
      assert.equal(code, 1);
      assert.match(err, said);
      assert.equal(err.split("\n").length, 1);
    });
  }
});

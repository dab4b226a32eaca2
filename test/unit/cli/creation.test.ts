/**
 * create as in sparkctl: a run of a schedule's template, and a ConfigMap of Hadoop's configuration beside the
 * application.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { stringify } from "yaml";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { full, make, openTerminal, type Terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-creation-"));
after(() => rmSync(folder, { recursive: true }));

const got = ({ simulator }: Terminal, path: string) => request(simulator.transport, "GET", path);
const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const configs = "/api/v1/namespaces/default/configmaps";

const scheduled = async (): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, {
    apiVersion: "sparkoperator.k8s.io/v1beta2",
    kind: "ScheduledSparkApplication",
    metadata: { name: "nightly", namespace: "default" },
    spec: { schedule: "@daily", template: full("x").spec },
  });
  return terminal;
};

describe("rekindle create NAME --from SCHEDULE", () => {
  for (const from of ["nightly", "default/nightly"])
    test(`creates one application from the template of ${from}, with the schedule as its owner`, async () => {
      const terminal = await scheduled();
      const { code, out, err } = await terminal.run("create", "now", "--from", from);
      assert.deepEqual([code, out, err], [0, "sparkapplication.sparkoperator.k8s.io/now created", ""]);
      const { spec, metadata } = JSON.parse(JSON.stringify(await got(terminal, `${applications}/now`)));
      assert.equal(spec.image, "apache/spark:4.1.1");
      assert.deepEqual(
        metadata.ownerReferences.map(({ kind, name }: Record<string, string>) => `${kind}/${name}`),
        ["ScheduledSparkApplication/nightly"],
      );
      assert.equal(metadata.labels, undefined);
    });

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["create", "now", "--from", "other"],
      /there is no ScheduledSparkApplication default\/other; see them all with: rekindle list/,
    ],
    [["create", "now"], /say what to create: -f FILE, or NAME --from SCHEDULE$/],
    [["create", "--from", "nightly"], /say what to create/],
    [["create", "now", "--from", "nightly", "-f", "-"], /say what to create/],
    [["create", "now", "--from", "team/nightly", "-n", "default"], /name different namespaces: keep one of them$/],
    [["create", "now", "--from", "a/b/c"], /write NAME or NAMESPACE\/NAME$/],
  ];
  for (const [args, says] of wrong)
    test(`refuses ${args.join(" ")}`, async () => {
      const { code, err } = await (await scheduled()).run(...args);
      assert.equal(code, 1);
      assert.match(err, says);
    });
});

describe("rekindle create --hadoop-conf-dir", () => {
  const conf = join(folder, "conf");
  mkdirSync(join(conf, "inner"), { recursive: true });
  writeFileSync(join(conf, "core-site.xml"), "<configuration/>\n");
  writeFileSync(join(conf, "krb.keytab"), Buffer.from([0xff, 0xfe, 0x00]));
  const manifest = (name: string, spec: Readonly<Record<string, unknown>> = {}): string => {
    const path = join(folder, `${name}.yaml`);
    writeFileSync(path, stringify(full(name, spec)));
    return path;
  };

  test("creates a ConfigMap of its files, which the application names and owns", async () => {
    const terminal = openTerminal();
    const { code, out, err } = await terminal.run("create", "-f", manifest("etl"), "--hadoop-conf-dir", conf);
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(out, "configmap/etl-hadoop-config created\nsparkapplication.sparkoperator.k8s.io/etl created");
    const config = JSON.parse(JSON.stringify(await got(terminal, `${configs}/etl-hadoop-config`)));
    const { spec, metadata } = JSON.parse(JSON.stringify(await got(terminal, `${applications}/etl`)));
    assert.deepEqual(config.data, { "core-site.xml": "<configuration/>\n" });
    assert.deepEqual(config.binaryData, { "krb.keytab": "//4A" });
    assert.equal(spec.hadoopConfigMap, "etl-hadoop-config");
    assert.deepEqual(
      config.metadata.ownerReferences.map(({ uid }: { uid: string }) => uid),
      [metadata.uid],
    );
  });

  test("creates no ConfigMap if the application is refused", async () => {
    const terminal = openTerminal();
    const path = manifest("twice");
    await terminal.run("create", "-f", path);
    const { code, err } = await terminal.run("create", "-f", path, "--hadoop-conf-dir", conf);
    assert.equal(code, 1);
    assert.match(err, /SparkApplication twice: there is a .* twice already; --override gives it this spec/);
    await assert.rejects(got(terminal, `${configs}/twice-hadoop-config`), /not found/);
    const { out } = await terminal.run("create", "-f", path, "--hadoop-conf-dir", conf, "--override");
    assert.match(out, /twice-hadoop-config created\n.*twice replaced$/);
  });

  test("defaults to HADOOP_CONF_DIR, keeps an application's own setting, and has no effect in a dry run", async () => {
    const terminal = openTerminal();
    process.env["HADOOP_CONF_DIR"] = conf;
    try {
      const own = manifest("own", { hadoopConfigMap: "mine" });
      assert.equal((await terminal.run("create", "-f", own)).out, "sparkapplication.sparkoperator.k8s.io/own created");
      const { out } = await terminal.run("create", "-f", manifest("dry"), "--dry-run");
      assert.match(out, /^configmap\/dry-hadoop-config created \(dry run\)\n/);
    } finally {
      delete process.env["HADOOP_CONF_DIR"];
    }
    await assert.rejects(got(terminal, `${configs}/dry-hadoop-config`), /not found/);
  });

  test("refuses a folder that is missing, empty, or too large", async () => {
    const big = join(folder, "big");
    mkdirSync(big);
    writeFileSync(join(big, "a"), Buffer.alloc(1_000_001, "a"));
    const refusals: readonly (readonly [string, RegExp])[] = [
      [join(folder, "none"), /cannot be read$/],
      [join(conf, "inner"), /there is no file in it$/],
      [big, /its files have 1000001 bytes, and a ConfigMap holds 1000000$/],
    ];
    for (const [place, says] of refusals) {
      const { code, err } = await openTerminal().run("create", "-f", manifest("big"), "--hadoop-conf-dir", place);
      assert.equal(code, 1);
      assert.match(err, says);
    }
  });
});

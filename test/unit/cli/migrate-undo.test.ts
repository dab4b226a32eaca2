/** `rekindle migrate --undo`: it stops Rekindle's hosts first and restores everything, and nothing is lost. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { flags, home, install } from "./kubeflow.ts";
import { gist, left, opened, running, spark, untouched } from "./migrated.ts";
import { make, openTerminal } from "./terminal.ts";
import { holders, pass, pictureOf } from "./upstreams.ts";

describe("migrate --undo", () => {
  it("restores replicas and webhook configurations, and lets upstream lead", async () => {
    const terminal = await opened(spark("a", {}, running));
    const before = pictureOf(terminal.simulator);
    await terminal.run("migrate", "--apply", "--yes");
    const { code, out } = await terminal.run("migrate", "--undo", "--yes");
    assert.equal(code, 0, out);
    assert.deepEqual(pictureOf(terminal.simulator), before);
    pass(terminal.simulator, 5);
    assert.deepEqual(holders(terminal.simulator), { "chart-lock": "operator-1" });
    assert.match((await terminal.run("migrate")).out, /rekindle migrate --family spark --apply$/);
  });

  it("waits until Rekindle's hosts stand aside, and only then deletes their records", async () => {
    const terminal = await opened();
    await terminal.run("migrate", "--apply", "--yes");
    const began = terminal.simulator.clock.now();
    await terminal.run("migrate", "--undo", "--yes");
    assert.ok(terminal.simulator.clock.now() - began >= 30_000);
  });

  it("refuses while only Rekindle's record has the state", async () => {
    const terminal = await opened(spark("a", {}, running));
    await terminal.run("migrate", "--apply", "--yes");
    const record = { schema: 1, cluster: "c", uid: "u", saves: 1, memory: { state: { phase: "PENDING_RERUN" } } };
    const metadata = {
      name: "sparkapplication.a",
      namespace: "default",
      labels: { "rekindle.dev/kind": "SparkApplication" },
    };
    await make(terminal.simulator, { apiVersion: "rekindle.dev/v1alpha1", kind: "Checkpoint", metadata, spec: record });
    const { code, err } = await terminal.run("migrate", "--undo", "--yes");
    assert.equal(code, 1);
    assert.match(err, /upstream could not continue from the records of default\/a: let a host run for a minute/);
    assert.deepEqual([gist(terminal), holders(terminal.simulator)], [left, { "chart-lock": "" }]);
    assert.equal((await terminal.run("migrate", "--undo", "--yes", "--force")).code, 0);
    assert.deepEqual(gist(terminal), untouched);
  });

  it("reports a record that cannot be read, and changes nothing", async () => {
    const terminal = await opened();
    await terminal.run("migrate", "--apply", "--yes");
    const path = `/api/v1/namespaces/${home}/configmaps/rekindle-migration`;
    const body = JSON.stringify({ data: { "record.json": "no record" } });
    terminal.simulator.handle({
      method: "PATCH",
      path,
      headers: { "content-type": "application/merge-patch+json" },
      body,
    });
    const { err } = await terminal.run("migrate", "--undo", "--yes");
    assert.match(err, /ConfigMap spark-operator\/rekindle-migration, cannot be read: repair it by hand$/);
    assert.deepEqual(gist(terminal), left);
  });

  it("reads flags with and without an equals sign", async () => {
    const terminal = openTerminal();
    await install(terminal.simulator, { flags: ["--namespaces", "a,b", "--enable-metrics", ...flags.slice(1)] });
    const { out } = await terminal.run("migrate");
    assert.match(out, /^its namespaces\n {2}a, b$/m);
    assert.match(out, /--namespaces=a,b +give it to rekindle host, too\n +--enable-metrics +ignored/);
  });

  const selections: readonly (readonly [what: string, given: readonly string[], says: string])[] = [
    ["a selector of namespaces", ["--namespace-selector=spark=yes"], "team-a, team-b"],
    ["names and a selector", ["--namespaces=default", "--namespace-selector=spark=yes"], "default, team-a, team-b"],
    ["a selector that selects none", ["--namespace-selector=spark=no"], "none with spark=no"],
  ];
  for (const [what, given, says] of selections)
    it(`${what}: finds the namespaces that the flags select`, async () => {
      const terminal = openTerminal();
      for (const name of ["team-a", "team-b"])
        await make(terminal.simulator, {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name, labels: { spark: "yes" } },
        });
      await install(terminal.simulator, { flags: [...given, ...flags.slice(1)] });
      const { out } = await terminal.run("migrate");
      assert.match(out, new RegExp(`^its namespaces\\n {2}${says}$`, "m"));
    });
});

/** `rekindle migrate`: its report, its changes and their reversal; it touches nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { deploymentOf } from "../../support/beside.ts";
import { home, install } from "./kubeflow.ts";
import { gist, left, opened, running, spark, untouched } from "./migrated.ts";
import { make, openTerminal } from "./terminal.ts";
import { holders, pictureOf } from "./upstreams.ts";

describe("migrate as a report", () => {
  it("lists the installation, its flags, its objects by state and the differences, and writes nothing", async () => {
    const terminal = await opened(
      spark("a", {}, running),
      spark("b", { deps: { packages: ["a:b:1"] } }, running),
      spark("c", {}, { applicationState: { state: "COMPLETED" } }),
    );
    const before = terminal.simulator.store.list("sparkapplications.sparkoperator.k8s.io");
    const { code, out } = await terminal.run("migrate");
    assert.equal(code, 0);
    for (const line of [
      /^kubeflow's Spark operator in example$/m,
      /^ {2}controller +spark-operator\/spark-operator-controller +2 wanted, 2 there; ghcr\.io\/kubeflow\/spark-operator\/controller:2\.5\.2$/m,
      /^ {2}webhook +spark-operator\/spark-operator-webhook +1 wanted/m,
      /^ {2}lease +spark-operator\/chart-lock +renewed \d s ago by operator-1$/m,
      /^ {2}webhooks +spark-operator-webhook +MutatingWebhookConfiguration, failurePolicy Fail$/m,
      /^its namespaces\n {2}default$/m,
      /^ {2}--leader-election-lock-name=chart-lock +rekindle host --leases=chart-lock$/m,
      /^ {2}1 +SparkApplication +COMPLETED +left as it is/m,
      /^ {2}2 +SparkApplication +RUNNING +adopted, and followed to its end$/m,
      /^ {2}default\/b: spec\.deps\.packages/m,
      /^nothing stands in the way: rekindle migrate --family spark --apply$/m,
    ])
      assert.match(out, line);
    assert.doesNotMatch(out, /kueue/);
    assert.deepEqual(gist(terminal), untouched);
    assert.deepEqual(terminal.simulator.store.list("sparkapplications.sparkoperator.k8s.io"), before);
  });

  it("prints the same as JSON", async () => {
    const { out } = await (await opened(spark("a", {}, running))).run("migrate", "-o", "json");
    const { phase, watched, objects, blocks } = JSON.parse(out).spark;
    assert.deepEqual(
      { phase, watched, objects, blocks },
      {
        ...{ phase: "none", watched: ["default"], blocks: [] },
        objects: { SparkApplication: { RUNNING: 1 } },
      },
    );
  });

  const forgedImage = "ghcr.io/kubeflow/spark-operator/controller:2.5.2";
  const deployments = "/apis/apps/v1/namespaces/default/deployments";

  it("leaves the Deployment that a tenant forged as it is, and names it", async () => {
    const terminal = await opened(spark("a", {}, running));
    const { transport } = terminal.simulator;
    await request(transport, "POST", deployments, deploymentOf(forgedImage, "default"));
    const { out } = await terminal.run("migrate");
    assert.match(out, /^ {2}controller +spark-operator\/spark-operator-controller /m);
    assert.doesNotMatch(out, /^ {2}controller +default\//m);
    assert.match(out, /left alone, because the account may not write sparkapplications\/status .*default\/controllers/);
    const before = await request(transport, "GET", `${deployments}/controllers`);
    assert.equal((await terminal.run("migrate", "--apply", "--yes")).code, 0);
    assert.deepEqual(await request(transport, "GET", `${deployments}/controllers`), before);
  });

  it("finds no installation where a tenant forged one", async () => {
    const terminal = openTerminal();
    await request(terminal.simulator.transport, "POST", deployments, deploymentOf(forgedImage, "default"));
    const { code, out } = await terminal.run("migrate");
    assert.equal(code, 0);
    assert.match(out, /there is nothing to take over from$/);
  });

  it("finds no installation in an empty cluster", async () => {
    const { code, out } = await openTerminal().run("migrate");
    assert.equal(code, 0);
    assert.match(out, /not found[\s\S]*there is nothing to take over from$/);
  });

  const ways: readonly {
    name: string;
    objects: readonly Obj[];
    crds?: readonly string[];
    runs?: readonly string[];
    flags?: readonly string[];
    says: RegExp;
  }[] = [
    {
      name: "a spec that Rekindle refuses",
      objects: [spark("bad", { mode: "client" })],
      says: /default\/bad: spec\.mode: client mode/,
    },
    {
      name: "kinds that Rekindle does not run",
      objects: [spark("a")],
      runs: [],
      says: /1 sparkapplications would stand still/,
    },
    {
      name: "a flag that Rekindle refuses",
      objects: [spark("a")],
      flags: ["--feature-gates=PartialRestart=true"],
      says: /flag --feature-gates: DefaultTimeToLive is always on/,
    },
    {
      name: "missing checkpoints",
      objects: [spark("a")],
      crds: ["sparkapplications"],
      says: /Rekindle is not installed here: rekindle manifests --without-crds/,
    },
  ];
  for (const { name, objects, crds, runs, flags: given, says } of ways) {
    it(`is blocked by ${name}; --apply changes nothing without --force`, async () => {
      const terminal = openTerminal({
        ...(crds === undefined ? {} : { crds }),
        ...(runs === undefined ? {} : { runs }),
      });
      await make(terminal.simulator, ...objects);
      await install(terminal.simulator, given === undefined ? {} : { flags: given });
      const { out, err, code } = await terminal.run("migrate", "--apply", "--yes");
      assert.match(out, /^what stands in the way$/m);
      assert.match(out, says);
      assert.match(err, /1 problem stands in the way, see above; --force continues anyway$/);
      assert.deepEqual([code, gist(terminal)], [1, untouched]);
    });
  }

  it("refuses contradictory flags, and confirms before it changes anything", async () => {
    const terminal = await opened();
    const rows = [
      [["--apply", "--undo"], /--apply or --undo, not both$/],
      [["--apply"], /nothing was changed \(--yes skips the question\)$/],
      [["--undo", "--yes"], /there is nothing to undo: no record of a migration is in this cluster$/],
      [["--apply", "--wait", "soon"], /write a duration such as 90s/],
    ] as const;
    for (const [args, says] of rows) {
      const { code, err } = await terminal.run("migrate", ...args);
      assert.match(err, says);
      assert.equal(code, 1);
    }
    assert.deepEqual(gist(terminal), untouched);
    const none = await openTerminal().run("migrate", "--apply", "--yes");
    assert.deepEqual([none.code, none.err], [1, "rekindle: there is nothing to take over from"]);
  });
});

describe("migrate --apply", () => {
  it("stops the controllers, waits until their lease expires, and removes the webhooks", async () => {
    const terminal = await opened(spark("a", {}, running));
    const began = terminal.simulator.clock.now();
    const { code, out } = await terminal.run("migrate", "--apply", "--yes");
    assert.equal(code, 0);
    assert.deepEqual(gist(terminal), left);
    assert.deepEqual(holders(terminal.simulator), { "chart-lock": "" });
    assert.ok(terminal.simulator.clock.now() - began >= 15_000, "a leader may write until its lease has lapsed");
    assert.match(out, /a host of Rekindle takes over 1 unfinished sparkapplications/);
    assert.match(
      (await terminal.run("migrate")).out,
      /upstream's controllers are stopped: rekindle migrate --family spark --undo starts them again$/,
    );
  });

  it("changes nothing the second time, and reports that", async () => {
    const terminal = await opened();
    await terminal.run("migrate", "--apply", "--yes");
    const before = pictureOf(terminal.simulator);
    const { code, out } = await terminal.run("migrate", "--apply", "--yes");
    assert.equal(code, 0);
    assert.match(out, /stopped already/);
    assert.deepEqual(pictureOf(terminal.simulator), before);
  });

  it("removes old checkpoints of its namespaces, and leaves others", async () => {
    const terminal = await opened();
    const checkpoint = (name: string, namespace: string, kind = "SparkApplication"): Obj => ({
      apiVersion: "rekindle.dev/v1alpha1",
      kind: "Checkpoint",
      metadata: { name, namespace, labels: { "rekindle.dev/kind": kind } },
      spec: { schema: 1, cluster: "c", uid: "u", saves: 1, memory: {} },
    });
    await make(
      terminal.simulator,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } },
      checkpoint("stale", "default"),
      checkpoint("elsewhere", "team"),
      checkpoint("other", "default", "Job"),
    );
    await terminal.run("migrate", "--apply", "--yes");
    const there = terminal.simulator.store.list("checkpoints.rekindle.dev").map(({ metadata }) => metadata.name);
    assert.deepEqual(there.sort(), ["elsewhere", "other"]);
  });

  it("creates and removes a lease of its own if upstream has none", async () => {
    const terminal = openTerminal();
    await install(terminal.simulator, { lease: false, flags: [] });
    const { code } = await terminal.run("migrate", "--apply", "--yes");
    assert.deepEqual([code, gist(terminal), holders(terminal.simulator)], [0, left, {}]);
  });

  it("does not continue while pods of the controllers exist", async () => {
    const terminal = await opened();
    const { simulator } = terminal;
    const held = {
      method: "PATCH",
      path: `/apis/apps/v1/namespaces/${home}/deployments/spark-operator-controller/status`,
      headers: { "content-type": "application/merge-patch+json" },
    };
    const stop = simulator.clock.onTurn(
      () => void simulator.handle({ ...held, body: JSON.stringify({ status: { replicas: 1 } }) }),
    );
    const { code, err } = await terminal.run("migrate", "--apply", "--yes", "--wait", "30s");
    assert.equal(code, 1);
    assert.match(
      err,
      /its controllers to end and their leases to lapse: not within 30 s; run the same command again to continue$/,
    );
    assert.deepEqual(gist(terminal), [
      ["spark-operator-controller 0", "spark-operator-webhook 1"],
      untouched[1],
      ["rekindle-migration"],
    ]);
    stop();
    assert.equal((await terminal.run("migrate", "--apply", "--yes")).code, 0);
    assert.deepEqual(gist(terminal), left);
  });

  it("warns that Argo CD would restore the installation", async () => {
    const terminal = await opened();
    const path = `/apis/apps/v1/namespaces/${home}/deployments/spark-operator-controller`;
    const body = JSON.stringify({ metadata: { annotations: { "argocd.argoproj.io/tracking-id": "x" } } });
    terminal.simulator.handle({
      method: "PATCH",
      path,
      headers: { "content-type": "application/merge-patch+json" },
      body,
    });
    assert.match((await terminal.run("migrate")).out, /Argo CD manages this installation: turn off its self-healing/);
  });
});

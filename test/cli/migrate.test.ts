/** `rekindle migrate`: what it reports, what it changes and puts back, and that nothing else is touched. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import type { Obj } from "../../shared/core/object.ts";
import { flags, holders, home, install, pass, pictureOf } from "./kubeflow.ts";
import { application, make, openTerminal, type Terminal } from "./terminal.ts";

const spark = (name: string, more: object = {}, state?: Readonly<Record<string, unknown>>): Obj => {
  const one = application(name, state);
  const spec = { image: "spark:4.1.1", mainClass: "Main", ...Object(one["spec"]), ...more };
  return { ...one, spec };
};

const opened = async (...objects: readonly Obj[]): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  await install(terminal.simulator);
  return terminal;
};

const running = { applicationState: { state: "RUNNING" }, submissionID: "s-1", executionAttempts: 1 };

const picture = z.object({
  deployments: z.array(z.object({ name: z.string(), spec: z.looseObject({ replicas: z.number() }) })),
  mutating: z.array(z.object({ name: z.string() })),
  validating: z.array(z.object({ name: z.string() })),
  records: z.array(z.object({ name: z.string() })),
});

const gist = ({ simulator }: Terminal): readonly unknown[] => {
  const { deployments, mutating, validating, records } = picture.parse(pictureOf(simulator));
  return [
    deployments.map(({ name, spec }) => `${name} ${spec.replicas}`),
    [...mutating, ...validating].map(({ name }) => name),
    records.map(({ name }) => name),
  ];
};

const untouched = [
  ["spark-operator-controller 2", "spark-operator-webhook 1"],
  ["kueue", "spark-operator-webhook", "spark-operator-webhook"],
  [],
];
const left = [["spark-operator-controller 0", "spark-operator-webhook 0"], ["kueue"], ["rekindle-migration"]];

describe("migrate alone", () => {
  it("reports what is installed, its flags, its objects by state and what will differ, and writes nothing", async () => {
    const terminal = await opened(
      spark("a", {}, running),
      spark("b", { batchScheduler: "volcano" }, running),
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
      /^ {2}webhooks +spark-operator-webhook +MutatingWebhookConfiguration$/m,
      /^its namespaces\n {2}default$/m,
      /^ {2}spark-operator-controller: --leader-election-lock-name=chart-lock$/m,
      /^ {2}1 +SparkApplication +COMPLETED +left as it is/m,
      /^ {2}2 +SparkApplication +RUNNING +followed where it is$/m,
      /^ {2}default\/b: spec\.batchScheduler/m,
      /^nothing stands in the way: rekindle migrate --apply$/m,
    ])
      assert.match(out, line);
    assert.doesNotMatch(out, /kueue/);
    assert.deepEqual(gist(terminal), untouched);
    assert.deepEqual(terminal.simulator.store.list("sparkapplications.sparkoperator.k8s.io"), before);
  });

  it("says the same as data", async () => {
    const { out } = await (await opened(spark("a", {}, running))).run("migrate", "-o", "json");
    const { phase, watched, objects, blocks } = JSON.parse(out);
    assert.deepEqual(
      { phase, watched, objects, blocks },
      {
        ...{ phase: "none", watched: ["default"], blocks: [] },
        objects: { SparkApplication: { RUNNING: 1 } },
      },
    );
  });

  it("finds nothing where nothing is", async () => {
    const { code, out } = await openTerminal().run("migrate");
    assert.equal(code, 0);
    assert.match(out, /not found[\s\S]*there is no kubeflow operator to leave$/);
  });

  const ways: readonly {
    name: string;
    objects: readonly Obj[];
    crds?: readonly string[];
    runs?: readonly string[];
    says: RegExp;
  }[] = [
    {
      name: "a spec that we refuse",
      objects: [spark("bad", { mode: "client" })],
      says: /default\/bad: spec\.mode: in client mode/,
    },
    { name: "kinds that are not run", objects: [spark("a")], runs: [], says: /1 sparkapplications would stand still/ },
    {
      name: "no checkpoints",
      objects: [spark("a")],
      crds: ["sparkapplications"],
      says: /Rekindle is not installed here: rekindle manifests --without-crds/,
    },
  ];
  for (const { name, objects, crds, runs, says } of ways) {
    it(`in the way: ${name}; --apply changes nothing without --force`, async () => {
      const terminal = openTerminal({
        ...(crds === undefined ? {} : { crds }),
        ...(runs === undefined ? {} : { runs }),
      });
      await make(terminal.simulator, ...objects);
      await install(terminal.simulator);
      const { out, err, code } = await terminal.run("migrate", "--apply", "--yes");
      assert.match(out, /^what stands in the way$/m);
      assert.match(out, says);
      assert.match(err, /1 thing\(s\) stand in the way, see above; --force goes on regardless$/);
      assert.deepEqual([code, gist(terminal)], [1, untouched]);
    });
  }

  it("refuses what makes no sense, and asks before it changes anything", async () => {
    const terminal = await opened();
    const rows = [
      [["--apply", "--undo"], /--apply or --undo, not both$/],
      [["--apply"], /nothing was changed \(--yes does not ask\)$/],
      [["--undo", "--yes"], /there is nothing to undo: no record of a migration is in this cluster$/],
      [["--apply", "--wait", "soon"], /write a span such as 90s/],
    ] as const;
    for (const [args, says] of rows) {
      const { code, err } = await terminal.run("migrate", ...args);
      assert.match(err, says);
      assert.equal(code, 1);
    }
    assert.deepEqual(gist(terminal), untouched);
    const none = await openTerminal().run("migrate", "--apply", "--yes");
    assert.deepEqual([none.code, none.err], [1, "rekindle: there is nothing to leave"]);
  });
});

describe("migrate --apply", () => {
  it("stops the controllers, waits for the lease to lapse, keeps and removes the webhooks, and gives the lease back", async () => {
    const terminal = await opened(spark("a", {}, running));
    const began = terminal.simulator.clock.now();
    const { code, out } = await terminal.run("migrate", "--apply", "--yes");
    assert.equal(code, 0);
    assert.deepEqual(gist(terminal), left);
    assert.deepEqual(holders(terminal.simulator), { "chart-lock": "" });
    assert.ok(terminal.simulator.clock.now() - began >= 15_000, "a leader may write until its lease has lapsed");
    assert.match(out, /1 unfinished application\(s\) are for a host of Rekindle now/);
    assert.match((await terminal.run("migrate")).out, /upstream was left: rekindle migrate --undo brings it back$/);
  });

  it("again does nothing more, and says so", async () => {
    const terminal = await opened();
    await terminal.run("migrate", "--apply", "--yes");
    const before = pictureOf(terminal.simulator);
    const { code, out } = await terminal.run("migrate", "--apply", "--yes");
    assert.equal(code, 0);
    assert.match(out, /is stopped already/);
    assert.deepEqual(pictureOf(terminal.simulator), before);
  });

  it("removes the checkpoints of an earlier time from its namespaces, and leaves others", async () => {
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

  it("without leader election makes a lease of its own meanwhile, and removes it", async () => {
    const terminal = openTerminal();
    await install(terminal.simulator, { lease: false, flags: [] });
    const { code } = await terminal.run("migrate", "--apply", "--yes");
    assert.deepEqual([code, gist(terminal), holders(terminal.simulator)], [0, left, {}]);
  });

  it("does not go on while pods of the controllers stay, and goes on when they are gone", async () => {
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
    assert.match(err, /its controllers to end and their leases to lapse: not within 30 s; the same command goes on$/);
    assert.deepEqual(gist(terminal), [
      ["spark-operator-controller 0", "spark-operator-webhook 1"],
      untouched[1],
      ["rekindle-migration"],
    ]);
    stop();
    assert.equal((await terminal.run("migrate", "--apply", "--yes")).code, 0);
    assert.deepEqual(gist(terminal), left);
  });

  it("says what would be put back by others", async () => {
    const terminal = await opened();
    const path = `/apis/apps/v1/namespaces/${home}/deployments/spark-operator-controller`;
    const body = JSON.stringify({ metadata: { annotations: { "argocd.argoproj.io/tracking-id": "x" } } });
    terminal.simulator.handle({
      method: "PATCH",
      path,
      headers: { "content-type": "application/merge-patch+json" },
      body,
    });
    assert.match((await terminal.run("migrate")).out, /Argo CD looks after this installation: stop its self-healing/);
  });
});

describe("migrate --undo", () => {
  it("puts replicas and webhook configurations back as they were, and lets upstream lead", async () => {
    const terminal = await opened(spark("a", {}, running));
    const before = pictureOf(terminal.simulator);
    await terminal.run("migrate", "--apply", "--yes");
    const { code, out } = await terminal.run("migrate", "--undo", "--yes");
    assert.equal(code, 0, out);
    assert.deepEqual(pictureOf(terminal.simulator), before);
    pass(terminal.simulator, 5);
    assert.deepEqual(holders(terminal.simulator), { "chart-lock": "operator-1" });
    assert.match((await terminal.run("migrate")).out, /rekindle migrate --apply$/);
  });

  it("waits for our hosts to stand aside, and forgets what they remember only then", async () => {
    const terminal = await opened();
    await terminal.run("migrate", "--apply", "--yes");
    const began = terminal.simulator.clock.now();
    await terminal.run("migrate", "--undo", "--yes");
    assert.ok(terminal.simulator.clock.now() - began >= 30_000);
  });

  it("does not give back what only our record knows", async () => {
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
    assert.match(err, /upstream would not know what is remembered of default\/a: let a host run for a minute/);
    assert.deepEqual([gist(terminal), holders(terminal.simulator)], [left, { "chart-lock": "" }]);
    assert.equal((await terminal.run("migrate", "--undo", "--yes", "--force")).code, 0);
    assert.deepEqual(gist(terminal), untouched);
  });

  it("a record that cannot be read is told, and nothing is changed", async () => {
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
    assert.match(err, /ConfigMap spark-operator\/rekindle-migration, cannot be read: mend it by hand$/);
    assert.deepEqual(gist(terminal), left);
  });

  it("flags are read with and without an equals sign", async () => {
    const terminal = openTerminal();
    await install(terminal.simulator, { flags: ["--namespaces", "a,b", "--enable-metrics", ...flags.slice(1)] });
    const { out } = await terminal.run("migrate");
    assert.match(out, /^its namespaces\n {2}a, b$/m);
    assert.match(out, /: --namespaces=a,b\n.*: --enable-metrics\n/);
  });
});

/** `rekindle migrate` of Volcano's controllers: its report, its changes and their order, and the objects that stay. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import type { Obj } from "../../../shared/core/object.ts";
import { register } from "../../../shared/deployments/admission/process.ts";
import { resourceGroups } from "../../../shared/kube/resource-groups.ts";
import { reviewOf } from "../../../shared/simulator/api/authorization.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { install as installKubeflow } from "./kubeflow.ts";
import { gist } from "./migrated.ts";
import { make, onTerminal, openTerminal, type Terminal } from "./terminal.ts";
import { holders, pass, pictureOf } from "./upstreams.ts";
import { byAnnotation, byNamespace, flags, home, hookNames, install, webhookFlags } from "./volcanic.ts";

const job = (name: string, phase: string, spec: object = {}, status: object = {}): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    minAvailable: 1,
    tasks: [{ name: "w", replicas: 1, template: { spec: { containers: [{ name: "c", image: "i" }] } } }],
    ...spec,
  },
  status: { state: { phase }, ...status },
});

type Options = Parameters<typeof install>[1];

const opened = async (options: Options = {}, ...objects: readonly Obj[]): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  await install(terminal.simulator, options);
  return terminal;
};

const scales = (...of: readonly number[]): readonly string[] =>
  ["volcano-admission", "volcano-controllers", "volcano-scheduler"].map((name, at) => `${name} ${of[at]}`);

const untouched = [scales(1, 1, 1), hookNames, []];
const left = [scales(0, 0, 1), [], ["rekindle-migration-volcano"]];

describe("migrate of Volcano, as a report,", () => {
  it("lists its parts, its flags, its jobs by phase and the differences, and writes nothing", async () => {
    const policies = [{ event: "PodPending", action: "RestartJob", timeout: "10m" }];
    const terminal = await opened(
      {},
      job("a", "Running", { policies }),
      job("b", "Restarting"),
      job("c", "Completed", { policies }),
    );
    const before = pictureOf(terminal.simulator);
    const { code, out } = await terminal.run("migrate");
    assert.equal(code, 0);
    for (const line of [
      /^Volcano's controllers in example$/m,
      /^ {2}webhook +volcano-system\/volcano-admission +1 wanted, 1 there; docker\.io\/volcanosh\/vc-webhook-manager:v1\.12\.1$/m,
      /^ {2}controller +volcano-system\/volcano-controllers +1 wanted, 1 there/m,
      /^ {2}scheduler +volcano-system\/volcano-scheduler +1 wanted, 1 there/m,
      /^ {2}lease +volcano-system\/vc-controller-manager +renewed \d s ago by operator-1$/m,
      /^ {2}webhooks +volcano-admission-service-pods-mutate +MutatingWebhookConfiguration, failurePolicy Fail$/m,
      /^its namespaces\n {2}all$/m,
      /^ {2}--logtostderr +ignored: logs are JSON/m,
      /^ {2}1 +Job +Completed +left as it is/m,
      /^ {2}1 +Job +Restarting +its pods are created again when the old ones are gone$/m,
      /^ {2}1 +Job +Running +adopted, and followed to its end$/m,
      /^ {2}volcano-system\/volcano-scheduler stays, and admits groups of pods: its lease volcano-system\/vc-scheduler is renewed$/m,
      /^ {2}commands for queues are obeyed from the namespace default alone/m,
      /^ {2}9 webhook configurations of it removed/m,
      /^ {2}default\/a: PodPending counts pods that are pending/m,
      /^ {2}default\/a: the timeouts of its policies/m,
      /^nothing stands in the way: rekindle migrate --family volcano --apply$/m,
    ])
      assert.match(out, line);
    assert.doesNotMatch(out, /kubeflow|default\/c:/);
    assert.deepEqual(pictureOf(terminal.simulator), before);
  });

  it("prints the report as JSON", async () => {
    const { out } = await (await opened({}, job("a", "Aborted"))).run("migrate", "-o", "json");
    const { volcano, ...others } = JSON.parse(out);
    const { phase, objects, unfinished, blocks, webhooks } = volcano;
    assert.deepEqual(
      { phase, objects, unfinished, blocks, webhooks: webhooks.length, others },
      { phase: "none", objects: { Job: { Aborted: 1 } }, unfinished: 1, blocks: [], webhooks: 9, others: {} },
    );
  });

  const rows: readonly (readonly [what: string, options: Options, objects: readonly Obj[], says: RegExp])[] = [
    [
      "a scheduler that shows neither a lease nor a pod",
      { scheduler: "podless" },
      [],
      /renews none of the leases volcano, vc-scheduler, and no pod of it is Ready/,
    ],
    [
      "a controller that is off",
      { flags: ["--controllers=-job-controller"] },
      [],
      /flag --controllers: Rekindle runs all of its/,
    ],
    ["another scheduler's name", { flags: ["--scheduler-name=mine"] }, [], /flag --scheduler-name: only bare pods/],
    [
      "an unknown flag",
      { flags: ["--dance"] },
      [],
      /flag --dance: upstream has no such flag, or Rekindle does not know it/,
    ],
    [
      "a resource group of namespaces",
      { configuration: byNamespace },
      [],
      /its resource groups \(management\) .* alone: run rekindle host --admission --admission-resource-groups='\[\{"resourceGroup":"management","object":\{"key":"namespace","value":\["mng-ns-1","mng-ns-2"\]\},"schedulerName":"default-scheduler"/,
    ],
    [
      "a resource group of annotated pods",
      { configuration: byAnnotation },
      [],
      /its resource groups \(gpu\) .*"affinity":\{"nodeAffinity":\{\}\}\}\]', or deploy the admission function and apply rekindle manifests --admission-url URL /,
    ],
    [
      "resource groups that nobody can read",
      { configuration: false },
      [],
      /its resource groups cannot be read \(\/admission\.local\.config\/configmap\/volcano-admission\.conf: no ConfigMap/,
    ],
    ["resource groups of another form", { configuration: "a: [" }, [], /it has another form/],
    [
      "a resource group without a name",
      { configuration: "resourceGroups: [{labels: {a: b}}]" },
      [],
      /cannot be read \(ConfigMap .*: resourceGroups\[0\]\.resourceGroup: write a text\)/,
    ],
    ["a job that we refuse", {}, [job("bad", "Running", { plugins: { magic: [] } })], /default\/bad: .*magic/],
  ];
  for (const [what, options, objects, says] of rows)
    it(`is blocked by ${what}; the report ends with 1, and --apply changes nothing without --force`, async () => {
      const terminal = await opened(options, ...objects);
      for (const way of [[], ["--apply", "--yes"]]) {
        const { code, out, err } = await terminal.run("migrate", ...way);
        assert.match(out.slice(out.indexOf("what stands in the way")), says);
        assert.match(err, /1 problem stands in the way, see above/);
        assert.deepEqual([code, gist(terminal)], [1, untouched]);
      }
    });

  it("is not blocked by flags for the sharding of nodes, and names them", async () => {
    const sharding = [
      "--sharding-configmap=volcano-sharding-configmap",
      "--sharding-configmap-namespace=volcano-system",
    ];
    const { out, code } = await (await opened({ flags: [...flags, ...sharding] })).run("migrate");
    assert.match(
      out,
      /--sharding-configmap=volcano-sharding-configmap +ignored: Rekindle does not divide nodes among schedulers/,
    );
    assert.match(out, /--sharding-configmap-namespace=volcano-system +ignored/);
    assert.match(out, /nothing stands in the way/);
    assert.equal(code, 0);
  });

  it("takes resource groups over, and is not blocked once Rekindle's admission patches them", async () => {
    for (const [configuration, written] of [
      [byNamespace, true],
      [byNamespace, false],
    ] as const) {
      const terminal = await opened({ configuration });
      const groups = resourceGroups().parse(written ? parse(byNamespace).resourceGroups : [{ resourceGroup: "other" }]);
      const pods = { queueGate: true, groups };
      await register(terminal.simulator.transport, {
        ...{ reach: { url: "https://127.0.0.1:9443" }, ca: undefined, namespaces: [], pods },
      });
      const { out, code } = await terminal.run("migrate");
      assert.equal(code, written ? 0 : 1);
      assert.equal(/its resource groups \(management\) are written by Rekindle's admission/.test(out), written);
    }
  });

  it("takes the gate of queue admission over, and names its setting and the time to set it", async () => {
    const gated = ["--port=8443", "--feature-gates=SchedulingGatesQueueAdmission=true"];
    const { out, code } = await (await opened({ webhook: gated })).run("migrate");
    assert.match(out, /SchedulingGatesQueueAdmission, a host has --admission --admission-queue-gate\. Set it when/);
    assert.equal(code, 0);
  });

  it("is silent about pods without resource groups, or without a webhook that patches pods", async () => {
    const rows: readonly Options[] = [
      {},
      { webhook: [...webhookFlags, "--enabled-admission=/jobs/mutate,/pods/validate"], configuration: byNamespace },
    ];
    for (const options of rows) {
      const { out, code } = await (await opened(options)).run("migrate");
      assert.doesNotMatch(out, /resource group|queue-gate/);
      assert.equal(code, 0);
    }
  });

  it("is not blocked by a scheduler without a lease, as its chart ships it", async () => {
    const { out, code } = await (await opened({ scheduler: "leaderless" })).run("migrate");
    assert.match(out, /volcano-scheduler stays, and admits groups of pods: it elects no leader, so hosts/);
    assert.equal(code, 0);
  });

  it("reports without a scheduler that Rekindle's hosts admit groups", async () => {
    const { out, code } = await (await opened({ scheduler: "none" })).run("migrate");
    assert.match(out, /Rekindle has no scheduler: its hosts admit groups of pods instead/);
    assert.equal(code, 0);
  });

  it("is not blocked by the flags of the manifests", async () => {
    const { out } = await (await opened({ flags: [...flags, "--worker-threads=8", "--controllers=*"] })).run("migrate");
    assert.match(out, /--worker-threads=8 +rekindle host --concurrency=8\n +--controllers=\* +needs no setting/);
  });
});

/** Returns the writes of a migration as short texts, in order. */
const writesOf = async (simulator: Simulator, ...args: readonly string[]): Promise<readonly string[]> => {
  const done: string[] = [];
  const { transport } = simulator;
  const send: typeof transport.send = (request) => {
    const { verb, resource, name } = reviewOf(request);
    if (!["get", "list"].includes(verb)) done.push(`${verb} ${resource} ${name ?? ""}`.trim());
    return transport.send(request);
  };
  const { code, err } = await onTerminal(simulator, { transport: { ...transport, send } }).run("migrate", ...args);
  assert.equal(code, 0, err);
  return done;
};

const about = (writes: readonly string[], what: RegExp): readonly number[] =>
  writes.flatMap((line, at) => (what.test(line) ? [at] : []));

describe("migrate of Volcano, forward and back", () => {
  it("--apply saves and removes the webhooks while their server still answers, and keeps the scheduler", async () => {
    const terminal = await opened({}, job("a", "Running"));
    const writes = await writesOf(terminal.simulator, "--apply", "--yes");
    assert.deepEqual(gist(terminal), left);
    assert.equal(holders(terminal.simulator)["vc-controller-manager"], "");
    const [controllers = -1] = about(writes, /patch deployments volcano-controllers/);
    const removed = about(writes, /delete .*webhookconfigurations/);
    const [server = -1] = about(writes, /patch deployments volcano-admission/);
    assert.equal(removed.length, 9);
    assert.ok(controllers < Math.min(...removed) && Math.max(...removed) < server, writes.join("\n"));
    assert.ok(!writes.some((line) => /^\w+ (jobs|pods|podgroups|queues)\b|scheduler/.test(line)), writes.join("\n"));
  });

  it("--undo restores the webhooks only when their server answers", async () => {
    const terminal = await opened({}, job("a", "Running"));
    const before = pictureOf(terminal.simulator);
    await terminal.run("migrate", "--apply", "--yes");
    const writes = await writesOf(terminal.simulator, "--undo", "--yes");
    assert.deepEqual(pictureOf(terminal.simulator), before);
    const [server = -1] = about(writes, /patch deployments volcano-admission/);
    const made = about(writes, /create .*webhookconfigurations/);
    const inForce = about(writes, /update .*webhookconfigurations/);
    const [controllers = -1] = about(writes, /patch deployments volcano-controllers/);
    assert.deepEqual([made.length, inForce.length], [9, 9]);
    assert.ok(server < Math.min(...made) && Math.max(...made) < Math.min(...inForce), writes.join("\n"));
    assert.ok(Math.max(...inForce) < controllers, writes.join("\n"));
    pass(terminal.simulator, 5);
    assert.equal(holders(terminal.simulator)["vc-controller-manager"], "operator-1");
  });

  it("--undo refuses no request if the webhook server never answers, and --apply works again", async () => {
    const terminal = await opened();
    await terminal.run("migrate", "--apply", "--yes");
    const held = {
      method: "PATCH",
      path: `/apis/apps/v1/namespaces/${home}/deployments/volcano-admission/status`,
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ status: { availableReplicas: 0 } }),
    };
    const stop = terminal.simulator.clock.onTurn(() => void terminal.simulator.handle(held));
    const { code, err } = await terminal.run("migrate", "--undo", "--yes", "--wait", "30s");
    assert.deepEqual([code, /its webhook server to answer: not within 30 s/.test(err)], [1, true]);
    const picture = JSON.stringify(pictureOf(terminal.simulator));
    const names = picture.slice(0, picture.indexOf("records"));
    assert.deepEqual([/"Ignore"/.test(names), /"Fail"/.test(names)], [true, false]);
    stop();
    pass(terminal.simulator, 90);
    assert.equal((await terminal.run("migrate", "--apply", "--yes")).code, 0);
    assert.deepEqual(gist(terminal), left);
    assert.equal((await terminal.run("migrate", "--undo", "--yes")).code, 0);
    assert.deepEqual(gist(terminal), untouched);
    assert.doesNotMatch(JSON.stringify(pictureOf(terminal.simulator)), /"Ignore"/);
  });

  it("--undo refuses while Rekindle's record of a job has more than its status", async () => {
    const terminal = await opened({}, job("a", "Running", {}, { version: 1, retryCount: 1 }));
    await terminal.run("migrate", "--apply", "--yes");
    const record = (memory: object): Obj => ({
      apiVersion: "rekindle.dev/v1alpha1",
      kind: "Checkpoint",
      metadata: { name: "job.a", namespace: "default", labels: { "rekindle.dev/kind": "Job" } },
      spec: { schema: 1, cluster: "c", uid: "u", saves: 1, memory },
    });
    await make(terminal.simulator, record({ phase: "Running", version: 2, retryCount: 1 }));
    const { code, err } = await terminal.run("migrate", "--undo", "--yes");
    assert.match(err, /upstream could not continue from the records of default\/a/);
    assert.deepEqual([code, gist(terminal)], [1, left]);
  });
});

describe("migrate of two installations", () => {
  const both = async (): Promise<Terminal> => {
    const terminal = await opened();
    await installKubeflow(terminal.simulator);
    return terminal;
  };

  it("reports both, takes over from both, and returns to the named one", async () => {
    const terminal = await both();
    const before = pictureOf(terminal.simulator);
    const { out } = await terminal.run("migrate");
    assert.match(out, /^kubeflow's Spark operator in example$[\s\S]+^Volcano's controllers in example$/m);
    assert.equal((await terminal.run("migrate", "--apply", "--yes")).code, 0);
    const [scaled, , records] = gist(terminal);
    assert.deepEqual(scaled, [...["spark-operator-controller 0", "spark-operator-webhook 0"], ...scales(0, 0, 1)]);
    assert.deepEqual(records, ["rekindle-migration", "rekindle-migration-volcano"]);
    await terminal.run("migrate", "--undo", "--family", "volcano", "--yes");
    assert.deepEqual(gist(terminal)[2], ["rekindle-migration"]);
    await terminal.run("migrate", "--undo", "--yes");
    assert.deepEqual(pictureOf(terminal.simulator), before);
  });

  it("takes over from the named one only", async () => {
    const terminal = await both();
    assert.equal((await terminal.run("migrate", "--family", "spark", "--apply", "--yes")).code, 0);
    assert.deepEqual(gist(terminal)[0], [
      ...["spark-operator-controller 0", "spark-operator-webhook 0"],
      ...scales(1, 1, 1),
    ]);
  });
});

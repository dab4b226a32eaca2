/**
 * `rekindle migrate NAME --to GROUP`: a running application changes its API, and its driver and executors stay. The command may die
 * at every call: repeated, it reaches the same end.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { quietMs } from "../../../shared/cli/migration/move.ts";
import type { Transport } from "../../../shared/core/http.ts";
import { fieldsOf } from "../../../shared/core/json.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { timing } from "../../../shared/engine/settings.ts";
import { everyNth } from "../../support/cases.ts";
import { install as installKubeflow } from "./kubeflow.ts";
import { onTerminal, type Ran } from "./terminal.ts";
import { type Group, groups, type Moving, openMoving, otherOf } from "./two-hosts.ts";

type Death = { readonly at: number; readonly when: "before" | "after" };

const dying = (transport: Transport, death: Death | undefined) => {
  let calls = 0;
  const send: Transport["send"] = async (request) => {
    calls += 1;
    if (calls !== death?.at) return await transport.send(request);
    if (death.when === "after") await transport.send(request);
    throw new Error("died");
  };
  return { transport: { ...transport, send }, calls: () => calls };
};

const move = async ({ simulator }: Moving, to: Group, death?: Death): Promise<Ran & { readonly calls: number }> => {
  const { transport, calls } = dying(simulator.transport, death);
  const ran = await onTerminal(simulator, { transport }).run("migrate", "pi", "--to", to, "--apply", "--yes");
  return { ...ran, calls: calls() };
};

const running: Readonly<Record<Group, string>> = {
  "sparkoperator.k8s.io": "RUNNING",
  "spark.apache.org": "RunningHealthy",
};

const ended: Readonly<Record<Group, string>> = {
  "sparkoperator.k8s.io": "COMPLETED",
  "spark.apache.org": "TerminatedWithoutReleaseResources",
};

const ownersOf = ({ metadata: { ownerReferences = [] } }: Obj): readonly string[] =>
  ownerReferences.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).sort();

const selects = (service: Obj, pod: Obj): boolean => {
  const selector = Object.entries(fieldsOf(fieldsOf(service.spec)["selector"]));
  return selector.length > 0 && selector.every(([key, value]) => pod.metadata.labels?.[key] === value);
};

/** Returns the pods, objects and records after a move: the same, whatever happened on the way. */
const pictureOf = ({ simulator, deleted, drivers, seen, driver }: Moving, to: Group) => {
  const there = seen(to);
  const list = (table: string): readonly Obj[] => JSON.parse(JSON.stringify(simulator.store.list(table)));
  const pod = driver();
  const services = list("services").filter(({ metadata }) => metadata.name.endsWith("-driver-svc"));
  return {
    ...{ deleted: [...deleted], drivers: [...drivers] },
    old: seen(otherOf(to)) === undefined ? "gone" : "there",
    state: there?.state,
    marks: Object.keys(there?.object.metadata.annotations ?? {}),
    driver: pod === undefined ? "gone" : ownersOf(pod),
    executors: list("pods")
      .filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor")
      .map((one) => [one.metadata.name, ...ownersOf(one)]),
    services: services.map((service) => [ownersOf(service), pod !== undefined && selects(service, pod)]),
    records: list("checkpoints.rekindle.dev").map(({ metadata }) => metadata.name),
  };
};

for (const from of groups) {
  const to = otherOf(from);
  describe(`from ${from} to ${to}`, () => {
    it("the report changes nothing, and says what to type", async () => {
      const moving = await openMoving(from);
      const before = moving.simulator.store.list(`sparkapplications.${from}`);
      const { code, out } = await onTerminal(moving.simulator).run("migrate", "pi", "--to", to);
      assert.equal(code, 0);
      assert.match(out, /its driver pod pi-\S*driver stays$/m);
      assert.match(out, new RegExp(`^nothing stands in the way: rekindle migrate default/pi --to ${to} --apply$`, "m"));
      assert.deepEqual(moving.simulator.store.list(`sparkapplications.${from}`), before);
    });

    it("the driver and its executors stay, and its end is that of the moved application", async () => {
      const moving = await openMoving(from);
      const uid = moving.driver()?.metadata.uid;
      assert.equal((await move(moving, to)).code, 0);
      await moving.run(6);
      const { deleted, drivers, state, old, executors, services } = pictureOf(moving, to);
      assert.deepEqual([deleted, drivers.length, state, old], [[], 1, running[to], "gone"]);
      assert.deepEqual([executors.length, services.map(([, selected]) => selected)], [2, [true]]);
      assert.equal(moving.driver()?.metadata.uid, uid);
      moving.simulator.killPod("default", drivers[0] ?? "", { code: 0 });
      await moving.run(12);
      assert.deepEqual([moving.seen(to)?.state, moving.drivers.length], [ended[to], 1]);
    });

    it("and back: the first driver still runs", async () => {
      const moving = await openMoving(from);
      const uid = moving.driver()?.metadata.uid;
      for (const group of [to, from]) {
        assert.equal((await move(moving, group)).code, 0);
        await moving.run(6);
        assert.equal(moving.seen(group)?.state, running[group]);
      }
      assert.deepEqual([moving.deleted, moving.drivers.length, moving.driver()?.metadata.uid], [[], 1, uid]);
    });

    it("an object of a kind that no move knows outlives the old application", async () => {
      const moving = await openMoving(from);
      const { apiVersion = "", kind = "", metadata } = moving.seen(from)?.object ?? {};
      const ownerReferences = [{ apiVersion, kind, name: "pi", uid: metadata?.uid ?? "" }];
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "mine", ownerReferences } };
      await request(moving.simulator.transport, "POST", "/api/v1/namespaces/default/secrets", secret);
      assert.equal((await move(moving, to)).code, 0);
      await moving.run(30);
      assert.ok(moving.simulator.store.get("secrets", "default/mine"));
    });

    for (const when of ["before", "after"] as const)
      it(`a death ${when} any call: the same command, repeated, reaches the same end`, async () => {
        const moving = await openMoving(from);
        const start = moving.simulator.snapshot();
        const { calls } = await move(moving, to);
        await moving.run(6);
        const wanted = pictureOf(moving, to);
        assert.deepEqual([wanted.deleted, wanted.drivers.length, wanted.state], [[], 1, running[to]]);
        assert.ok(calls > 40, `${calls} calls`);
        for (const at of everyNth(
          3,
          Array.from({ length: calls }, (_, index) => index + 1),
        )) {
          moving.simulator.restore(start);
          assert.equal((await move(moving, to, { at, when })).code, 1, `call ${at}: it did not die`);
          await moving.run(3);
          const { code, err } = await move(moving, to);
          assert.ok(code === 0 || /has it already, and nothing is left to do/.test(err), `call ${at}: ${err}`);
          await moving.run(6);
          assert.deepEqual(pictureOf(moving, to), wanted, `death ${when} call ${at}`);
        }
      });
  });
}

describe("a move is refused, and nothing changes", () => {
  const kubeflow: readonly (readonly [why: string, metadata: object, spec: object, says: RegExp])[] = [
    [
      "own executors",
      { annotations: { "rekindle.dev/executors": "own" } },
      {},
      /executors\]: own: the record of the ids .* does not move/,
    ],
    ["a batch scheduler", {}, { batchScheduler: "volcano" }, /spec\.batchScheduler: its group of pods/],
    [
      "an Ingress of the UI",
      {},
      { sparkUIOptions: { servicePort: 80 } },
      /spec\.sparkUIOptions: write the Service and Ingress/,
    ],
    [
      "a policy of the other API",
      { annotations: { "rekindle.dev/retry-backoff": "2" } },
      {},
      /retry-backoff\] is for applications of sparkoperator\.k8s\.io: remove it/,
    ],
  ];
  for (const [why, metadata, spec, says] of kubeflow)
    it(`to spark.apache.org: ${why}`, async () => {
      const moving = await openMoving("sparkoperator.k8s.io", (object) => ({
        ...object,
        metadata: { ...object.metadata, ...metadata },
        spec: { ...fieldsOf(object.spec), ...spec },
      }));
      const before = moving.seen("sparkoperator.k8s.io")?.object;
      const { code, out, err } = await move(moving, "spark.apache.org");
      assert.match(out, says);
      assert.match(err, /in the way, see above: nothing was changed/);
      assert.deepEqual([code, moving.seen("sparkoperator.k8s.io")?.object], [1, before]);
    });

  const apache: readonly (readonly [why: string, spec: object, says: RegExp])[] = [
    [
      "thresholds",
      { applicationTolerations: { instanceConfig: { initExecutors: 1 } } },
      /instanceConfig: sparkoperator\.k8s\.io has no thresholds/,
    ],
    [
      "restarts after failures of the platform",
      { applicationTolerations: { restartConfig: { restartPolicy: "OnInfrastructureFailure" } } },
      /restartPolicy: write Never or OnFailure/,
    ],
    [
      "restarts that end",
      { applicationTolerations: { restartConfig: { restartPolicy: "Always" } } },
      /maxRestartAttempts: Always has no limit/,
    ],
    [
      "ConfigMaps",
      { configMapSpecs: [{ name: "a", data: {} }] },
      /spec\.configMapSpecs: sparkoperator\.k8s\.io has none/,
    ],
    [
      "a container of another name",
      { driverSpec: { podTemplateSpec: { spec: { containers: [{ name: "main" }] } } } },
      /another name than spark-kubernetes-driver/,
    ],
  ];
  for (const [why, spec, says] of apache)
    it(`to sparkoperator.k8s.io: ${why}`, async () => {
      const moving = await openMoving("spark.apache.org", (object) => ({
        ...object,
        spec: { ...fieldsOf(object.spec), ...spec },
      }));
      const { code, out } = await move(moving, "sparkoperator.k8s.io");
      assert.match(out, says);
      assert.deepEqual([code, moving.seen("sparkoperator.k8s.io"), moving.deleted], [1, undefined, []]);
    });

  it("while upstream's controller runs", async () => {
    const moving = await openMoving("sparkoperator.k8s.io");
    await installKubeflow(moving.simulator);
    const { code, out } = await move(moving, "spark.apache.org");
    assert.match(out, /kubeflow's Spark operator runs: rekindle migrate --family spark --apply/);
    assert.equal(code, 1);
  });

  it("of an application that a user has paused, that has ended, or that is not there", async () => {
    const moving = await openMoving("sparkoperator.k8s.io");
    const terminal = onTerminal(moving.simulator);
    await terminal.run("pause", "pi");
    assert.match((await move(moving, "spark.apache.org")).out, /it is paused: rekindle resume it first/);
    await terminal.run("resume", "pi");
    moving.simulator.killPod("default", moving.drivers[0] ?? "", { code: 0 });
    await moving.run(8);
    assert.match(
      (await move(moving, "spark.apache.org")).out,
      /it is COMPLETED: an application moves while its driver runs/,
    );
    const { err } = await terminal.run("migrate", "none", "--to", "spark.apache.org");
    assert.match(err, /there is no SparkApplication default\/none of sparkoperator\.k8s\.io; see them all/);
  });

  it("of a driver that ends while the command waits", async () => {
    const moving = await openMoving("sparkoperator.k8s.io");
    const { simulator } = moving;
    const slept = async (): Promise<void> => {
      simulator.killPod("default", moving.drivers[0] ?? "", { code: 0 });
      simulator.clock.advanceTo(simulator.clock.now() + 1_000);
    };
    const { code, err } = await onTerminal(simulator, { slept }).run(
      ...["migrate", "pi", "--to", "spark.apache.org", "--apply", "--yes"],
    );
    assert.match(err, /has changed meanwhile, and stays: its driver pod pi-driver is Succeeded/);
    await moving.run(8);
    assert.deepEqual([code, moving.seen("sparkoperator.k8s.io")?.state], [1, "COMPLETED"]);
  });
});

it("the pause before a move outlasts every step that began before it", () => {
  assert.ok(quietMs >= timing.stepMs + timing.requestTimeoutMs);
});

describe("the uses of the command exclude each other", () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [["pi"], /pi: --to names the API that they move to/],
    [["--to", "spark.apache.org"], /--to: name the applications that move/],
    [["pi", "--to", "spark.apache.org", "--undo"], /--undo and --family are for controllers/],
    [["a/b/c", "--to", "spark.apache.org"], /a\/b\/c: write NAME or NAMESPACE\/NAME/],
  ];
  for (const [args, says] of rows)
    it(`migrate ${args.join(" ")}`, async () => {
      const moving = await openMoving("sparkoperator.k8s.io");
      assert.match((await onTerminal(moving.simulator).run("migrate", ...args)).err, says);
    });
});

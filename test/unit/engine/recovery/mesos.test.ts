/**
 * A real host on the simulated cluster, and `rekindle recover` beside it, in the cases of Mesos' tests of agent
 * recovery; the table is in test/proof/mesos/README.md.
 */

import assert from "node:assert/strict";
import { describe } from "node:test";
import { isRecord } from "../../../../shared/core/json.ts";
import type { Obj } from "../../../../shared/core/object.ts";

import { rekindle } from "../../host/command.ts";
import { application, errorOf, stateOf, statusOf } from "../../host/objects.ts";
import { itOnStand, type Stand } from "../../host/stand.ts";

const name = "sparkapplication.app";
const state = (stand: Stand, of = "app"): string => stateOf(stand.get("SparkApplication", of));
const recordOf = (stand: Stand): Obj["spec"] => stand.get("Checkpoint", name)?.["spec"];
const fieldOf = (stand: Stand, field: string): unknown => {
  const record = recordOf(stand);
  return isRecord(record) ? record[field] : undefined;
};

const pods = (stand: Stand): readonly string[] =>
  stand
    .all("Pod")
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.name.startsWith("app-"))
    .map(({ metadata }) => metadata.name);

const drivers = (stand: Stand): readonly (string | undefined)[] =>
  stand
    .all("Pod")
    .filter(({ metadata }) => metadata.labels?.["spark-role"] === "driver" && metadata.name === "app-driver")
    .map(({ metadata }) => metadata.uid);

const unsealed = { metadata: { annotations: { "rekindle.dev/seal": null } } };

/** An application whose driver runs, and another one beside it. */
const underWay = async (stand: Stand): Promise<string | undefined> => {
  await stand.host();
  await stand.create(application("app"));
  await stand.create(application("other"));
  await stand.until("RUNNING", () => state(stand) === "RUNNING");
  await stand.turn(3_000);
  return stand.get("Pod", "app-driver")?.metadata.uid;
};

const completes = (stand: Stand, of = "app"): Promise<void> =>
  stand.until(`${of} is COMPLETED`, () => state(stand, of) === "COMPLETED", 900_000);

const long = { scripts: { app: [{ jobMs: 120_000 }, { jobMs: 5_000 }], other: [{ jobMs: 10_000 }] } };

const it = itOnStand(long);

describe("a record whose run id is damaged", () => {
  const spoils = [
    { what: "the state", spec: { memory: { state: { phase: "NONSENSE" } } } },
    { what: "the attempt", spec: { memory: { attempt: "two" } } },
    { what: "the driver", spec: { memory: { driver: 7 } } },
    { what: "the whole memory", spec: { memory: 7 } },
    {
      what: "nearly everything",
      spec: { memory: { driver: 7, state: 7, attempt: 7, history: 7 }, saves: -1, uid: "" },
    },
  ];
  for (const { what, spec } of spoils)
    it(`${what}: is refused in strict mode; otherwise the running driver is adopted`, async (stand) => {
      const driver = await underWay(stand);
      await stand.patch("Checkpoint", name, { spec });
      const refused = await rekindle(stand, "recover", "default/app");
      assert.match(refused, /sparkapplication\/default\/app {2}refused[\s\S]*1 refused: checkpoint cannot be read/);
      const told = await rekindle(stand, "recover", "default/app", "--no-strict");
      assert.match(told, /salvaged[\s\S]*adopted .*pods default\/app-driver[\s\S]*0 refused, 0 not settled yet/);
      await completes(stand);
      const object = stand.get("SparkApplication", "app");
      assert.deepEqual([statusOf(object, "executionAttempts"), errorOf(object)], [1, ""]);
      assert.deepEqual(drivers(stand), [driver]);
    });
});

describe("rows 18 and 19: rekindle recover --mode cleanup", () => {
  it("ends every object of the application and no other, records that, and stops the key", async (stand) => {
    await underWay(stand);
    const asking = await rekindle(stand, "recover", "default/app", "--mode", "cleanup");
    assert.match(asking, /nothing was changed \(--yes skips the question\)/);
    const told = await rekindle(stand, "recover", "default/app", "--mode", "cleanup", "--yes");
    assert.match(told, /cleaning[\s\S]*ended .*pods default\/app-driver[\s\S]*0 refused, 0 not settled yet/);
    assert.deepEqual(pods(stand), []);
    await stand.until("FAILED", () => state(stand) === "FAILED");
    assert.match(errorOf(stand.get("SparkApplication", "app")), /rekindle recover --mode cleanup/);
    await completes(stand, "other");
    await stand.pass(0.5);
    assert.deepEqual([state(stand), pods(stand)], ["FAILED", []]);
  });

  itOnStand({ scripts: { app: [{ jobMs: 120_000, stopMs: 600_000 }], other: [{ jobMs: 10_000 }] } })(
    "deletes by force, by its UID, a pod that outlives its grace period",
    async (stand) => {
      await underWay(stand);
      const told = await rekindle(
        stand,
        "recover",
        "app",
        "-n",
        "default",
        "--mode",
        "cleanup",
        "--yes",
        "--grace",
        "5",
      );
      assert.match(told, /0 refused, 0 not settled yet/);
      assert.deepEqual(pods(stand), []);
    },
  );

  it("is carried out by a host if the command ends before", async (stand) => {
    await underWay(stand);
    const told = await rekindle(stand, "recover", "default/app", "--mode", "cleanup", "--yes", "--wait", "0s");
    assert.match(told, /the timeout has passed: default\/app waits for/);
    await stand.until("FAILED", () => state(stand) === "FAILED", 400_000);
    assert.deepEqual(pods(stand), []);
  });
});

describe("rows 24 to 27: a record of another cluster", () => {
  const elsewhere = { cluster: "another-cluster", uid: "another-uid" };

  it("makes a run in progress the next attempt, with one driver, and spends no retry", async (stand) => {
    const before = await underWay(stand);
    await stand.patch("Checkpoint", name, { ...unsealed, spec: elsewhere });
    await completes(stand);
    const after = drivers(stand);
    assert.deepEqual([after.length, after.includes(before)], [1, false]);
    assert.equal(fieldOf(stand, "cluster"), stand.get("Namespace", "kube-system", "")?.metadata.uid);
    const runs = fieldOf(stand, "runs");
    assert.match(await rekindle(stand, "status", "default/app"), /attempts +1 voided/);
    assert.deepEqual(Array.isArray(runs) ? runs.map(({ attempt, outcome }) => [attempt, outcome]) : [], [
      [1, "voided"],
    ]);
  });

  itOnStand({ scripts: { app: [{ jobMs: 5_000 }], other: [{ jobMs: 5_000 }] } })(
    "leaves a completed run completed",
    async (stand) => {
      await underWay(stand);
      await completes(stand);
      await stand.turn(60_000);
      await stand.patch("Checkpoint", name, { ...unsealed, spec: elsewhere });
      assert.match(await rekindle(stand, "recover", "default/app"), /voided[\s\S]*0 refused/);
      await stand.pass(0.5);
      assert.deepEqual(
        [state(stand), statusOf(stand.get("SparkApplication", "app"), "executionAttempts")],
        ["COMPLETED", 1],
      );
    },
  );

  it("neither adopts nor ends a pod of another owner", async (stand) => {
    await underWay(stand);
    const stranger: Obj = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "app-exec-stranger",
        namespace: "default",
        labels: { "sparkoperator.k8s.io/app-name": "app", "spark-role": "executor" },
      },
      spec: { containers: [{ name: "x", image: "busybox" }], schedulingGates: [{ name: "held" }] },
    };
    await stand.create(stranger);
    await stand.patch("Checkpoint", name, { ...unsealed, spec: elsewhere });
    await completes(stand);
    assert.ok(stand.get("Pod", "app-exec-stranger") !== undefined);
  });

  it("rows 26 and 27: starts afresh if its schema is later, too, and that decision lasts", async (stand) => {
    await underWay(stand);
    await stand.patch("Checkpoint", name, { ...unsealed, spec: { ...elsewhere, schema: 9 } });
    await completes(stand);
    const recovered = fieldOf(stand, "recovered");
    assert.ok(isRecord(recovered) && recovered["how"] === "fresh" && isRecord(recovered["was"]));
    assert.equal(drivers(stand).length, 1);
  });
});

describe("a record of a later schema in the same cluster", () => {
  it("is refused, strict or not, until rekindle recover --fresh; then the running driver is adopted", async (stand) => {
    const driver = await underWay(stand);
    await stand.patch("Checkpoint", name, { ...unsealed, spec: { schema: 9 } });
    for (const flag of ["--strict", "--no-strict"])
      assert.match(
        await rekindle(stand, "recover", "default/app", flag),
        /refused: written by a newer Rekindle, schema 9/,
      );
    const told = await rekindle(stand, "recover", "default/app", "--fresh", "--yes");
    assert.match(told, /fresh[\s\S]*adopted .*pods default\/app-driver/);
    await completes(stand);
    assert.deepEqual(drivers(stand), [driver]);
  });
});

describe("rows 4, 32, 39 and 41: an application with a record alone, or with none", () => {
  it("that loses its record while it runs is rebuilt, and nothing is created twice", async (stand) => {
    const driver = await underWay(stand);
    await stand.remove("Checkpoint", name);
    const told = await rekindle(stand, "recover", "default/app");
    assert.match(told, /missing[\s\S]*adopted .*pods default\/app-driver/);
    await completes(stand);
    assert.deepEqual(drivers(stand), [driver]);
  });

  it("whose status was set back gets the right status again", async (stand) => {
    const driver = await underWay(stand);
    const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/app/status";
    const body = JSON.stringify({ status: { applicationState: { state: "SUBMITTED" }, submissionID: "old" } });
    const headers = { "content-type": "application/merge-patch+json" };
    stand.simulator.handle({ method: "PATCH", path, headers, body });
    assert.match(await rekindle(stand, "recover", "default/app"), /reconnecting/);
    await completes(stand);
    assert.deepEqual(drivers(stand), [driver]);
  });

  it("with which nothing is wrong is reported as sound, and nothing is written, unless the user asks for more", async (stand) => {
    await underWay(stand);
    await completes(stand, "other");
    const everything = () =>
      JSON.stringify(["SparkApplication", "Checkpoint", "Event", "Pod"].map((kind) => stand.all(kind)));
    const before = everything();
    for (const flags of [[], ["--dry-run"]])
      assert.match(
        await rekindle(stand, "recover", "-n", "default", ...flags),
        /^sparkapplication\/default\/app {2}sound: nothing to do\nsparkapplication\/default\/other {2}sound: nothing to do\n2 checked/,
      );
    assert.equal(everything(), before);
    assert.match(await rekindle(stand, "recover", "default/app", "--timeout", "5s"), /reconnecting/);
  });

  it("whose record is damaged never blocks another", async (stand) => {
    await underWay(stand);
    await stand.patch("Checkpoint", name, { spec: { memory: 7, cluster: "", uid: "", saves: 0 } });
    await completes(stand, "other");
    const told = await rekindle(stand, "recover", "-n", "default", "-o", "json");
    assert.deepEqual(
      JSON.parse(told.slice(0, told.lastIndexOf("]") + 1)).map(({ name: of, did }: { name: string; did: string }) => [
        of,
        did,
      ]),
      [
        ["app", "refused"],
        ["other", "nothing"],
      ],
    );
  });
});

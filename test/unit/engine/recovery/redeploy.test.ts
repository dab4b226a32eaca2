/**
 * Hosts that are stopped and started, of older and newer versions, in the cases of Mesos' tests of agent recovery; the
 * table is in test/proof/mesos/README.md.
 */

import assert from "node:assert/strict";
import { describe } from "node:test";
import { ApiError } from "../../../../shared/core/http.ts";
import { isRecord } from "../../../../shared/core/json.ts";
import { timing } from "../../../../shared/engine/settings.ts";

import { application, stateOf, statusOf } from "../../host/objects.ts";
import { itOnStand, type Stand } from "../../host/stand.ts";

const name = "sparkapplication.app";
const state = (stand: Stand): string => stateOf(stand.get("SparkApplication", "app"));
const uidOf = (stand: Stand): string | undefined => stand.get("Pod", "app-driver")?.metadata.uid;

const recordOf = (stand: Stand): Readonly<Record<string, unknown>> => {
  const spec = stand.get("Checkpoint", name)?.["spec"];
  return isRecord(spec) ? spec : {};
};

const underWay = async (stand: Stand, more: Parameters<typeof application>[1] = {}) => {
  const host = await stand.host();
  await stand.create(application("app", more));
  await stand.until("RUNNING", () => state(stand) === "RUNNING");
  await stand.turn(20_000);
  return { host, driver: uidOf(stand) };
};

const completes = (stand: Stand): Promise<void> =>
  stand.until("COMPLETED", () => state(stand) === "COMPLETED", 900_000);

const unsealed = { "rekindle.dev/seal": null };
const long = { scripts: { app: [{ jobMs: 300_000 }] } };

const it = itOnStand(long);

describe("rows 20 and 21: an application without a record", () => {
  it("has lost its run if its driver is gone, too, but only after the recovery window", async (stand) => {
    const { host } = await underWay(stand);
    await host.drain(1_000);
    await stand.remove("Checkpoint", name);
    await stand.remove("Pod", "app-driver");
    await stand.turn(40_000);
    await stand.host();
    await stand.turn(25_000);
    assert.equal(state(stand), "RUNNING");
    await stand.until("FAILED", () => state(stand) === "FAILED", 60_000);
  });

  itOnStand()("gets no record while it is paused", async (stand) => {
    await stand.host();
    await stand.create(application("app", { annotations: { "rekindle.dev/paused": "true" } }));
    await stand.pass(0.5);
    assert.deepEqual([stand.all("Checkpoint"), stand.all("Pod")], [[], []]);
  });
});

describe("rows 30 and 31: a host that is stopped", () => {
  it("is followed by a host that writes nothing, and the run continues", async (stand) => {
    const { host, driver } = await underWay(stand);
    await stand.pass(0.02);
    await host.drain(1_000);
    const [before, version] = [stand.writes().length, stand.get("Checkpoint", name)?.metadata.resourceVersion];
    await stand.host();
    await stand.turn(60_000);
    assert.deepEqual([stand.writes().slice(before), uidOf(stand)], [[], driver]);
    assert.equal(stand.get("Checkpoint", name)?.metadata.resourceVersion, version);
  });

  it("leaves no finalizer and no lease, and its successor cleans up after a deletion in the meantime", async (stand) => {
    const { host } = await underWay(stand);
    await host.drain(1_000);
    const all = ["SparkApplication", "Pod", "Service", "ConfigMap", "Checkpoint"].flatMap((kind) => stand.all(kind));
    assert.deepEqual(
      all.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0),
      [],
    );
    assert.deepEqual(stand.all("Lease"), []);
    await stand.remove("SparkApplication", "app");
    await stand.turn(60_000);
    await stand.host();
    await stand.until("its record is gone", () => stand.get("Checkpoint", name) === undefined, 60_000);
    assert.equal(uidOf(stand), undefined);
  });
});

describe("a death between save and effect", () => {
  itOnStand()("makes the next host do what was saved, once", async (stand) => {
    const host = await stand.host();
    stand.fault(({ method, path, body }) =>
      method === "POST" && path.includes("/pods") && (body ?? "").includes('"app-driver"')
        ? new ApiError({ status: 0, reason: "Timeout", message: "no answer" })
        : undefined,
    );
    await stand.create(application("app"));
    await stand.until("the attempt is recorded", () => stand.get("Checkpoint", name) !== undefined);
    await stand.turn(2_000);
    await host.drain(1_000);
    assert.equal(uidOf(stand), undefined);
    stand.fault(undefined);
    await stand.host();
    await completes(stand);
    assert.equal(statusOf(stand.get("SparkApplication", "app"), "executionAttempts"), 1);
  });
});

describe("rows 40, 44 and 45: a record of another version or other settings", () => {
  it("of a shorter fence leaves its run alone, and takes the new fence with the next write", async (stand) => {
    const { host, driver } = await underWay(stand);
    await host.drain(1_000);
    await stand.host({ timing: { ...timing, fenceMs: 12_000 } });
    await completes(stand);
    assert.equal(statusOf(stand.get("SparkApplication", "app"), "executionAttempts"), 1);
    assert.ok(driver !== undefined);
    const made = recordOf(stand)["made"];
    assert.equal(isRecord(made) ? made["fenceMs"] : undefined, 12_000);
  });

  const others = [
    {
      what: "of the version before: no seal, no settings, no runs",
      annotations: unsealed,
      spec: { made: null, runs: null, pruneAt: null, memory: { history: null, executors: null } },
      kept: undefined,
    },
    {
      what: "of the version after: with fields that this version does not know",
      annotations: unsealed,
      spec: { invented: { a: [1] }, made: { shards: 3 }, memory: { invented: "x" } },
      kept: { a: [1] },
    },
  ];
  for (const { what, annotations, spec, kept } of others)
    it(`${what}: its run continues, and this version ends its pods`, async (stand) => {
      const { driver } = await underWay(stand, { spec: { timeToLiveSeconds: 600 } });
      await stand.patch("Checkpoint", name, { metadata: { annotations }, spec });
      await stand.turn(310_000);
      await completes(stand);
      assert.deepEqual([uidOf(stand), recordOf(stand)["invented"]], [driver, kept]);
      await stand.until("it is gone", () => stand.get("SparkApplication", "app") === undefined, 900_000);
      await stand.until("its record, too", () => stand.get("Checkpoint", name) === undefined, 60_000);
      assert.equal(uidOf(stand), undefined);
    });
});

/** `rekindle recover` and foreign records for schedules and Connect servers, beside a host: as for applications. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { rekindle } from "./command.ts";
import { connect, schedule, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const unsealed = { metadata: { annotations: { "rekindle.dev/seal": null } } };
const elsewhere = { cluster: "another-cluster", uid: "another-uid" };

const runs = (stand: Stand): readonly string[] =>
  stand
    .all("SparkApplication")
    .map(({ metadata }) => metadata.name)
    .sort();

const reasons = (stand: Stand, name: string): readonly unknown[] =>
  stand
    .all("Event")
    .filter((event) => Object(event["involvedObject"]).name === name)
    .map((event) => event["reason"])
    .filter((reason) => /Rekindle|Recovery/.test(String(reason)))
    .sort();

const it = itOnStand();

describe("a schedule", () => {
  const record = "scheduledsparkapplication.often";
  const named = "scheduledsparkapplication/default/often";
  const often = (at: string) => schedule("often", { schedule: at, successfulRunHistoryLimit: 9 });

  /** Starts a host and a schedule whose first run, at 08:10, completes. */
  const ran = async (stand: Stand): Promise<readonly string[]> => {
    await stand.host();
    await stand.create(often("*/10 * * * *"));
    await stand.until("a run comes", () => runs(stand).length === 1, 700_000);
    await stand.turn(30_000);
    return runs(stand);
  };

  itOnStand({ scripts: { "*": [{ hangs: true }] } })(
    "that is cleaned up ends its run, reports that, and starts no other until its spec changes",
    async (stand) => {
      await stand.host();
      await stand.create(often("*/5 * * * *"));
      await stand.until(
        "it runs",
        () => stand.all("SparkApplication").some((run) => stateOf(run) === "RUNNING"),
        400_000,
      );
      const told = await rekindle(stand, "recover", named, "--mode", "cleanup", "--yes");
      assert.match(told, /ended .*sparkapplications\S* default\/often-\d+[\s\S]*0 refused, 0 not settled/);
      await stand.turn(400_000);
      assert.deepEqual([runs(stand), stand.all("Pod")], [[], []]);
      assert.deepEqual(reasons(stand, "often"), ["RekindleCleanedUp", "RekindleRecovering"]);
      await stand.patch("ScheduledSparkApplication", "often", { spec: { failedRunHistoryLimit: 3 } });
      await stand.until("it runs again", () => runs(stand).length > 0, 400_000);
    },
  );

  it("whose record is damaged: is refused in strict mode; otherwise no time runs twice", async (stand) => {
    const before = await ran(stand);
    await stand.patch("Checkpoint", record, { spec: { memory: { timing: 7, nextRun: "x", lastRun: 7 } } });
    assert.match(await rekindle(stand, "recover", named), /refused: checkpoint cannot be read/);
    assert.match(await rekindle(stand, "recover", named, "--no-strict"), /salvaged[\s\S]*0 refused, 0 not settled/);
    assert.deepEqual(reasons(stand, "often"), ["RecoveryFailed", "RekindleRecovered"]);
    await stand.turn(300_000);
    assert.deepEqual(runs(stand), before);
    await stand.until("the next time is taken", () => runs(stand).length === 2, 400_000);
  });

  it("in another cluster runs no time twice, and its next one as before", async (stand) => {
    const before = await ran(stand);
    await stand.patch("Checkpoint", record, { ...unsealed, spec: elsewhere });
    assert.match(await rekindle(stand, "recover", named), /voided[\s\S]*0 refused/);
    await stand.turn(300_000);
    assert.deepEqual([runs(stand), reasons(stand, "often")], [before, ["RekindleRecovered"]]);
    await stand.until("the next time is taken", () => runs(stand).length === 2, 400_000);
  });
});

describe("a Connect server", () => {
  const record = "sparkconnect.sc";
  const named = "sparkconnect/default/sc";
  const uid = (stand: Stand): string | undefined => stand.get("Pod", "sc-server")?.metadata.uid;
  const isReady = (stand: Stand): boolean => statusOf(stand.get("SparkConnect", "sc"), "state") === "Ready";

  const ready = async (stand: Stand): Promise<string | undefined> => {
    await stand.host();
    await stand.create(connect("sc"));
    await stand.until("it is ready", () => isReady(stand), 20_000);
    await stand.turn(3_000);
    return uid(stand);
  };

  it("whose record is damaged: is refused in strict mode; otherwise it continues, and the server stays", async (stand) => {
    const before = await ready(stand);
    await stand.patch("Checkpoint", record, { spec: { memory: { ends: "many" } } });
    assert.match(await rekindle(stand, "recover", named), /refused: checkpoint cannot be read/);
    assert.match(await rekindle(stand, "recover", named, "--no-strict"), /salvaged[\s\S]*0 refused, 0 not settled/);
    assert.deepEqual(reasons(stand, "sc"), ["RecoveryFailed", "RekindleRecovered"]);
    await stand.turn(60_000);
    assert.deepEqual([uid(stand), isReady(stand)], [before, true]);
  });

  it("whose record was lost is adopted, and the server stays", async (stand) => {
    const before = await ready(stand);
    await stand.remove("Checkpoint", record);
    assert.match(await rekindle(stand, "recover", named), /found +missing[\s\S]*0 refused, 0 not settled/);
    await stand.turn(60_000);
    assert.deepEqual([uid(stand), isReady(stand)], [before, true]);
  });

  it("in another cluster continues with the existing server", async (stand) => {
    const before = await ready(stand);
    await stand.patch("Checkpoint", record, { ...unsealed, spec: elsewhere });
    assert.match(await rekindle(stand, "recover", named), /voided[\s\S]*0 refused/);
    await stand.turn(60_000);
    assert.deepEqual([uid(stand), isReady(stand), reasons(stand, "sc")], [before, true, ["RekindleRecovered"]]);
  });
});

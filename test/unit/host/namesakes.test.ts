/**
 * Two applications that claim one name: the earlier one keeps it, the other reports it, and neither touches objects of
 * the other.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { application, home, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const stateOf = (stand: Stand, name: string): unknown =>
  Object(statusOf(stand.get("SparkApplication", name), "applicationState") ?? {}).state;

const toldOf = (stand: Stand, name: string): string =>
  `${Object(statusOf(stand.get("SparkApplication", name), "applicationState") ?? {}).errorMessage}`;

const driversNamed = (stand: Stand, name: string): readonly (string | undefined)[] =>
  stand
    .all("Pod")
    .filter(({ metadata }) => metadata.name === name)
    .map(({ metadata }) => metadata.uid);

const it = itOnStand();

describe("two applications that claim one driver pod's name", () => {
  it("the first runs, and the second names the owner and runs once it is repaired", async (stand) => {
    await stand.host();
    await stand.create(home);
    await stand.create(application("first", { spec: { driver: { podName: "same", cores: 1, memory: "512m" } } }));
    await stand.until("the first runs", () => stateOf(stand, "first") === "RUNNING");
    const [uid] = driversNamed(stand, "same");
    await stand.create(application("second", { spec: { driver: { podName: "same", cores: 1, memory: "512m" } } }));
    await stand.until("the second is told", () => /same/.test(toldOf(stand, "second")), 60_000);
    assert.match(
      toldOf(stand, "second"),
      /^failed to run spark-submit: pods default\/same exists and belongs to another owner; delete it or choose another name$/,
    );
    assert.deepEqual([stateOf(stand, "first"), driversNamed(stand, "same")], ["RUNNING", [uid]]);
    await stand.until("the first is done", () => stateOf(stand, "first") === "COMPLETED", 120_000);
    assert.deepEqual(driversNamed(stand, "same"), [uid]);
    await stand.patch("SparkApplication", "second", { spec: { driver: { podName: "own" } } });
    await stand.until("the second is done", () => stateOf(stand, "second") === "COMPLETED", 120_000);
    assert.deepEqual(driversNamed(stand, "same"), [uid]);
  });
});

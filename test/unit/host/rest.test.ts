/** A host that starts beside applications at their end: it reads none of them, and acts on what has changed meanwhile. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { fieldsOf } from "../../../shared/core/json.ts";
import { application, stateOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer } from "./way.ts";

/** Lets an application live to its end under a host of its own. */
const lived = async (stand: Stand, name: string): Promise<void> => {
  const host = await stand.host();
  await stand.create(application(name));
  await stand.until("it is COMPLETED", () => stateOf(stand.get("SparkApplication", name)) === "COMPLETED");
  await stand.turn(60_000);
  await host.drain(1_000);
};

/** Starts a host; returns its requests about the application or its pods within a minute, apart from lists and watches. */
const askedBy = async (stand: Stand, name: string): Promise<readonly string[]> => {
  const before = stand.asked.length;
  await stand.host();
  await stand.turn(60_000);
  return stand.asked.slice(before).filter((line) => line.includes(name));
};

const isSame = (line: string): boolean => /^GET .*\/sparkapplications\/old-one$/.test(line);

const it = itOnStand();

describe("a host that starts beside a completed application", () => {
  it("reads neither it nor its record nor its pods", async (stand) => {
    await lived(stand, "old-one");
    assert.ok(stand.get("Pod", "old-one-driver") !== undefined, "its driver's pod is there");
    assert.deepEqual(await askedBy(stand, "old-one"), []);
  });

  it("reads no suspended one either, until it is resumed", async (stand) => {
    const host = await stand.host();
    await stand.create(application("old-one", { spec: { suspend: true } }));
    await stand.turn(60_000);
    assert.equal(stateOf(stand.get("SparkApplication", "old-one")), "SUSPENDED");
    await host.drain(1_000);
    assert.deepEqual(await askedBy(stand, "old-one"), []);
    await stand.patch("SparkApplication", "old-one", { spec: { suspend: false } });
    await stand.until("it is COMPLETED", () => stateOf(stand.get("SparkApplication", "old-one")) === "COMPLETED");
  });

  it("takes a step when its spec has changed while no host ran", async (stand) => {
    await lived(stand, "old-one");
    await stand.patch("SparkApplication", "old-one", { spec: { mainClass: "org.example.Other" } });
    assert.ok((await askedBy(stand, "old-one")).some(isSame));
  });

  it("takes a step when its status shows no end", async (stand) => {
    await lived(stand, "old-one");
    const object = stand.get("SparkApplication", "old-one");
    const status = { ...fieldsOf(object?.["status"]), applicationState: { state: "RUNNING" } };
    const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/old-one/status";
    await request(stand.simulator.transport, "PUT", path, { ...object, status });
    assert.ok((await askedBy(stand, "old-one")).some(isSame));
  });

  it("takes a step when its record is gone", async (stand) => {
    await lived(stand, "old-one");
    await stand.remove("Checkpoint", "sparkapplication.old-one");
    assert.notDeepEqual(await askedBy(stand, "old-one"), []);
  });

  it("takes a step when its spec changes later", async (stand) => {
    await lived(stand, "old-one");
    assert.deepEqual(await askedBy(stand, "old-one"), []);
    const before = stand.asked.length;
    await stand.patch("SparkApplication", "old-one", { spec: { mainClass: "org.example.Other" } });
    await stand.turn(30_000);
    assert.ok(stand.asked.slice(before).some(isSame));
  });

  it("reads it where the records cannot be listed", async (stand) => {
    await lived(stand, "old-one");
    stand.fault(({ path }) => (path.includes("/checkpoints?") ? answer(500, "InternalError", "away") : undefined));
    assert.notDeepEqual(await askedBy(stand, "old-one"), []);
  });
});

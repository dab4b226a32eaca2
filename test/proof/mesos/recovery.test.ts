/** Steps verified by the cases of Mesos' tests of agent recovery: the table is in README.md. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { numberAt, textAt } from "../sweep/fields.ts";
import { type Agent, appPath, openAgent, podPath, recordPath } from "./agent.ts";

const minute = 60_000;
const stateOf = (agent: Agent, name = "pi"): string | undefined =>
  textAt(agent.app(name), "status", "applicationState", "state");
const memoryOf = (agent: Agent, ...path: readonly string[]) => textAt(agent.record("pi"), "spec", "memory", ...path);
const attemptOf = (agent: Agent): number | undefined => numberAt(agent.record("pi"), "spec", "memory", "attempt");
const driverOf = (agent: Agent, name = "pi") => agent.pods(name, "driver")[0];
const creations = (agent: Agent): readonly string[] => agent.writes().filter((request) => request === "POST pods");

/** Returns a cluster with a running application: driver and executors are up, and the status is RUNNING. */
const running = async (scripts?: Parameters<typeof openAgent>[0], spec: object = {}): Promise<Agent> => {
  const agent = await openAgent(scripts);
  agent.apply("pi", spec);
  await agent.settle("pi");
  assert.equal(stateOf(agent), "RUNNING");
  agent.quiet();
  return agent;
};

const rerun = { restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } };

describe("recovery after a process died", () => {
  test("the record alone has the application's UID, the running attempt and the driver's UID", async () => {
    const agent = await running();
    assert.equal(textAt(agent.record("pi"), "spec", "uid"), agent.app("pi")?.metadata.uid);
    assert.equal(attemptOf(agent), 1);
    assert.equal(memoryOf(agent, "driver", "uid"), driverOf(agent)?.metadata.uid);
    assert.equal(memoryOf(agent, "state", "phase"), "RUNNING");
  });

  test("a driver whose step died after its creation is adopted, and none is created again", async () => {
    const agent = await openAgent();
    agent.apply("pi");
    assert.equal(await agent.step("pi", { at: 7, effect: true }), "dead");
    assert.equal(agent.pods("pi", "driver").length, 1);
    const { uid } = driverOf(agent)?.metadata ?? {};
    agent.quiet();
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), driverOf(agent)?.metadata.uid, attemptOf(agent)], ["RUNNING", uid, 1]);
  });

  test("a saved plan whose step died before the creation leads to exactly one driver", async () => {
    const agent = await openAgent();
    agent.apply("pi");
    assert.equal(await agent.step("pi", { at: 4, effect: false }), "dead");
    assert.deepEqual([agent.pods("pi").length, attemptOf(agent)], [0, 1]);
    agent.quiet();
    await agent.settle("pi");
    assert.deepEqual([creations(agent).length, stateOf(agent), attemptOf(agent)], [1, "RUNNING", 1]);
  });

  test("a hundred steps of an unchanged run write nothing", async () => {
    const agent = await running();
    for (let nth = 0; nth < 100; nth++) await agent.step("pi");
    assert.deepEqual(agent.writes(), []);
  });

  test("a resync after ten hours without a process keeps the run and writes nothing", async () => {
    const agent = await running();
    const { uid } = driverOf(agent)?.metadata ?? {};
    agent.pass(600 * minute);
    assert.equal(await agent.resync(), 1);
    assert.deepEqual([agent.writes(), driverOf(agent)?.metadata.uid], [[], uid]);
  });
});

describe("an end while no process runs", () => {
  test("a driver that failed meanwhile leads to FAILING and the next attempt", async () => {
    const agent = await running({ "*": [{ hangs: true }, { hangs: true }] }, rerun);
    agent.simulator.killPod("default", "pi-driver", { code: 137 });
    agent.pass(600 * minute);
    await agent.resync();
    assert.equal(stateOf(agent), "FAILING");
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), attemptOf(agent)], ["RUNNING", 2]);
  });

  test("a driver pod that was deleted without a watch event leads to the next attempt", async () => {
    const agent = await running({ "*": [{ hangs: true }, { hangs: true }] }, rerun);
    const { uid } = driverOf(agent)?.metadata ?? {};
    agent.ask("DELETE", podPath("pi-driver"));
    agent.pass(5 * minute);
    assert.equal(agent.pods("pi", "driver").length, 0);
    await agent.resync();
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), attemptOf(agent)], ["RUNNING", 2]);
    assert.notEqual(driverOf(agent)?.metadata.uid, uid);
  });

  test("a run that completed long ago is reported as COMPLETED, not as RUNNING", async () => {
    const agent = await running({ "*": [{ jobMs: 90_000 }] });
    agent.pass(24 * 60 * minute);
    await agent.resync();
    assert.equal(stateOf(agent), "COMPLETED");
  });

  test("a completed run is not run again", async () => {
    const agent = await openAgent({ "*": [{ jobMs: 2_000 }] });
    agent.apply("pi");
    await agent.settle("pi");
    assert.equal(stateOf(agent), "COMPLETED");
    agent.quiet();
    agent.pass(24 * 60 * minute);
    await agent.resync();
    for (let nth = 0; nth < 5; nth++) await agent.step("pi");
    assert.deepEqual(agent.writes(), []);
  });

  test("executors of the status without a pod are reported as UNKNOWN or FAILED", async () => {
    const agent = await running();
    for (const { metadata } of agent.pods("pi", "executor")) agent.ask("DELETE", podPath(metadata.name));
    const before = Object.keys(Object(Object(agent.app("pi")?.["status"])["executorState"]));
    agent.pass(minute);
    await agent.resync();
    await agent.settle("pi");
    const states = Object(Object(agent.app("pi")?.["status"])["executorState"]) as Record<string, string>;
    assert.equal(before.length, 2);
    assert.ok(
      before.every((name) => states[name] === "UNKNOWN" || states[name] === "FAILED"),
      JSON.stringify(states),
    );
  });
});

describe("a request of a user while no process runs", () => {
  test("an application that was deleted before its driver ran leaves no pod and no record", async () => {
    const agent = await openAgent();
    agent.apply("pi");
    await agent.step("pi");
    agent.remove("pi");
    agent.pass(10 * minute);
    await agent.resync();
    agent.pass(10 * minute);
    await agent.resync();
    assert.deepEqual([agent.pods("pi").length, agent.record("pi")], [0, undefined]);
  });

  test("a resync deletes the pods of an application whose deletion had no watch event, by UID", async () => {
    const agent = await running();
    agent.remove("pi");
    await agent.resync();
    agent.pass(10 * minute);
    await agent.resync();
    assert.deepEqual([agent.pods("pi").length, agent.record("pi")], [0, undefined]);
  });

  test("three applications that were deleted together leave no pods and no records", async () => {
    const agent = await openAgent();
    const names = ["ada", "bob", "cyd"];
    for (const name of names) agent.apply(name);
    for (const name of names) await agent.settle(name);
    for (const name of names) agent.remove(name);
    for (let round = 0; round < 3; round++) {
      agent.pass(5 * minute);
      await agent.resync();
    }
    assert.deepEqual(names.flatMap((name) => [...agent.pods(name), agent.record(name)]).filter(Boolean), []);
  });

  test("a suspension deletes the running driver, and leaves the driver of another application alone", async () => {
    const agent = await running();
    agent.apply("other");
    await agent.settle("other");
    const other = driverOf(agent, "other")?.metadata.uid;
    agent.ask("PATCH", appPath("pi"), { spec: { suspend: true } });
    await agent.settle("pi");
    assert.equal(stateOf(agent), "SUSPENDED");
    assert.deepEqual([agent.pods("pi", "driver").length, driverOf(agent, "other")?.metadata.uid], [0, other]);
  });

  test("a step that dies between the deletions of an attempt is followed by one that deletes the rest", async () => {
    const agent = await running({ "*": [{ hangs: true }, { hangs: true }] });
    agent.ask("PATCH", appPath("pi"), { spec: { arguments: ["2000"] } });
    for (const at of [10, 11, 12]) await agent.step("pi", { at, effect: true });
    await agent.settle("pi");
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), attemptOf(agent), agent.pods("pi", "driver").length], ["RUNNING", 2, 1]);
  });
});

describe("foreign objects, lost records and older statuses", () => {
  test("a foreign pod with the driver's name is neither adopted nor deleted", async () => {
    const agent = await openAgent();
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "pi-driver", namespace: "default" } };
    agent.ask("POST", "/api/v1/namespaces/default/pods", {
      ...body,
      spec: { containers: [{ name: "a", image: "b" }] },
    });
    const { uid } = agent.simulator.store.get("pods", "default/pi-driver")?.metadata ?? {};
    agent.apply("pi");
    await agent.settle("pi");
    assert.equal(stateOf(agent), "FAILED");
    assert.equal(agent.simulator.store.get("pods", "default/pi-driver")?.metadata.uid, uid);
  });

  test("a lost record is rebuilt from status and pods, without a creation or a deletion", async () => {
    const agent = await running();
    const { uid } = driverOf(agent)?.metadata ?? {};
    agent.ask("DELETE", recordPath("pi"));
    agent.quiet();
    await agent.resync();
    await agent.settle("pi");
    assert.deepEqual(
      [creations(agent), stateOf(agent), driverOf(agent)?.metadata.uid, attemptOf(agent)],
      [[], "RUNNING", uid, 1],
    );
    assert.deepEqual(
      agent.writes().filter((request) => request.startsWith("DELETE pods")),
      [],
    );
  });

  test("a status of an older writer is corrected from the record", async () => {
    const agent = await running();
    const older = { applicationState: { state: "SUBMITTED" }, submissionAttempts: 7, executionAttempts: 7 };
    agent.ask("PATCH", `${appPath("pi")}/status`, { status: older });
    await agent.settle("pi");
    assert.equal(stateOf(agent), "RUNNING");
    assert.equal(numberAt(agent.app("pi"), "status", "submissionAttempts"), 1);
    assert.deepEqual(creations(agent), []);
  });

  test("an application with a record of a newer schema does not stop another application", async () => {
    const agent = await running({ "*": [{ jobMs: 60_000 }] });
    agent.apply("bob");
    await agent.settle("bob", 2_000);
    agent.ask("PATCH", recordPath("pi"), { spec: { memory: null, schema: 99 } });
    agent.pass(5 * minute);
    await agent.resync();
    await agent.settle("bob");
    assert.equal(stateOf(agent, "bob"), "COMPLETED");
    assert.equal(agent.pods("pi", "driver").length, 1);
  });

  test("a paused application gets no record and no writes", async () => {
    const agent = await openAgent();
    agent.apply("pi", {}, { "rekindle.dev/paused": "true" });
    agent.quiet();
    await agent.settle("pi");
    await agent.resync();
    assert.deepEqual([agent.record("pi"), agent.writes()], [undefined, []]);
  });
});

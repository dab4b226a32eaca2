/** Steps verified by the cases of Mesos' tests of agent recovery: the table is in README.md. See recovery.md §1.7. */
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

describe("what was known is known to whoever comes next", () => {
  test("the record alone says whose it is, which attempt runs, and which body is its driver", async () => {
    const agent = await running();
    assert.equal(textAt(agent.record("pi"), "spec", "uid"), agent.app("pi")?.metadata.uid);
    assert.equal(attemptOf(agent), 1);
    assert.equal(memoryOf(agent, "driver", "uid"), driverOf(agent)?.metadata.uid);
    assert.equal(memoryOf(agent, "state", "phase"), "RUNNING");
  });

  test("a driver that was created by somebody who died then is adopted: none is created again", async () => {
    const agent = await openAgent();
    agent.apply("pi");
    assert.equal(await agent.step("pi", { at: 7, effect: true }), "dead");
    assert.equal(agent.pods("pi", "driver").length, 1);
    const { uid } = driverOf(agent)?.metadata ?? {};
    agent.quiet();
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), driverOf(agent)?.metadata.uid, attemptOf(agent)], ["RUNNING", uid, 1]);
  });

  test("a plan whose maker died before the driver was created brings exactly one driver", async () => {
    const agent = await openAgent();
    agent.apply("pi");
    assert.equal(await agent.step("pi", { at: 4, effect: false }), "dead");
    assert.deepEqual([agent.pods("pi").length, attemptOf(agent)], [0, 1]);
    agent.quiet();
    await agent.settle("pi");
    assert.deepEqual([creations(agent).length, stateOf(agent), attemptOf(agent)], [1, "RUNNING", 1]);
  });

  test("a hundred calls for what was done already write nothing", async () => {
    const agent = await running();
    for (let nth = 0; nth < 100; nth++) await agent.step("pi");
    assert.deepEqual(agent.writes(), []);
  });

  test("after hours in which nobody was there, everything goes on as the same, and nothing is written", async () => {
    const agent = await running();
    const { uid } = driverOf(agent)?.metadata ?? {};
    agent.pass(600 * minute);
    assert.equal(await agent.resync(), 1);
    assert.deepEqual([agent.writes(), driverOf(agent)?.metadata.uid], [[], uid]);
  });
});

describe("what ended while nobody was there", () => {
  test("a driver that failed is told as failed, and the next attempt is made", async () => {
    const agent = await running({ "*": [{ hangs: true }, { hangs: true }] }, rerun);
    agent.simulator.killPod("default", "pi-driver", { code: 137 });
    agent.pass(600 * minute);
    await agent.resync();
    assert.equal(stateOf(agent), "FAILING");
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), attemptOf(agent)], ["RUNNING", 2]);
  });

  test("a driver whose object has gone, unheard, is lost, and the next attempt is made", async () => {
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

  test("an end that came long ago is told as the end that it was, not as running", async () => {
    const agent = await running({ "*": [{ jobMs: 90_000 }] });
    agent.pass(24 * 60 * minute);
    await agent.resync();
    assert.equal(stateOf(agent), "COMPLETED");
  });

  test("what has completed is not run again by anybody", async () => {
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

  test("executors that a status names and nobody has are told as gone", async () => {
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

describe("what users asked for while nobody was there", () => {
  test("what was deleted before its driver ran never gets an executor", async () => {
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

  test("what was deleted, unheard, is ended by the next resync, by UID", async () => {
    const agent = await running();
    agent.remove("pi");
    await agent.resync();
    agent.pass(10 * minute);
    await agent.resync();
    assert.deepEqual([agent.pods("pi").length, agent.record("pi")], [0, undefined]);
  });

  test("of all that was deleted together, nothing is left", async () => {
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

  test("a suspension ends the driver that runs, by its UID, and no other", async () => {
    const agent = await running();
    agent.apply("other");
    await agent.settle("other");
    const other = driverOf(agent, "other")?.metadata.uid;
    agent.ask("PATCH", appPath("pi"), { spec: { suspend: true } });
    await agent.settle("pi");
    assert.equal(stateOf(agent), "SUSPENDED");
    assert.deepEqual([agent.pods("pi", "driver").length, driverOf(agent, "other")?.metadata.uid], [0, other]);
  });

  test("whoever died in the middle of ending an attempt is followed by somebody who ends the rest", async () => {
    const agent = await running({ "*": [{ hangs: true }, { hangs: true }] });
    agent.ask("PATCH", appPath("pi"), { spec: { arguments: ["2000"] } });
    for (const at of [10, 11, 12]) await agent.step("pi", { at, effect: true });
    await agent.settle("pi");
    await agent.settle("pi");
    assert.deepEqual([stateOf(agent), attemptOf(agent), agent.pods("pi", "driver").length], ["RUNNING", 2, 1]);
  });
});

describe("what is not ours, and what was ours in another life", () => {
  test("a pod of the driver's name and of somebody else is neither adopted nor deleted", async () => {
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

  test("a record that was lost is made again from status and pods: nothing is created, nothing deleted", async () => {
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

  test("a status that an older writer left is set right from the record", async () => {
    const agent = await running();
    const older = { applicationState: { state: "SUBMITTED" }, submissionAttempts: 7, executionAttempts: 7 };
    agent.ask("PATCH", `${appPath("pi")}/status`, { status: older });
    await agent.settle("pi");
    assert.equal(stateOf(agent), "RUNNING");
    assert.equal(numberAt(agent.app("pi"), "status", "submissionAttempts"), 1);
    assert.deepEqual(creations(agent), []);
  });

  test("of two applications one has a poisoned record, and the other goes on", async () => {
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

  test("what is paused has no record, and its loss is nobody's act", async () => {
    const agent = await openAgent();
    agent.apply("pi", {}, { "rekindle.dev/paused": "true" });
    agent.quiet();
    await agent.settle("pi");
    await agent.resync();
    assert.deepEqual([agent.record("pi"), agent.writes()], [undefined, []]);
  });
});

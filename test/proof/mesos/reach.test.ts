/** Steps after a time without any process: orders reach executors, and the status reports what executors have done. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textAt } from "../sweep/fields.ts";
import { type Agent, appPath, openAgent, recordPath } from "./agent.ts";

const minute = 60_000;
const own = { "rekindle.dev/executors": "own" };

const stateOf = (agent: Agent, name = "pi"): string | undefined =>
  textAt(agent.app(name), "status", "applicationState", "state");

const uidsOf = (agent: Agent, name = "pi"): readonly string[] => agent.pods(name).map(({ metadata }) => metadata.uid);

const executorStates = (agent: Agent): readonly unknown[] =>
  Object.values(Object(Object(agent.app("pi")?.["status"])["executorState"]));

describe("ReconnectDefaultExecutor: pods of one run that are not in the status", () => {
  const modes = [
    { name: "executors of the driver", annotations: {} },
    { name: "executors of Rekindle", annotations: own },
  ] as const;
  for (const { name, annotations } of modes)
    test(`${name}: the status has the state of each pod, and no pod is created again`, async () => {
      const agent = await openAgent();
      agent.apply("pi", {}, annotations);
      await agent.settle("pi");
      const before = uidsOf(agent);
      agent.ask("PATCH", `${appPath("pi")}/status`, { status: { executorState: null, applicationState: null } });
      agent.pass(10 * minute);
      await agent.resync();
      assert.equal(stateOf(agent), "RUNNING");
      assert.deepEqual(executorStates(agent), ["RUNNING", "RUNNING"]);
      assert.deepEqual(uidsOf(agent), before);
    });
});

describe("KillTaskWithHTTPExecutor: a request of a user while no process runs", () => {
  const orders: readonly (readonly [what: string, give: (agent: Agent) => void])[] = [
    ["a suspension", (agent) => agent.ask("PATCH", appPath("pi"), { spec: { suspend: true } })],
    ["a deletion", (agent) => agent.remove("pi")],
  ];
  for (const [what, give] of orders)
    test(`${what} deletes the executors of Rekindle by UID, and leaves those of another run alone`, async () => {
      const agent = await openAgent();
      for (const name of ["pi", "other"]) agent.apply(name, {}, own);
      for (const name of ["pi", "other"]) await agent.settle(name);
      const others = uidsOf(agent, "other");
      assert.deepEqual([agent.pods("pi", "executor").length, others.length], [2, 3]);
      give(agent);
      agent.pass(10 * minute);
      await agent.resync();
      agent.pass(minute);
      await agent.resync();
      assert.deepEqual([uidsOf(agent), uidsOf(agent, "other")], [[], others]);
    });
});

const unsealed = { metadata: { annotations: { "rekindle.dev/seal": null } } };

describe("RegisterDisconnectedSlave: a run with executors of Rekindle and a lost record", () => {
  const losses: readonly (readonly [what: string, lose: (agent: Agent) => void])[] = [
    ["without any record", (agent) => agent.ask("DELETE", recordPath("pi"))],
    [
      "without the allotment of its record",
      (agent) => agent.ask("PATCH", recordPath("pi"), { ...unsealed, spec: { memory: { allotment: null } } }),
    ],
  ];
  const idsOf = (agent: Agent): readonly number[] =>
    agent.pods("pi", "executor").map(({ metadata }) => Number(metadata.labels?.["spark-exec-id"]));

  for (const [what, lose] of losses)
    test(`${what}: gets further executors under unused ids, and can be scaled`, async () => {
      const agent = await openAgent();
      agent.apply("pi", {}, own);
      await agent.settle("pi");
      const driver = agent.pods("pi", "driver")[0]?.metadata.uid;
      lose(agent);
      agent.pass(minute);
      await agent.resync();
      await agent.settle("pi");
      const [first = ""] = agent.pods("pi", "executor").map(({ metadata }) => metadata.name);
      agent.simulator.killPod("default", first, { code: 137 });
      await agent.settle("pi");
      agent.ask("PATCH", appPath("pi"), { spec: { executor: { instances: 4 } } });
      await agent.settle("pi");
      const phases = agent.pods("pi", "executor").map((pod) => textAt(pod, "status", "phase"));
      assert.equal(phases.filter((phase) => phase === "Running").length, 4);
      assert.ok(new Set(idsOf(agent)).size === idsOf(agent).length && Math.max(...idsOf(agent)) > 10_000);
      assert.equal(agent.pods("pi", "driver")[0]?.metadata.uid, driver);
    });
});

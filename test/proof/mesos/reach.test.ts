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

describe("ReconnectDefaultExecutor: several bodies of one run, of which nobody has seen any", () => {
  const modes = [
    { name: "made by the driver", annotations: {} },
    { name: "made here", annotations: own },
  ] as const;
  for (const { name, annotations } of modes)
    test(`${name}: all are told as they are, and none is made again`, async () => {
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

describe("KillTaskWithHTTPExecutor: an order that came while nobody was there", () => {
  const orders: readonly (readonly [what: string, give: (agent: Agent) => void])[] = [
    ["a suspension", (agent) => agent.ask("PATCH", appPath("pi"), { spec: { suspend: true } })],
    ["a deletion", (agent) => agent.remove("pi")],
  ];
  for (const [what, give] of orders)
    test(`${what} reaches the executors that were made here, by their UIDs, and nobody else's`, async () => {
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

describe("RegisterDisconnectedSlave: a run whose executors were made here, and whose record is lost", () => {
  const losses: readonly (readonly [what: string, lose: (agent: Agent) => void])[] = [
    ["altogether", (agent) => agent.ask("DELETE", recordPath("pi"))],
    [
      "in what tells of its executors",
      (agent) => agent.ask("PATCH", recordPath("pi"), { ...unsealed, spec: { memory: { allotment: null } } }),
    ],
  ];
  const idsOf = (agent: Agent): readonly number[] =>
    agent.pods("pi", "executor").map(({ metadata }) => Number(metadata.labels?.["spark-exec-id"]));

  for (const [what, lose] of losses)
    test(`${what}: goes on to be given executors, under ids that nobody had, and may be scaled`, async () => {
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

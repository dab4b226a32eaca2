/** `rekindle status` of what runs: its executors, since when it waits, and a Connect server that is not ready. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { sparkConnectInspection } from "../../../shared/spark/connect/inspection.ts";
import { application, make, openTerminal } from "../cli/terminal.ts";
import { checkpoint, driver, running, start } from "./objects.ts";

describe("rekindle status of a running application", () => {
  const spec = { spec: { executor: { instances: 3 } } };
  const pod = (name: string, phase: string): Obj => ({
    ...driver("app", { phase }),
    metadata: {
      ...driver("app", {}).metadata,
      name,
      labels: { "sparkoperator.k8s.io/app-name": "app", "spark-role": "executor" },
    },
  });
  const seconds = start / 1_000;
  const record = {
    waitsFor: "the driver to finish",
    memory: { attempt: 1, executors: { lost: { killed: 1, finished: 2 } } },
    timeline: {
      waits: [["the driver to start", seconds - 120, seconds - 60]],
      waiting: ["the driver to finish", seconds - 60],
    },
  };
  const opened = async (spec: object) => {
    const terminal = openTerminal();
    const app = application("app", running);
    const pods = [pod("e-1", "Running"), pod("e-2", "Running"), pod("e-3", "Pending")];
    const all = [{ ...app, spec: { ...Object(app["spec"]), ...spec } }, driver("app", { phase: "Running" }), ...pods];
    await make(terminal.simulator, ...all, checkpoint("app", record));
    return terminal;
  };

  test("counts its executors by their pods, and those that it lost", async () => {
    const terminal = await opened(spec.spec);
    assert.match((await terminal.run("status", "app")).out, /^executors {2}2 of 3 run, 1 lost$/m);
    const { executors } = JSON.parse((await terminal.run("status", "app", "-o", "json")).out);
    assert.deepEqual(executors, { running: 2, wanted: 3, lost: { killed: 1, finished: 2 }, losses: [] });
    const dynamic = await opened({ ...spec.spec, dynamicAllocation: { enabled: true } });
    assert.match((await dynamic.run("status", "app")).out, /^executors {2}2 run, 1 lost$/m);
  });

  test("waits since its open wait began, in text and in data", async () => {
    const terminal = await opened(spec.spec);
    assert.match((await terminal.run("status", "app")).out, /^since {6}2026-11-02T07:59:00Z \(1m ago\)$/m);
    const told = JSON.parse((await terminal.run("status", "app", "-o", "json")).out);
    assert.equal(told.since, told.waits.at(-1).from);
  });
});

test("a SparkConnect that is not ready names the log of its server, unless its message says what to correct", () => {
  const told = (message: string, server: object = { podIp: "10.0.0.7" }) =>
    sparkConnectInspection.stateOf({
      apiVersion: "sparkoperator.k8s.io/v1alpha1",
      kind: "SparkConnect",
      metadata: { name: "sc", namespace: "team-a" },
      status: { state: "NotReady", server, conditions: [{ status: "False", message }] },
    });
  const silent = told("Server pod is not ready: ");
  assert.equal(silent.message, "Server pod is not ready");
  assert.match(silent.what.todo, /rekindle log sparkconnect\/team-a\/sc$/);
  const podless = told("Server pod is not ready: ", {});
  assert.deepEqual([podless.what.waitsFor, podless.what.todo.includes("log")], ["its server to start", false]);
  assert.equal(told("exceeded quota").what.todo, "correct what the message names");
});

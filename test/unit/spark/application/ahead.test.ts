/**
 * Order of work where Rekindle creates the executors (`own`): a replacement comes before any probe of other executors.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { same } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Looking } from "../../../../shared/core/plan.ts";
import { decide } from "../../../../shared/spark/application/decide.ts";
import { relevant } from "../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../shared/spark/executors/allotment.ts";
import { podsOf } from "../../../../shared/spark/schema/pod-query.ts";
import { type Answering, resultOf } from "../../../support/decisions.ts";
import { does } from "../../../support/plans.ts";
import { registered } from "./attended.ts";
import { application, asked, decided, driver, eight, key, pod, remembered, said, settings, spec } from "./fixtures.ts";

const app = (instances: number): Stored =>
  application({
    metadata: { annotations: { "rekindle.dev/executors": "own" } },
    spec: { ...spec, executor: { instances, cores: 1, memory: "512m" } },
    status: {
      applicationState: { state: "RUNNING" },
      submissionID: "submission-1",
      driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
      executorState: { "p-exec-1001": "RUNNING", "p-exec-1002": "RUNNING", "p-exec-1003": "RUNNING" },
    },
  });

const memory = remembered({
  driver,
  spec: relevant(app(3), true),
  allotment: { ...newAllotment(1, "p", undefined), listens: true, next: 1004, alive: "1001-1003" },
});

const executor = (id: number, exitCode?: number): Stored =>
  pod({
    ...{ role: "executor", owner: "driver-1", executor: id, name: `p-exec-${id}`, uid: `u-${id}` },
    ...(exitCode === undefined ? {} : { phase: "Failed", exitCode, finishedAt: "2026-11-02T07:59:59Z" }),
  });

/** Returns the pod not ready on a node, so that the executor monitor reads the node. */
const doubtful = (of: Stored): Stored => ({
  ...of,
  spec: { nodeName: "n1" },
  status: { ...Object(of["status"]), conditions: [{ type: "Ready", status: "False" }] },
});

/** Answers the list of pods, and fails the test on any other read. */
const listing = (pods: readonly Stored[]): Answering => ({
  objects: (query: Looking) => {
    assert.ok(same(query, podsOf(key)), "it read more than the list of pods");
    return pods;
  },
});

describe("a missing executor", () => {
  const pods = [pod(), executor(1001), doubtful(executor(1002)), executor(1003, 1)];
  const view = { object: app(3), uid: "app-1", memory, now: eight, refused: [] };

  test("is created on cached objects, before the step reads a node", () => {
    const plan = resultOf(decide(settings, key, view), listing(pods));
    assert.match(plan.stages.flat().map(said).join(), /^create pods \S+-exec-1004 of attempt 1$/);
    assert.deepEqual([does(plan, "continue"), plan.safety?.live], [true, undefined]);
  });

  test("is created once: then the step reads the node and records the loss", () => {
    const { plan, looks, before } = decided({ object: app(3), memory, pods });
    assert.equal(before.filter((effect) => said(effect).startsWith("create pods")).length, 1);
    assert.ok(looks.map(asked).some((line) => line.startsWith("getIfAllowed nodes n1")));
    assert.equal(
      plan.stages.flat().some((effect) => said(effect).startsWith("create pods")),
      false,
    );
    assert.equal(plan.memory.executors?.lost?.failed, 1);
  });
});

describe("the pod of an executor that has ended", () => {
  const view = { object: app(3), memory, now: eight, refused: [], uid: "app-1" };
  const planned = (before: typeof memory, ...last: readonly Stored[]) =>
    resultOf(
      decide(settings, key, { ...view, memory: before }),
      listing([pod(), executor(1001), executor(1002), ...last]),
    );

  const over = { attempt: 1, live: "1001-1002", marks: "1001000010020000", over: "1003", lost: { terminated: 1 } };

  test("does not delay the replacement, whose plan needs no live reads", () => {
    const plan = planned(memory, executor(1003, 143));
    const acts = plan.stages
      .flat()
      .map(said)
      .filter((line) => / pods /.test(line));
    assert.match(acts.join(), /^create pods \S+-exec-1004 of attempt 1$/);
    assert.equal(plan.safety?.live, undefined);
  });

  test("is deleted in the next step, on cached objects", () => {
    const allotment = { ...newAllotment(1, "p", undefined), listens: true, next: 1005, alive: "1001-1002,1004" };
    const plan = planned({ ...memory, allotment, executors: over }, executor(1003, 143), executor(1004));
    const acts = plan.stages
      .flat()
      .map(said)
      .filter((line) => / pods /.test(line));
    assert.deepEqual(acts, ["delete pods p-exec-1003 if it is u-1003"]);
    assert.equal(plan.safety?.live, undefined);
  });

  test("is deleted if a pod of another attempt, which may live, is deleted with it", () => {
    const stray = pod({ role: "executor", executor: 7, name: "stray", uid: "u-7", submission: "another" });
    const plan = planned(memory, executor(1003, 143), stray);
    assert.ok(plan.stages.flat().some((effect) => effect.do === "delete"));
  });
});

describe("an executor with a recorded end that a list returns as running", () => {
  const executors = { attempt: 1, live: "1002-1003", marks: "1002000010030000", over: "1001", lost: { terminated: 1 } };
  const allotment = { ...newAllotment(1, "p", undefined), listens: true, next: 1004, alive: "1002-1003" };
  const given = {
    object: app(2),
    memory: { ...memory, allotment, executors },
    pods: [pod(), executor(1001), executor(1002), executor(1003)],
    hears: { allexecutors: registered({ 1002: [true, 0], 1003: [true, 0] }) },
  };
  const deletions = (plan: ReturnType<typeof decided>["plan"]): readonly string[] =>
    plan.stages
      .flat()
      .map(said)
      .filter((line) => line.startsWith("delete pods"));

  test("is read by name, and if it is gone there is no surplus executor", () => {
    const { plan, looks } = decided({ ...given, live: [executor(1002), executor(1003)] });
    assert.ok(looks.map(asked).includes("get pods p-exec-1001"));
    assert.deepEqual(deletions(plan), []);
  });

  test("counts as an executor if it runs", () => {
    const { plan } = decided(given);
    assert.equal(deletions(plan).length, 1);
  });
});

describe("a surplus executor", () => {
  test("is recorded as dismissed before its deletion, and is no reported loss", () => {
    const pods = [pod(), executor(1001), executor(1002), executor(1003)];
    const hears = { allexecutors: registered({ 1001: [true, 1], 1002: [true, 1], 1003: [true, 0] }) };
    const { plan } = decided({ object: app(2), memory, pods, hears });
    assert.deepEqual(
      plan.memory.executors?.doomed?.map(({ id, reason }) => [id, reason]),
      [[1003, "dismissed"]],
    );
    assert.ok(plan.stages.flat().map(said).includes("delete pods p-exec-1003 if it is u-1003 at 1"));
  });
});

/** The states of an application are reported once, at whichever call a step dies, and kept in its history. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { omit } from "../../../../../shared/core/json.ts";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Plan } from "../../../../../shared/core/plan.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import { application, decided, driver, eight, pod, remembered, said, spec } from "../fixtures.ts";

const told = ({ stages }: Plan<Memory>): readonly string[] =>
  stages.flat().flatMap((effect) => (effect.do === "record" ? [`${effect.reason} (${effect.occasion})`] : []));

const shown = (status: unknown): Stored => application({ status });

describe("the Event of a state", () => {
  const first = decided({ object: application() }).plan;

  test("is recorded in the step that reaches the state", () => {
    assert.deepEqual(told(first), ["SparkApplicationSubmitted (1 1)"]);
  });

  test("is not recorded again once the status has the state", () => {
    const { driver } = first.memory;
    const body = pod({ submission: driver?.submissionId ?? "", phase: "Pending" });
    const next = decided({ object: shown(first.status), memory: first.memory, pods: [body] }).plan;
    const seen = { ...omit(first.memory, "plannedAt"), driver: { ...driver, uid: body.metadata.uid } };
    assert.deepEqual([told(next), next.memory], [[], seen]);
  });

  test("is recorded again, under the same name, while the status lacks the state", () => {
    const submission = first.memory.driver?.submissionId ?? "";
    const next = decided({
      object: application(),
      memory: first.memory,
      pods: [pod({ submission, phase: "Pending" })],
    });
    assert.deepEqual(told(next.plan), ["SparkApplicationSubmitted (1 1)"]);
  });

  test("is recorded again while the status has the same state of an earlier submission", () => {
    const submission = first.memory.driver?.submissionId ?? "";
    const object = shown({ ...(first.status as object), submissionID: "of the driver before" });
    const next = decided({ object, memory: first.memory, pods: [pod({ submission, phase: "Pending" })] });
    assert.deepEqual(told(next.plan), ["SparkApplicationSubmitted (1 1)"]);
  });

  test("that no status confirmed is recorded with the next ones, in their order", () => {
    const submission = first.memory.driver?.submissionId ?? "";
    const ended = [pod({ submission, phase: "Succeeded", exitCode: 0 })];
    const second = decided({ object: application(), memory: first.memory, pods: ended }).plan;
    assert.deepEqual(told(second), [
      "SparkApplicationSubmitted (1 1)",
      "SparkDriverCompleted (1 1)",
      "SparkApplicationCompleted (1 1)",
    ]);
    const after = decided({ object: shown(second.status), memory: second.memory, pods: ended }).plan;
    assert.deepEqual([told(after), after.memory], [[], second.memory]);
  });

  test("is recorded also for a state that one step enters and leaves", () => {
    const memory = remembered({ state: { phase: "SUSPENDED" }, plannedAt: eight - 60_000 });
    const { plan } = decided({ object: shown({ applicationState: { state: "SUSPENDED" } }), memory });
    assert.deepEqual(told(plan), ["SparkApplicationResuming (1 1)", "SparkApplicationSubmitted (1 2)"]);
  });

  test("is only SubmissionFailed for a refused submission", () => {
    const effect = first.stages[1]?.[0];
    assert.ok(effect !== undefined);
    const refused = [{ effect, status: 422, reason: "Invalid", message: "no" }];
    const { plan } = decided({ object: application(), memory: first.memory, refused });
    assert.deepEqual(told(plan), ["SparkApplicationSubmissionFailed (1 1)"]);
  });

  test("is not recorded for a state that another controller left in the status", () => {
    const object = shown({ applicationState: { state: "COMPLETED" }, terminationTime: "2026-11-02T07:00:00Z" });
    assert.deepEqual(told(decided({ object }).plan), []);
  });

  test("is DriverNotFound for a driver that is gone", () => {
    const object = shown({ applicationState: { state: "RUNNING" } });
    const { plan } = decided({ object, memory: remembered({ driver }) });
    assert.deepEqual(plan.stages.flat().map(said), [
      "tell Warning SparkDriverNotFound (1 1): Driver spark-pi-driver was not found: driver pod not found",
      "tell Warning SparkApplicationFailed (1 1): SparkApplication spark-pi failed: driver pod not found",
    ]);
  });

  test("has at most 1,000 characters, and at most eight Events wait", () => {
    const error = "x".repeat(4_000);
    const memory = remembered({
      state: { phase: "FAILING", endedAt: eight, error },
      untold: Array.from({ length: 8 }, (_, at) => ({ type: "Normal", reason: `R${at}`, occasion: "", message: "" })),
    });
    const { untold = [] } = decided({ object: application(), memory }).plan.memory;
    assert.deepEqual([untold.length, untold.at(-1)?.reason], [8, "SparkApplicationFailed"]);
    assert.ok((untold.at(-1)?.message.length ?? 0) <= 1_000);
  });
});

describe("the Event of an executor", () => {
  const executor = (id: number, phase: string) =>
    pod({ name: `exec-${id}`, uid: `uid-${id}`, role: "executor", owner: "driver-1", executor: id, phase });
  const status = (executorState: object) =>
    shown({ applicationState: { state: "RUNNING" }, submissionID: "submission-1", executorState });
  const cases: readonly { name: string; before: object; pods: readonly Stored[]; want: readonly string[] }[] = [
    {
      name: "is Pending for a new executor",
      before: {},
      pods: [executor(1, "Pending")],
      want: ["SparkExecutorPending (exec-1)"],
    },
    {
      name: "is Running when the executor runs",
      before: { "exec-1": "PENDING" },
      pods: [executor(1, "Running")],
      want: ["SparkExecutorRunning (exec-1)"],
    },
    {
      name: "is Failed when the executor failed",
      before: { "exec-1": "RUNNING" },
      pods: [executor(1, "Failed")],
      want: ["SparkExecutorFailed (exec-1)"],
    },
    {
      name: "is Unknown when the executor is gone",
      before: { "exec-1": "RUNNING" },
      pods: [],
      want: ["SparkExecutorUnknown (exec-1)"],
    },
    { name: "is not recorded twice", before: { "exec-1": "RUNNING" }, pods: [executor(1, "Running")], want: [] },
  ];
  for (const { name, before, pods, want } of cases) {
    test(name, () => {
      const { plan } = decided({ object: status(before), memory: remembered({ driver }), pods: [pod(), ...pods] });
      assert.deepEqual(told(plan), want);
    });
  }

  test("is recorded for at most 25 executors in a step", () => {
    const pods = Array.from({ length: 100 }, (_, at) => executor(at + 1, "Running"));
    const { plan } = decided({ object: status({}), memory: remembered({ driver }), pods: [pod(), ...pods] });
    assert.equal(told(plan).length, 25);
  });
});

describe("the history", () => {
  test("has every state with its attempt and time, the latest twenty", () => {
    const { plan } = decided({ object: application() });
    assert.deepEqual(plan.memory.history, [{ phase: "SUBMITTED", attempt: 1, at: eight }]);
    const old = Array.from({ length: 20 }, (_, attempt) => ({ phase: "FAILED", attempt, at: 0 }));
    const changed = application({ spec: { ...spec, arguments: ["9"] }, metadata: { generation: 2 } });
    const { history = [] } = decided({ object: changed, memory: remembered({ history: old }) }).plan.memory;
    assert.deepEqual([history.length, history[0]?.attempt, history.at(-1)?.phase], [20, 2, "PENDING_RERUN"]);
  });
});

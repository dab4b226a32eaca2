/**
 * Executors that are read again because a list shows them otherwise than the record or the status: a pod of another owner
 * does not count, and the status goes by what the second read shows.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { type Memory, relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { markOf } from "../../../../../shared/spark/executors/ledger.ts";
import type { Lifetime } from "../../../../../shared/spark/executors/lifetimes.ts";
import { waitIn } from "../../../../support/plans.ts";
import { application, asked, decided, driver, eight, pod, remembered, said, spec } from "../fixtures.ts";

const shown = (first: string, second: string) => ({
  applicationState: { state: "RUNNING" },
  submissionID: "submission-1",
  driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
  executorState: { "spark-pi-1-exec-1001": first, "spark-pi-1-exec-1002": second },
});

const own = {
  metadata: { annotations: { "rekindle.dev/executors": "own" }, generation: 1 },
  spec: { ...spec, executor: { instances: 2, cores: 1, memory: "512m" } },
};
const object = application(own);
const allotment = { ...newAllotment(1, "spark-pi-1", undefined), listens: true, next: 1003, alive: "1001-1002" };
const memory = remembered({ driver, allotment, spec: relevant(object, true) });

const executor = (id: number, owner: string): Stored =>
  pod({ role: "executor", owner, executor: id, name: `spark-pi-1-exec-${id}`, uid: `u-${id}-${owner}` });

describe("a step reads an executor that is not listed by name", () => {
  const rows: readonly (readonly [what: string, owner: string, does: RegExp | undefined])[] = [
    ["and keeps it if the driver owns the pod", "driver-1", undefined],
    ["and keeps it if the application owns the pod", "app-1", undefined],
    ["and replaces it if another object owns the pod, which is left alone", "app-2", /^create pods .*-1003 /],
  ];
  for (const [what, owner, does] of rows)
    test(what, () => {
      const listed = [pod(), executor(1001, "driver-1")];
      const { plan } = decided({ object, memory, pods: listed, live: [...listed, executor(1002, owner)] });
      const done = plan.stages
        .flat()
        .map(said)
        .filter((line) => /^(create|delete)/.test(line));
      assert.equal(done.length, does === undefined ? 0 : 1);
      assert.match(done.join(), does ?? /^$/);
    });
});

const first = executor(1001, "driver-1");
const second = executor(1002, "driver-1");
const unscheduled: Stored = {
  ...second,
  metadata: { ...second.metadata, creationTimestamp: "2026-11-02T07:00:00Z" },
  status: { phase: "Pending" },
};
const running = { "spark-pi-1-exec-1001": "RUNNING", "spark-pi-1-exec-1002": "RUNNING" };

describe("a step whose list of executors is behind", () => {
  const behind: readonly (readonly [what: string, list: readonly Stored[]])[] = [
    ["lacks one that runs", [pod(), first]],
    ["shows one before its start", [pod(), first, unscheduled]],
  ];
  for (const [what, pods] of behind)
    test(`writes and reports nothing about executors if the list ${what}`, () => {
      const world = { object: application({ ...own, status: shown("RUNNING", "RUNNING") }), memory };
      const live = [pod(), first, second];
      const { plan, looks, before } = decided({ ...world, pods, live, again: live });
      assert.deepEqual(plan.status?.["executorState"], running);
      assert.deepEqual([...before, ...plan.stages.flat()].map(said), []);
      assert.equal(looks.filter((query) => asked(query) === "get pods spark-pi-1-exec-1002").length, 1);
    });

  test("shows an executor pending if the second read does, too", () => {
    const world = { object: application({ ...own, status: shown("RUNNING", "RUNNING") }), memory };
    const { plan } = decided({ ...world, pods: [pod(), first, unscheduled] });
    assert.deepEqual(plan.status?.["executorState"], { ...running, "spark-pi-1-exec-1002": "PENDING" });
  });

  test("reads no executor again that the status shows as the list does", () => {
    const world = { object: application({ ...own, status: shown("RUNNING", "PENDING") }), memory };
    const { looks } = decided({ ...world, pods: [pod(), first, unscheduled] });
    assert.deepEqual(
      looks.map(asked).filter((line) => line.startsWith("get pods")),
      [],
    );
  });

  const ended = pod({
    ...{ role: "executor", owner: "driver-1", executor: 1001, name: "spark-pi-1-exec-1001", uid: "u-1001" },
    ...{ phase: "Failed", exitCode: 143, finishedAt: "2026-11-02T07:59:59Z" },
  });
  const after = {
    ...memory,
    allotment: { ...allotment, next: 1004, alive: "1002-1003" },
    executors: {
      attempt: 1,
      over: "1001",
      live: "1002-1003",
      marks: [1002, 1003].map((id) => markOf(executor(id, "driver-1").metadata.uid)).join(""),
    },
  };

  test("deletes no pod that the list shows ended: the next step does", () => {
    const third = executor(1003, "driver-1");
    const status = shown("FAILED", "RUNNING");
    const world = { object: application({ ...own, status }), memory: after, live: [pod(), second, third] };
    const deleted = (pods: readonly Stored[]) => {
      const { plan } = decided({ ...world, pods });
      return {
        lines: plan.stages
          .flat()
          .map(said)
          .filter((line) => line.startsWith("delete")),
        wait: waitIn(plan),
      };
    };
    assert.deepEqual(deleted([pod(), ended, second, third]).lines, [
      "delete pods spark-pi-1-exec-1001 if it is u-1001",
    ]);
    const { lines, wait } = deleted([pod(), ended, second]);
    assert.deepEqual(lines, []);
    assert.equal(wait.pollMs, 1_000);
  });

  test("writes and reports nothing about executors where the driver creates them", () => {
    const [one, two] = [executor(1, "driver-1"), executor(2, "driver-1")];
    const executorState = { "spark-pi-1-exec-1": "RUNNING", "spark-pi-1-exec-2": "RUNNING" };
    const assisted = application({ spec: own.spec, status: { ...shown("", ""), executorState } });
    const marks = [one, two].map(({ metadata }) => markOf(metadata.uid)).join("");
    const executors = { attempt: 1, live: "1-2", marks };
    const world = { object: assisted, memory: remembered({ driver, executors }) };
    const { plan } = decided({ ...world, pods: [pod(), one], again: [one, two] });
    assert.deepEqual(plan.status?.["executorState"], executorState);
    assert.deepEqual(plan.stages.flat().map(said), []);
  });

  test("counts no executor lost that is being deleted, and whose pod a read by name finds", () => {
    const leaving = { ...second, metadata: { ...second.metadata, deletionTimestamp: "2026-11-02T07:59:59Z" } };
    const executors = {
      attempt: 1,
      live: "1001-1002",
      marks: [first, second].map(({ metadata }) => markOf(metadata.uid)).join(""),
    };
    const known = { ...memory, allotment: { ...allotment, alive: "1001" }, executors };
    const world = { object: application({ ...own, status: shown("RUNNING", "RUNNING") }), memory: known };
    const lost = (live: readonly Stored[]) =>
      decided({ ...world, pods: [pod(), first], live }).plan.memory.executors?.lost;
    assert.equal(lost([pod(), first, leaving]), undefined);
    assert.deepEqual(lost([pod(), first]), { deleted: 1 });
  });
});

test("a status that is older than the record shows the ends that the record knows", () => {
  const lifetime: Lifetime = [1001, 1_793_606_000, 1, 100, "node-0", "killed"];
  const executors: Memory["executors"] = { attempt: 1, over: "1001", lifetimes: [lifetime], ran: [99, 99] };
  // A replacement is on its way, so the step creates none, and writes the status.
  const replaced = { ...allotment, next: 1004, alive: "1002", underway: [{ ids: "1003", at: eight }] };
  const known = remembered({ driver, allotment: replaced, spec: memory.spec, executors });
  const { plan } = decided({
    object: application({ ...own, status: shown("RUNNING", "RUNNING") }),
    memory: known,
    pods: [pod(), second],
  });
  assert.deepEqual(plan.status?.["executorState"], { ...running, "spark-pi-1-exec-1001": "FAILED" });
});

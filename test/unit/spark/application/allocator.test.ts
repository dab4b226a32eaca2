/**
 * Limits of Rekindle as a run's allocator: ids of one run, executors of one step, single tasks after a lack of memory.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { type Plan, wholeOf } from "../../../../shared/core/plan.ts";
import { type Memory, relevant } from "../../../../shared/spark/application/state/memory.ts";
import { handedOut, newAllotment } from "../../../../shared/spark/executors/allotment.ts";
import { waitIn } from "../../../support/plans.ts";
import { application, decided, driver, pod, remembered, said, spec } from "./fixtures.ts";

type Confs = Readonly<Record<string, string>>;

type Asked = { readonly instances?: number; readonly sparkVersion?: string; readonly sparkConf?: Confs };

const app = ({ instances = 2, sparkVersion = "4.2.1", sparkConf = {} }: Asked): Stored =>
  application({
    metadata: { annotations: { "rekindle.dev/executors": "own" }, generation: 1 },
    spec: { ...spec, sparkVersion, sparkConf, executor: { instances, cores: 4, memory: "512m" } },
    status: {
      applicationState: { state: "RUNNING" },
      submissionID: "submission-1",
      driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
    },
  });

const executor = (id: number, end: { readonly exitCode?: number; readonly reason?: string } = {}): Stored => {
  const phase = end.exitCode === undefined ? "Running" : "Failed";
  const finishedAt = "2026-11-02T07:59:59Z";
  return pod({
    ...{ role: "executor", owner: "driver-1", executor: id, phase, name: `spark-pi-1-exec-${id}`, uid: `u-${id}` },
    ...(end.exitCode === undefined ? {} : { ...end, finishedAt }),
  });
};

type Allotted = Partial<NonNullable<Memory["allotment"]>>;

const step = (asked: Asked, allotted: Allotted, pods: readonly Stored[], more: Partial<Memory> = {}): Plan<Memory> => {
  const object = app(asked);
  const allotment = { ...newAllotment(1, "spark-pi-1", undefined), listens: true, ...allotted };
  const memory = remembered({ driver, allotment, spec: relevant(object, true), ...more });
  return decided({ object, memory, pods: [pod(), ...pods] }).plan;
};

const madeIn = ({ stages }: Plan<Memory>): readonly Obj[] =>
  stages.flat().flatMap((effect) => (effect.do === "create" ? [wholeOf(effect)] : []));

const toldIn = ({ stages }: Plan<Memory>): readonly string[] =>
  stages
    .flat()
    .map(said)
    .flatMap((line) => /^tell Warning (Executor(?:MaximumReached|RecoveryMode))/.exec(line)?.[1] ?? []);

const coresOf = (object: Obj | undefined): string | undefined =>
  /"SPARK_EXECUTOR_CORES","value":"(\d+)"/.exec(JSON.stringify(object))?.[1];

const two = { next: 1003, alive: "1001-1002" };

describe("executors after an OutOfMemory loss", () => {
  const off = { "spark.kubernetes.allocation.recoveryMode.enabled": "false" };
  const on = { "spark.kubernetes.allocation.recoveryMode.enabled": "true" };
  const jvm = { exitCode: 52 };
  const rows: readonly (readonly [
    why: string,
    asked: Asked,
    end: { exitCode: number; reason?: string },
    cores: string,
  ])[] = [
    ["run one task at a time after an OutOfMemoryError of the JVM", {}, jvm, "1"],
    ["run one task at a time after an OOMKilled container", {}, { exitCode: 137, reason: "OOMKilled" }, "1"],
    ["run as many tasks as before after exit code 137 alone", {}, { exitCode: 137 }, "4"],
    ["run as many tasks as before after another failure", {}, { exitCode: 1 }, "4"],
    ["run as many tasks as before where the conf is false", { sparkConf: off }, jvm, "4"],
    ["run as many tasks as before in Spark 4.1", { sparkVersion: "4.1.1" }, jvm, "4"],
    ["have the cores of one task", { sparkConf: { "spark.task.cpus": "2" } }, jvm, "2"],
  ];
  for (const [why, asked, end, cores] of rows)
    test(why, () => {
      const plan = step(asked, two, [executor(1001), executor(1002, end)]);
      assert.deepEqual(madeIn(plan).map(coresOf), [cores]);
      assert.deepEqual(toldIn(plan), cores === "4" ? [] : ["ExecutorRecoveryMode"]);
    });

  test("request the same resources", () => {
    const [made] = madeIn(step({}, two, [executor(1001), executor(1002, jvm)]));
    assert.match(JSON.stringify(made), /"requests":\{"memory":"896Mi","cpu":"4"\}/);
  });

  test("keep one task until the end of the driver, and not beyond", () => {
    const first = step({}, two, [executor(1001), executor(1002, jvm)]).memory.allotment;
    assert.equal(first?.singleTask, true);
    const later = step({}, { ...first, underway: [], alive: "1001,1003" }, [
      executor(1001),
      executor(1003, { exitCode: 1 }),
    ]);
    assert.deepEqual(madeIn(later).map(coresOf), ["1"]);
    assert.equal(newAllotment(2, "spark-pi-2", first).singleTask, undefined);
  });

  test("run one task also if only the ledger shows the loss, because the pod is gone", () => {
    const plan = step({}, { next: 1003, alive: "1001" }, [executor(1001)], {
      executors: { attempt: 1, lost: { memory: 1 }, over: "1002" },
    });
    assert.deepEqual(madeIn(plan).map(coresOf), ["1"]);
  });

  test("run one task from the start where the conf is true, without an Event", () => {
    const plan = step({ sparkConf: on }, {}, []);
    assert.deepEqual(madeIn(plan).map(coresOf), ["1", "1"]);
    assert.deepEqual(toldIn(plan), []);
  });
});

describe("spark.kubernetes.allocation.maximum", () => {
  const sparkConf = { "spark.kubernetes.allocation.maximum": "4" };
  const lost = [executor(1001), executor(1002, { exitCode: 1 })];

  test("limits a run to one executor fewer, as in Spark's own allocator", () => {
    const plan = step({ instances: 9, sparkConf }, {}, []);
    assert.equal(madeIn(plan).length, 3);
    assert.deepEqual(toldIn(plan), ["ExecutorMaximumReached"]);
    assert.match(waitIn(plan).waitsFor ?? "", /6 executors that cannot be created: .*allocation\.maximum/);
  });

  test("counts every id that was handed out, and the run continues with fewer executors", () => {
    const last = step({ sparkConf }, two, lost);
    assert.deepEqual([madeIn(last).length, toldIn(last).length], [1, 0]);
    const none = step({ sparkConf }, { next: 1004, alive: "1001-1002" }, lost);
    assert.deepEqual([madeIn(none), toldIn(none)], [[], ["ExecutorMaximumReached"]]);
    assert.equal(none.memory.state.phase, "RUNNING");
  });

  test("counts from zero for each driver, although ids continue", () => {
    const next = newAllotment(2, "spark-pi-2", { ...newAllotment(1, "spark-pi-1", undefined), next: 1004 });
    assert.deepEqual([next.next, handedOut(next)], [1004, 0]);
  });

  test("has no effect before Spark 4.1", () => {
    assert.equal(madeIn(step({ instances: 9, sparkConf, sparkVersion: "4.0.4" }, {}, [])).length, 9);
  });
});

describe("the executors that one step creates", () => {
  const many = (sparkConf: Confs): number => madeIn(step({ instances: 20_000, sparkConf }, {}, [])).length;
  const batch = { "spark.kubernetes.allocation.batch.size": "100000" };

  test("are at most a thousand, whatever the batch size", () => {
    assert.equal(many(batch), 1_000);
  });

  test("are fewer if their pods are large", () => {
    const large = Object.fromEntries(
      Array.from({ length: 1_900 }, (_, at) => [`spark.executorEnv.A${at}`, "x".repeat(60)]),
    );
    const made = many({ ...batch, ...large });
    assert.ok(made >= 1 && made < 100, `${made}`);
  });
});

/**
 * Runs that fail: the cause, the retries that it spends, and the time of the next run; and runs that start too slowly.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { causeOf } from "../../../../../shared/spark/application/state/evidence.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import { does, waitIn } from "../../../../support/plans.ts";
import { application, decided, digested, driver, eight, pod, remembered, type Short, said, spec } from "../fixtures.ts";

const annotated = (annotations: Readonly<Record<string, string>>, more: object = {}) =>
  application({ spec: { ...spec, ...more }, metadata: { annotations } });

const disrupted = (reason: string, short: Short = { phase: "Failed", exitCode: 143 }): Stored => {
  const base = pod(short);
  const conditions = [{ type: "DisruptionTarget", status: "True", reason }];
  return { ...base, status: { ...Object(base["status"]), conditions } };
};

describe("the cause of a driver's failure is", () => {
  const cases: readonly { name: string; pod: Stored | undefined; want: string }[] = [
    { name: "the application, after an exit code", pod: pod({ phase: "Failed", exitCode: 1 }), want: "application" },
    {
      name: "the application, after OOMKilled",
      pod: pod({ phase: "Failed", exitCode: 137, reason: "OOMKilled" }),
      want: "application",
    },
    { name: "its deletion, without a pod", pod: undefined, want: "deleted" },
    { name: "preemption", pod: disrupted("PreemptionByScheduler"), want: "preempted" },
    { name: "eviction by the API", pod: disrupted("EvictionByEvictionAPI"), want: "evicted" },
    { name: "eviction by its node", pod: pod({ phase: "Failed", reason: "Evicted" }), want: "evicted" },
    { name: "a node's taint", pod: disrupted("DeletionByTaintManager"), want: "node" },
    { name: "a node that is gone (DeletionByPodGC)", pod: disrupted("DeletionByPodGC"), want: "node" },
    { name: "a node that shuts down", pod: pod({ phase: "Failed", reason: "NodeShutdown" }), want: "node" },
    {
      name: "the application, for an unknown reason",
      pod: pod({ phase: "Failed", reason: "Whatever" }),
      want: "application",
    },
  ];
  for (const { name, pod: given, want } of cases) test(name, () => assert.equal(causeOf(given), want));
});

const onFailure = { restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 10 } };
const infrastructure = { "rekindle.dev/restart-on": "infrastructure" };
const exponential = { "rekindle.dev/retry-backoff": "exponential" };

type Case = {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly memory?: Partial<Memory>;
  readonly pod?: Stored;
  /** Seconds from now to the next run; undefined: none. */
  readonly want: number | undefined;
  readonly forgiven?: number;
  readonly failures?: number;
};

const exit = pod({ phase: "Failed", exitCode: 1, finishedAt: "2026-11-02T08:00:00Z" });

describe("the retry after a failed run", () => {
  const cases: readonly Case[] = [
    { name: "comes at upstream's time, counted from the start of the failed run", annotations: {}, want: -50 },
    {
      name: "comes after the first backoff, counted from the end of the failed run",
      annotations: exponential,
      want: 10,
    },
    {
      name: "comes after twice the backoff at the second failure",
      annotations: exponential,
      memory: { failures: 1 },
      want: 20,
      failures: 2,
    },
    {
      name: "comes after eight times the backoff at the fourth failure",
      annotations: exponential,
      memory: { failures: 3 },
      want: 80,
      failures: 4,
    },
    {
      name: "comes after at most the maximum backoff of its annotation",
      annotations: { ...exponential, "rekindle.dev/retry-backoff-max": "30s" },
      memory: { failures: 3 },
      want: 30,
      failures: 4,
    },
    {
      name: "comes after the maximum backoff after thousands of failures",
      annotations: exponential,
      memory: { failures: 5_000 },
      want: 300,
      failures: 5_001,
    },
    {
      name: "comes after the first backoff again after a good run",
      annotations: { ...exponential, "rekindle.dev/retry-reset-after": "1m" },
      memory: { failures: 3 },
      want: 10,
    },
    {
      name: "does not come when retries are spent",
      annotations: exponential,
      memory: { executions: 3 },
      want: undefined,
    },
    {
      name: "after an exit code does not come under restart-on infrastructure alone",
      annotations: infrastructure,
      spec: {},
      want: undefined,
    },
    {
      name: "after an eviction comes under restart-on infrastructure without a restart policy",
      annotations: infrastructure,
      spec: {},
      pod: pod({ phase: "Failed", reason: "Evicted" }),
      want: 5,
      forgiven: 1,
    },
    {
      name: "after a preemption comes under restart-on infrastructure without a retry left",
      annotations: infrastructure,
      memory: { executions: 9, forgiven: 1, failures: 1 },
      pod: disrupted("PreemptionByScheduler"),
      want: 20,
      forgiven: 2,
      failures: 2,
    },
    {
      name: "after an exit code does not count forgiven failures as retries",
      annotations: infrastructure,
      memory: { executions: 4, forgiven: 2 },
      want: -50,
      forgiven: 2,
    },
    {
      name: "after an eviction spends a retry without the annotation",
      annotations: {},
      memory: { executions: 3 },
      pod: pod({ phase: "Failed", reason: "Evicted" }),
      want: undefined,
    },
  ];
  for (const { name, annotations, spec: own = onFailure, memory: more, pod: given = exit, ...want } of cases) {
    test(name, () => {
      const object = annotated(annotations, own);
      const memory = remembered({ driver, spec: digested({ ...spec, ...own }), ...more });
      const { state, forgiven, failures } = decided({ object, memory, pods: [given] }).plan.memory;
      const retryAt = "retryAt" in state ? state.retryAt : undefined;
      const seconds = retryAt === undefined ? undefined : (retryAt - eight) / 1_000;
      assert.deepEqual(
        [state.phase, seconds, forgiven, failures],
        [want.want === undefined ? "FAILED" : "FAILING", want.want, want.forgiven, want.failures ?? 1],
      );
    });
  }

  test("counts from zero after a success, and without forgiven failures after a changed spec", () => {
    const memory = remembered({ driver, failures: 3, forgiven: 2 });
    const good = decided({ object: application(), memory, pods: [pod({ phase: "Succeeded", exitCode: 0 })] }).plan
      .memory;
    assert.deepEqual([good.failures, good.forgiven], [undefined, 2]);
    const changed = application({ spec: { ...spec, arguments: ["9"] }, metadata: { generation: 2 } });
    const anew = decided({ object: changed, memory, pods: [pod()] }).plan.memory;
    assert.deepEqual([anew.state.phase, anew.failures, anew.forgiven], ["INVALIDATING", undefined, undefined]);
  });

  test("counts from zero if the spec changes during a suspension, and the application stays suspended", () => {
    const memory = remembered({ state: { phase: "SUSPENDED" }, executions: 2, submissions: 2, failures: 1 });
    const suspended = { ...spec, suspend: true };
    const after = (more: object) =>
      decided({ object: application({ spec: { ...suspended, ...more }, metadata: { generation: 2 } }), memory }).plan
        .memory;
    const counted = ({ state, executions, submissions, failures }: Memory) =>
      [state.phase, executions, submissions, failures] as const;
    assert.deepEqual(counted(after({ arguments: ["9"] })), ["SUSPENDED", 0, 0, undefined]);
    assert.deepEqual(counted(after({})), ["SUSPENDED", 2, 2, 1]);
  });
});

describe("a driver that does not start", () => {
  const asked = { "rekindle.dev/driver-start-timeout": "1m" };
  const memory = remembered({ driver: { ...driver, submittedAt: eight - 60_000 }, state: { phase: "SUBMITTED" } });
  const stuck = pod({ phase: "Pending", waiting: "ImagePullBackOff" });

  test("is kept until its start timeout, and the step sets a timer", () => {
    const { plan } = decided({ object: annotated(asked), memory, pods: [stuck], now: eight - 1_000 });
    assert.deepEqual([plan.memory.state.phase, waitIn(plan).wakeAt], ["SUBMITTED", eight]);
  });

  test("is deleted after its start timeout, and the run fails with the reason", () => {
    const { plan } = decided({ object: annotated(asked), memory, pods: [stuck] });
    const error = "driver did not start within 1m: ImagePullBackOff";
    assert.deepEqual(plan.memory.state, { phase: "FAILED", endedAt: eight, error, cause: "imagePull" });
    assert.equal(plan.stages.flat().map(said)[0], "delete pods spark-pi-driver if it is driver-1");
  });

  test("is deleted in every later step if the first deletion was lost, even if it runs by now", () => {
    const { plan } = decided({ object: annotated(asked), memory, pods: [stuck] });
    const later = decided({ object: annotated(asked), memory: plan.memory, pods: [pod()] }).plan;
    assert.deepEqual([later.memory.state.phase, does(later, "rest")], ["FAILED", undefined]);
    assert.ok(later.stages.flat().map(said).includes("delete pods spark-pi-driver if it is driver-1"));
    const last = decided({ object: annotated(asked), memory: later.memory, pods: [pod()] }).plan;
    assert.ok(last.stages.flat().map(said).includes("delete pods spark-pi-driver if it is driver-1"));
  });

  test("has its timeout from the creation of its pod, not from its plan", () => {
    const made = { ...stuck, metadata: { ...stuck.metadata, creationTimestamp: "2026-11-02T07:59:50Z" } };
    const { plan } = decided({ object: annotated(asked), memory, pods: [made] });
    assert.deepEqual([plan.memory.state.phase, waitIn(plan).wakeAt], ["SUBMITTED", eight + 50_000]);
  });

  test("is kept without a timeout, as upstream does, if no annotation sets one", () => {
    const { plan } = decided({ object: application(), memory, pods: [stuck], now: eight + 86_400_000 });
    assert.deepEqual([plan.memory.state.phase, waitIn(plan).wakeAt], ["SUBMITTED", undefined]);
  });

  test("because of its image spends no retry under restart-on infrastructure", () => {
    const { state, forgiven } = decided({ object: annotated({ ...asked, ...infrastructure }), memory, pods: [stuck] })
      .plan.memory;
    assert.deepEqual(["retryAt" in state ? state.retryAt : undefined, forgiven], [eight + 5_000, 1]);
  });
});

describe("executors that do not start", () => {
  const asked = { "rekindle.dev/executor-start-timeout": "1m" };
  const memory = remembered({ driver });
  const running = (startTime: string): Stored => ({ ...pod(), status: { ...Object(pod()["status"]), startTime } });
  const old = running("2026-11-02T07:59:00Z");
  const executor = (id: number, phase: string) =>
    pod({ name: `exec-${id}`, uid: `exec-${id}`, role: "executor", owner: "driver-1", executor: id, phase });
  const dynamic = { dynamicAllocation: { enabled: true } };

  const cases: readonly {
    name: string;
    pods: readonly Stored[];
    status?: object;
    spec?: object;
    want: readonly unknown[];
  }[] = [
    {
      name: "are kept until their start timeout",
      pods: [running("2026-11-02T07:59:30Z"), executor(1, "Pending")],
      want: ["RUNNING", eight + 30_000],
    },
    { name: "fail the run after the timeout", pods: [old, executor(1, "Pending")], want: ["FAILED", undefined] },
    { name: "fail the run even if none was ever created", pods: [old], want: ["FAILED", undefined] },
    { name: "do not fail a run with dynamic allocation", pods: [old], spec: dynamic, want: ["RUNNING", undefined] },
    {
      name: "do not fail a run in which one executor runs",
      pods: [old, executor(1, "Pending"), executor(2, "Running")],
      want: ["RUNNING", undefined],
    },
    {
      name: "do not fail a run in which one executor ran earlier",
      pods: [old, executor(2, "Pending")],
      status: { "exec-1": "FAILED" },
      want: ["RUNNING", undefined],
    },
  ];
  for (const { name, pods, status, spec: own = {}, want } of cases) {
    test(name, () => {
      const whole = { ...spec, ...own };
      const told = status === undefined ? {} : { status: { submissionID: "submission-1", executorState: status } };
      const object = application({ spec: whole, metadata: { annotations: asked }, ...told });
      const { plan } = decided({ object, memory: { ...memory, spec: digested(whole) }, pods });
      assert.deepEqual([plan.memory.state.phase, waitIn(plan).wakeAt], want);
    });
  }

  test("are deleted with their driver", () => {
    const { plan } = decided({ object: annotated(asked), memory, pods: [old, executor(1, "Pending")] });
    assert.deepEqual(plan.stages[0]?.map(said), [
      "delete pods spark-pi-driver if it is driver-1",
      "delete pods exec-1 if it is exec-1",
    ]);
  });
});

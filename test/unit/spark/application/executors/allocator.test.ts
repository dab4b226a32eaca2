/**
 * Steps of a run whose executors Rekindle creates (`own`): creations, reads, deletions, and steps that change nothing.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { type ProbeResult, type Refusal, wholeOf } from "../../../../../shared/core/plan.ts";
import { type Memory, relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { waitIn } from "../../../../support/plans.ts";
import { application, asked, decided, driver, eight, pod, remembered, said, spec } from "../fixtures.ts";

const annotations = { "rekindle.dev/executors": "own" };
const status = {
  applicationState: { state: "RUNNING" },
  submissionID: "submission-1",
  driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
};

const app = (instances: number, more: { generation?: number; spec?: object; annotations?: object } = {}): Stored =>
  application({
    metadata: { annotations: { ...annotations, ...more.annotations }, generation: more.generation ?? 1 },
    spec: { ...spec, executor: { instances, cores: 1, memory: "512m" }, ...more.spec },
    status,
  });

const allotment = (more: Partial<NonNullable<Memory["allotment"]>> = {}) => ({
  ...newAllotment(1, "spark-pi-1", undefined),
  listens: true,
  ...more,
});

const memory = (more: Partial<NonNullable<Memory["allotment"]>> = {}, also: Partial<Memory> = {}): Memory =>
  remembered({ driver, allotment: allotment(more), spec: relevant(app(3), true), ...also });

const executor = (id: number, phase = "Running", exitCode?: number, finishedAt = "2026-11-02T07:59:59Z"): Stored =>
  pod({
    ...{ role: "executor", owner: "driver-1", executor: id, phase, name: `spark-pi-1-exec-${id}`, uid: `u-${id}` },
    ...(exitCode === undefined ? {} : { exitCode, finishedAt }),
  });

const registered = (tasks: Readonly<Record<number, number>>): ProbeResult => ({
  heard: true,
  value: [
    { id: "driver", isActive: true, activeTasks: 0 },
    ...Object.entries(tasks).map(([id, activeTasks]) => ({ id, isActive: true, activeTasks })),
  ],
});

const three = [executor(1001), executor(1002), executor(1003)];
const known = { next: 1004, alive: "1001-1003" };

const driverAt = (startTime: string): Stored => {
  const body = pod();
  return { ...body, status: { ...Object(body["status"]), startTime, podIP: "10.0.0.9" } };
};

type Row = {
  readonly why: string;
  readonly instances?: number;
  readonly memory: Memory;
  readonly pods?: readonly Stored[];
  readonly live?: readonly Stored[];
  readonly body?: Stored;
  readonly heard?: ProbeResult;
  readonly annotations?: object;
  readonly refused?: readonly Refusal[];
  /** The reads beside the list of pods. */
  readonly looks?: readonly string[];
  readonly does: readonly string[];
  readonly waits?: RegExp;
};

const question = "ask spark-pi-driver:4040 api/v1/applications/spark-1/allexecutors";
const rows: readonly Row[] = [
  {
    why: "creates no executor before the driver answers",
    memory: memory({ listens: false }),
    body: driverAt("2026-11-02T07:59:58Z"),
    looks: [question],
    does: [],
    waits: /the driver to accept executors/,
  },
  {
    why: "creates all executors as soon as the driver answers",
    memory: memory({ listens: false }),
    heard: registered({}),
    looks: [question],
    does: ["create 1001", "create 1002", "create 1003"],
  },
  {
    why: "creates the executors of a driver that is silent for two minutes, and records the Event RegistrationUnknown",
    memory: memory({ listens: false }),
    body: driverAt("2026-11-02T07:58:00Z"),
    looks: [question],
    does: ["create 1001", "create 1002", "create 1003", "tell RegistrationUnknown"],
  },
  { why: "has no effects and no further reads if all executors run", memory: memory(known), pods: three, does: [] },
  {
    why: "replaces a failed executor at once, without a further read or an Event",
    memory: memory(known),
    pods: [...three.slice(0, 2), executor(1003, "Failed", 1)],
    does: ["create 1004"],
  },
  {
    why: "reads an executor that is not listed by name, and replaces the executor if it is gone",
    memory: memory(known),
    pods: three.slice(0, 2),
    looks: ["get pods spark-pi-1-exec-1003"],
    does: ["create 1004"],
  },
  {
    why: "does not replace an executor that is not listed if the read by name finds the pod",
    memory: memory(known),
    pods: three.slice(0, 2),
    live: three,
    looks: ["get pods spark-pi-1-exec-1003"],
    does: [],
  },
  {
    why: "reads many executors that are not listed with one list",
    instances: 20,
    memory: memory({ next: 1021, alive: "1001-1020" }),
    looks: ["list pods"],
    does: Array.from({ length: 20 }, (_, at) => `create ${1021 + at}`),
  },
  {
    why: "creates executors that no loss explains once a read by name shows the driver running",
    memory: memory({ next: 1004 }),
    looks: ["get pods spark-pi-driver"],
    does: ["create 1004", "create 1005", "create 1006"],
  },
  {
    why: "creates no executors that no loss explains if the driver has ended, which the list does not show yet",
    memory: memory({ next: 1004 }),
    live: [pod({ phase: "Succeeded", exitCode: 0 })],
    looks: ["get pods spark-pi-driver"],
    does: [],
  },
  {
    why: "replaces an executor that ended with 0 and deletes its pod, if the driver answers",
    memory: memory(known),
    pods: [...three.slice(0, 2), executor(1003, "Succeeded", 0)],
    heard: registered({ 1001: 1, 1002: 1 }),
    looks: [question],
    does: ["create 1004", "delete spark-pi-1-exec-1003 u-1003"],
  },
  {
    why: "does not replace an executor that ended with 0 while the driver is silent, as at its end",
    memory: memory(known),
    pods: [...three.slice(0, 2), executor(1003, "Succeeded", 0)],
    looks: [question],
    does: [],
  },
  {
    why: "records the Event RegistrationUnknown if the driver is silent for a minute after an exit with 0",
    memory: memory(known),
    pods: [...three.slice(0, 2), executor(1003, "Succeeded", 0, "2026-11-02T07:59:00Z")],
    looks: [question],
    does: ["tell RegistrationUnknown"],
  },
  {
    why: "replaces a failed executor before it queries the driver about an exit with 0",
    memory: memory(known),
    pods: [executor(1001), executor(1002, "Failed", 137), executor(1003, "Succeeded", 0)],
    does: ["create 1004"],
  },
  {
    why: "deletes idle surplus executors, by resource version",
    instances: 1,
    memory: memory(known, { generation: 1 }),
    pods: three,
    heard: registered({ 1001: 0, 1002: 3, 1003: 0 }),
    looks: [question, "list pods"],
    does: ["delete spark-pi-1-exec-1003 u-1003 at 1", "delete spark-pi-1-exec-1001 u-1001 at 1"],
  },
  {
    why: "keeps busy surplus executors, and waitsFor says so",
    instances: 1,
    memory: memory(known),
    pods: three,
    heard: registered({ 1001: 1, 1002: 3, 1003: 2 }),
    looks: [question],
    does: [],
    waits: /2 surplus executors to become idle/,
  },
  {
    why: "deletes a busy surplus executor if the annotation says force",
    instances: 2,
    annotations: { "rekindle.dev/executor-scale-down": "force" },
    memory: memory(known),
    pods: three,
    heard: registered({ 1001: 1, 1002: 3, 1003: 2 }),
    looks: [question, "list pods"],
    does: ["delete spark-pi-1-exec-1003 u-1003 at 1"],
  },
  {
    why: "creates no executor for a driver that is being deleted",
    memory: memory(known),
    body: pod({ ending: true }),
    does: [],
  },
  {
    why: "creates no executor of a run with the driver's own allocator",
    memory: memory({ attempt: 0 }),
    does: [],
  },
];

const brief = (line: string): string => {
  const [, id] = /^create pods spark-pi-[0-9a-f]{16}-exec-(\d+) of attempt 1$/.exec(line) ?? [];
  if (id !== undefined) return `create ${id}`;
  const [, name, fence] = /^delete pods (\S+) if it is (.*)$/.exec(line) ?? [];
  if (name !== undefined) return `delete ${name} ${fence}`;
  return /^tell Warning (\w+)/.test(line) ? line.replace(/^tell Warning (\w+) .*$/, "tell $1") : line;
};

/** Leaves out the Events of executor states, which come from the status and not from the allocator. */
const notOfTheRun = (line: string): boolean => !/^tell \w+ SparkExecutor/.test(line);

describe("a step of a run with Rekindle as its allocator", () => {
  for (const row of rows)
    test(row.why, () => {
      const { pods = [], live, body = pod(), heard, refused = [] } = row;
      const { plan, looks } = decided({
        object: app(row.instances ?? 3, { annotations: row.annotations ?? {} }),
        memory: { ...row.memory, spec: relevant(app(3), true) },
        pods: [body, ...pods],
        live: [...(live ?? pods), body],
        refused,
        ...(heard === undefined ? {} : { hears: { allexecutors: heard } }),
      });
      assert.deepEqual(plan.stages.flat().map(said).filter(notOfTheRun).map(brief), row.does);
      assert.deepEqual(looks.map(asked).slice(1), row.looks ?? []);
      assert.match(waitIn(plan).waitsFor ?? "", row.waits ?? /the driver to finish/);
      assert.equal(plan.memory.state.phase, "RUNNING");
    });
});

describe("the executor ids of a step", () => {
  test("are saved as underway", () => {
    const { plan } = decided({ object: app(3), memory: memory(), pods: [pod()] });
    assert.deepEqual(plan.memory.allotment?.underway, [{ ids: "1001-1003", at: eight, until: eight + 10_000 }]);
    assert.deepEqual([plan.memory.allotment?.next, plan.safety?.createWithinMs], [1004, 3_000]);
  });

  test("are in a plan without the bodies of their pods, which are built when they are sent", () => {
    const { plan } = decided({ object: app(100), memory: memory(), pods: [pod()] });
    const created = plan.stages.flat().filter((effect) => effect.do === "create");
    assert.equal(created.length, 100);
    assert.ok(created.every((effect) => !("spec" in effect.object) && "spec" in wholeOf(effect)));
    assert.ok(created.every((effect) => wholeOf(effect).metadata.name === effect.object.metadata.name));
  });

  test("are not used again after a refusal of the API server, and the next creations wait", () => {
    const first = decided({ object: app(3), memory: memory(), pods: [pod()] }).plan;
    const effect = first.stages.flat().find((one) => one.do === "create");
    assert.ok(effect !== undefined);
    const refused = [{ effect, status: 422, reason: "Invalid", message: "no such class" }];
    const { plan } = decided({ object: app(3), memory: first.memory, pods: [pod()], refused });
    assert.deepEqual(plan.stages.flat().map(said).map(brief), ["tell ExecutorRefused"]);
    assert.deepEqual(plan.memory.allotment?.underway, []);
    assert.equal(plan.memory.allotment?.next, 1004);
    assert.equal(waitIn(plan).wakeAt, eight + 5_000);
  });
});

describe("an edit of executor.instances", () => {
  test("scales the running run if Rekindle creates the executors", () => {
    const object = app(5, { generation: 2 });
    const { plan } = decided({ object, memory: memory(known), pods: [pod(), ...three] });
    assert.deepEqual(plan.stages.flat().map(said).filter(notOfTheRun).map(brief), ["create 1004", "create 1005"]);
    assert.equal(plan.memory.generation, 2);
  });

  test("together with another field begins another run", () => {
    const object = app(5, { generation: 2, spec: { image: "spark:other" } });
    const { plan } = decided({ object, memory: memory(known), pods: [pod(), ...three] });
    assert.equal(plan.memory.state.phase, "INVALIDATING");
  });

  test("begins another run where the driver's own allocator creates the executors", () => {
    const before = { ...memory(), spec: relevant(app(3), false), allotment: allotment({ attempt: 0 }) };
    const { plan } = decided({ object: app(5, { generation: 2 }), memory: before, pods: [pod()] });
    assert.equal(plan.memory.state.phase, "INVALIDATING");
  });
});

describe("a run that is submitted with the annotation", () => {
  test("has an allotment, and continues the ids of the run before", () => {
    const { plan } = decided({
      object: app(3),
      memory: remembered({ state: { phase: "" }, allotment: allotment({ attempt: 0, next: 1077 }) }),
    });
    assert.equal(plan.memory.allotment?.attempt, 2);
    assert.equal(plan.memory.allotment?.next, 1077);
    assert.equal(plan.memory.spec, relevant(app(9), true));
  });

  test("fails with every reason against it", () => {
    const object = app(3, { spec: { sparkVersion: "9.9.9", sparkConf: { "spark.ui.port": "0" } } });
    const { plan } = decided({ object, memory: remembered({ state: { phase: "" } }) });
    assert.equal(plan.memory.state.phase, "SUBMISSION_FAILED");
    assert.match(JSON.stringify(plan.memory.state), /version.*spark\.ui\.port/);
  });
});

describe("the end of a run with Rekindle as its allocator", () => {
  test("deletes the live executors, and leaves those that have ended", () => {
    const pods = [
      pod({ phase: "Succeeded", exitCode: 0 }),
      executor(1001),
      executor(1002, "Pending"),
      executor(1003, "Failed", 1),
    ];
    const { plan } = decided({ object: app(3), memory: memory(known), pods });
    assert.equal(plan.memory.state.phase, "COMPLETED");
    const ended = plan.stages
      .flat()
      .map(said)
      .filter((line) => line.startsWith("delete"))
      .map(brief);
    assert.deepEqual(ended, ["delete spark-pi-1-exec-1001 u-1001", "delete spark-pi-1-exec-1002 u-1002"]);
  });

  test("deletes an executor whose end is on record only as the list shows it, because the list may be behind", () => {
    const executors = { attempt: 1, over: "1001", lost: { killed: 1 } };
    const pods = [pod({ phase: "Succeeded", exitCode: 0 }), executor(1001), executor(1002)];
    const { plan } = decided({ object: app(3), memory: memory({ next: 1003, alive: "1002" }, { executors }), pods });
    const lines = plan.stages
      .flat()
      .map(said)
      .filter((line) => line.startsWith("delete"));
    assert.deepEqual(lines.map(brief), [
      "delete spark-pi-1-exec-1001 u-1001 at 1",
      "delete spark-pi-1-exec-1002 u-1002",
    ]);
  });
});

describe("memory overhead after an executor was OOMKilled", () => {
  const grows = { "rekindle.dev/executor-oom-overhead": "2 up to 1Gi" };
  const killed = (id: number): Stored =>
    pod({
      ...{ role: "executor", owner: "driver-1", executor: id, phase: "Failed", name: `spark-pi-1-exec-${id}` },
      ...{ uid: `u-${id}`, exitCode: 137, reason: "OOMKilled", finishedAt: "2026-11-02T07:59:59Z" },
    });
  type Handed = Partial<NonNullable<Memory["allotment"]>>;
  const step = (handed: Handed, pods: readonly Stored[], annotations: Readonly<Record<string, string>> = grows) => {
    const { plan } = decided({ object: app(2, { annotations }), memory: memory(handed), pods: [pod(), ...pods] });
    const made = plan.stages.flat().flatMap((effect) => (effect.do === "create" ? [wholeOf(effect)] : []));
    const memories = made.map((one) => /"memory":"(\d+Mi)"/.exec(JSON.stringify(one))?.[1]);
    const told = plan.stages.flat().map(said).map(brief);
    const overhead = plan.memory.allotment?.overhead;
    return { memories, told, overhead, grown: overhead === undefined ? {} : { overhead } };
  };

  test("doubles for the next executors, with one Event, and is remembered", () => {
    const first = step({ next: 1003, alive: "1001-1002" }, [executor(1001), killed(1002)]);
    assert.deepEqual(first.memories, ["1280Mi"]);
    assert.deepEqual(first.overhead, { mebibytes: 768, from: 1003 });
    assert.ok(first.told.includes("tell ExecutorOverheadRaised"));
    const pods = [executor(1001), killed(1002), killed(1003)];
    const second = step({ next: 1004, alive: "1001,1003", ...first.grown }, pods);
    assert.deepEqual([second.memories, second.overhead], [["1536Mi"], { mebibytes: 1024, from: 1004 }]);
    const replaced = step({ next: 1005, alive: "1001,1004", ...second.grown }, [executor(1001), killed(1004)]);
    assert.deepEqual([replaced.memories, replaced.overhead], [["1536Mi"], second.overhead]);
  });

  test("stays as it is without the annotation", () => {
    const { memories, overhead } = step({ next: 1003, alive: "1001-1002" }, [executor(1001), killed(1002)], {});
    assert.deepEqual([memories, overhead], [["896Mi"], undefined]);
  });
});

/** Steps of a run whose executors follow its driver's demand: the gauge, creations, and executors that are sent away. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { ProbeResult } from "../../../../../shared/core/plan.ts";
import { type Memory, relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { waitIn } from "../../../../support/plans.ts";
import { application, asked, decided, driver, eight, pod, remembered, said, spec } from "../fixtures.ts";

const app = (more: { generation?: number; labels?: Record<string, string>; spec?: object } = {}): Stored =>
  application({
    metadata: {
      annotations: { "rekindle.dev/executors": "own" },
      generation: more.generation ?? 1,
      ...(more.labels === undefined ? {} : { labels: more.labels }),
    },
    spec: { ...spec, executor: { cores: 1, memory: "512m" }, ...more.spec },
    status: {
      applicationState: { state: "RUNNING" },
      submissionID: "submission-1",
      driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
    },
  });

type Handed = Partial<NonNullable<Memory["allotment"]>>;

const memory = (object: Stored, handed: Handed = {}): Memory =>
  remembered({
    driver,
    spec: relevant(object, true),
    allotment: { ...newAllotment(1, "spark-pi-1", undefined), listens: true, ...handed },
  });

const executor = (id: number, phase = "Running", exitCode?: number): Stored =>
  pod({
    ...{ role: "executor", owner: "driver-1", executor: id, phase, name: `spark-pi-1-exec-${id}`, uid: `u-${id}` },
    ...(exitCode === undefined ? {} : { exitCode, finishedAt: "2026-11-02T07:59:59Z" }),
  });

const three = [executor(1001), executor(1002), executor(1003)] as const;
const deleted = { deletionTimestamp: "2026-11-02T07:59:59Z", resourceVersion: "2" } as const;
const known = { next: 1004, alive: "1001-1003" };
const question = "ask spark-pi-driver:4040 api/v1/applications/spark-1/allexecutors";

const brief = (line: string): string => {
  const [, id] = /^create pods spark-pi-[0-9a-f]{16}-exec-(\d+) of attempt 1$/.exec(line) ?? [];
  if (id !== undefined) return `create ${id}`;
  const [, name, fence] = /^delete pods (\S+) if it is (.*)$/.exec(line) ?? [];
  if (name !== undefined) return `delete ${name} ${fence}`;
  return line.replace(/^tell Warning (\w+) .*$/, "tell $1");
};

/** Leaves out the Events of executor states, which come from the status and not from the allocator. */
const notOfTheRun = (line: string): boolean => !/^tell \w+ SparkExecutor/.test(line);

describe("a step of a run whose driver decides how many executors it needs", () => {
  const name = "spark-1.driver.ExecutorAllocationManager.executors.numberMaxNeededExecutors";
  const gauge = (value: number): ProbeResult => ({ heard: true, value: { gauges: { [name]: { value } } } });
  const metrics = "ask spark-pi-driver:4040 metrics/json/";
  const dynamic = { executor: { cores: 4 }, dynamicAllocation: { enabled: true, maxExecutors: 4 } };
  const holding = (ids: readonly number[], tasks: Readonly<Record<number, number>>): ProbeResult => ({
    heard: true,
    value: Object.entries(tasks).map(([id, activeTasks]) => ({
      ...{ id, isActive: true, activeTasks },
      totalShuffleWrite: ids.includes(Number(id)) ? 900 : 0,
    })),
  });
  const demand = (target: number, more: object = {}) => ({ target, at: eight - 5_000, ...more });
  const overdue = { fewer: { since: eight - 60_000, most: 0, seen: eight - 15_000 } };
  type Step = {
    readonly why: string;
    readonly allotment: Handed;
    readonly pods?: readonly Stored[];
    /** The executors of a second list, if it shows others. */
    readonly again?: readonly Stored[];
    readonly need?: number;
    readonly heard?: ProbeResult;
    readonly spec?: object;
    readonly looks?: readonly string[];
    readonly does: readonly string[];
    readonly target?: number;
  };
  const steps: readonly Step[] = [
    {
      why: "creates the executors of the gauge, up to the maximum",
      allotment: { demand: demand(0) },
      need: 40,
      looks: [metrics],
      does: ["create 1001", "create 1002", "create 1003", "create 1004"],
      target: 4,
    },
    {
      why: "has no effects while the gauge gives no answer",
      allotment: { ...known, demand: demand(3) },
      pods: three,
      looks: [metrics],
      does: [],
      target: 3,
    },
    {
      why: "does not read the gauge again within five seconds of a change",
      allotment: { ...known, demand: { target: 3, at: eight - 4_000 } },
      pods: three,
      does: [],
      target: 3,
    },
    {
      why: "replaces a lost executor before it reads the gauge",
      allotment: { ...known, demand: demand(3) },
      pods: [...three.slice(0, 2), executor(1003, "Failed", 1)],
      does: ["create 1004"],
      target: 3,
    },
    {
      why: "deletes idle executors with a grace to move their data",
      allotment: { ...known, demand: demand(3, overdue) },
      pods: three,
      need: 1,
      heard: holding([], { 1001: 1, 1002: 0, 1003: 0 }),
      looks: [metrics, question, "list pods"],
      does: ["delete spark-pi-1-exec-1003 u-1003 at 1 in 120 s", "delete spark-pi-1-exec-1002 u-1002 at 1 in 120 s"],
      target: 1,
    },
    ...[
      {
        other: "is being deleted",
        again: [{ ...three[0], metadata: { ...three[0].metadata, ...deleted } }, three[1], three[2]],
      },
      { other: "is missing", again: three.slice(1) },
    ].map(
      ({ other, again }): Step => ({
        why: `deletes none while an executor ${other} in a second list`,
        allotment: { ...known, demand: demand(3, overdue) },
        pods: three,
        again,
        need: 2,
        heard: holding([], { 1001: 0, 1002: 1, 1003: 0 }),
        looks: [metrics, question, "list pods"],
        does: [],
        target: 2,
      }),
    ),
    {
      why: "deletes holders of shuffle data one after the other, after executors without",
      allotment: { ...known, demand: demand(3, overdue) },
      pods: three,
      need: 0,
      heard: holding([1002, 1003], { 1001: 0, 1002: 0, 1003: 0 }),
      looks: [metrics, question, "list pods"],
      does: ["delete spark-pi-1-exec-1001 u-1001 at 1 in 120 s", "delete spark-pi-1-exec-1003 u-1003 at 1 in 120 s"],
      target: 0,
    },
    {
      why: "keeps the last holder while a job runs",
      allotment: { ...known, demand: demand(3, overdue) },
      pods: three,
      need: 1,
      heard: holding([1003], { 1001: 1, 1002: 1, 1003: 0 }),
      looks: [metrics, question],
      does: [],
      target: 1,
    },
    {
      why: "keeps all holders where the user turned decommissioning off",
      allotment: { ...known, demand: demand(3, overdue) },
      spec: { sparkConf: { "spark.decommission.enabled": "false" } },
      pods: three,
      need: 0,
      heard: holding([1002, 1003], { 1001: 0, 1002: 0, 1003: 0 }),
      looks: [metrics, question, "list pods"],
      does: ["delete spark-pi-1-exec-1001 u-1001 at 1"],
      target: 0,
    },
    {
      why: "multiplies the need of executors that run one task at a time",
      allotment: { ...known, singleTask: true, demand: demand(3) },
      spec: { sparkVersion: "4.2.1" },
      pods: three,
      need: 1,
      looks: [metrics],
      does: ["tell ExecutorRecoveryMode", "create 1004"],
      target: 4,
    },
  ];
  for (const { why, allotment: handed, pods = [], again, need, heard, looks = [], does, target, ...step } of steps)
    test(why, () => {
      const object = app({ spec: { ...dynamic, ...step.spec } });
      const { plan, looks: made } = decided({
        object,
        memory: memory(object, handed),
        pods: [pod(), ...pods],
        ...(again === undefined ? {} : { again }),
        hears: {
          ...(need === undefined ? {} : { "": gauge(need) }),
          ...(heard === undefined ? {} : { allexecutors: heard }),
        },
      });
      const effects = plan.stages.flat().filter((effect) => notOfTheRun(said(effect)));
      const lines = effects.map((effect) => {
        const grace = effect.do === "delete" && effect.graceSeconds !== undefined ? ` in ${effect.graceSeconds} s` : "";
        return `${brief(said(effect))}${grace}`;
      });
      assert.deepEqual(lines, does);
      assert.deepEqual(made.map(asked).slice(1), looks);
      assert.equal(plan.memory.allotment?.demand?.target, target);
      assert.equal(waitIn(plan).pollMs, 5_000);
    });

  test("keeps the executors that a used-up quota grants, records one Event, and tries one more later", () => {
    const object = app({ spec: { executor: { cores: 1 }, dynamicAllocation: { enabled: true, maxExecutors: 9 } } });
    const before = memory(object, { demand: demand(0) });
    const first = decided({ object, memory: before, pods: [pod()], hears: { "": gauge(5) } }).plan;
    const made = first.stages.flat().filter((effect) => effect.do === "create");
    assert.deepEqual(
      made.map(({ limited }) => limited),
      [true, true, true, true, true],
    );
    const message = "pods is forbidden: exceeded quota: team";
    const refused = made.slice(3).map((effect) => ({ effect, status: 403, reason: "QuotaExceeded", message }));
    const again = { object, memory: first.memory, pods: [pod(), ...three] };
    const second = decided({ ...again, refused }).plan;
    assert.deepEqual(second.stages.flat().map(said).map(brief).filter(notOfTheRun), ["tell ExecutorsLimited"]);
    const grant = { executors: 3, until: eight + 5_000, times: 1, why: message };
    assert.deepEqual(second.memory.allotment?.grant, grant);
    assert.deepEqual(second.memory.allotment?.underway, []);
    assert.match(waitIn(second).waitsFor ?? "", /5 are wanted, 3 granted \(pods is forbidden: exceeded quota: team\)/);
    const after = (now: number) =>
      decided({ ...again, memory: second.memory, now })
        .plan.stages.flat()
        .map(said)
        .map(brief);
    assert.deepEqual(after(eight + 4_000).filter(notOfTheRun), []);
    assert.deepEqual(after(eight + 5_000).filter(notOfTheRun), ["create 1006"]);
  });

  test("continues the same run when its bounds change", () => {
    const object = app({ generation: 2, spec: { dynamicAllocation: { enabled: true, maxExecutors: 9 } } });
    const before = app({ spec: { dynamicAllocation: { enabled: true, maxExecutors: 4 } } });
    const old = memory(before, { demand: demand(0) });
    assert.equal(decided({ object, memory: old, pods: [pod()] }).plan.memory.state.phase, "RUNNING");
    const assisted = { ...memory(before, { attempt: 0 }), spec: relevant(before, false) };
    assert.equal(decided({ object, memory: assisted, pods: [pod()] }).plan.memory.state.phase, "INVALIDATING");
  });

  test("begins with the initial number once the driver listens", () => {
    const scale = { enabled: true, initialExecutors: 2, maxExecutors: 4 };
    const object = app({ spec: { executor: { cores: 1 }, dynamicAllocation: scale } });
    const { plan } = decided({
      object,
      memory: memory(object, { listens: false }),
      pods: [pod()],
      hears: { allexecutors: { heard: true, value: [] } },
    });
    assert.deepEqual(plan.stages.flat().map(said).map(brief), ["create 1001", "create 1002"]);
    assert.deepEqual(plan.memory.allotment?.demand, { target: 2, at: eight, initialUntil: eight + 60_000 });
  });

  const queued = { "kueue.x-k8s.io/queue-name": "team-a" };
  const conf = { "spark.dynamicAllocation.enabled": "True", "spark.dynamicAllocation.minExecutors": "3" };
  const rows = [
    { what: "the field", wanted: 7, spec: { dynamicAllocation: { enabled: true, maxExecutors: 9 } } },
    { what: "a conf and a minimum above it", wanted: 3, spec: { sparkConf: conf } },
  ];
  for (const { what, wanted, spec: more } of rows)
    test(`never has more executors than Kueue has admitted, with ${what}`, () => {
      const object = app({ labels: queued, spec: { executor: { cores: 1, instances: 2 }, ...more } });
      const hears = { "": gauge(7) };
      const { plan } = decided({ object, memory: memory(object, { demand: demand(0) }), pods: [pod()], hears });
      assert.deepEqual(plan.stages.flat().map(said).map(brief).filter(notOfTheRun), ["create 1001", "create 1002"]);
      const limited = `${wanted} are wanted, 2 granted (Kueue has admitted no more in LocalQueue team-a: growing needs Kueue's own Workload of the application`;
      assert.ok(waitIn(plan).waitsFor?.includes(limited), waitIn(plan).waitsFor);
    });

  test("has none where Kueue has admitted none", () => {
    const object = app({ labels: queued, spec: { executor: { cores: 1 }, sparkConf: conf } });
    const hears = { "": gauge(7) };
    const { plan } = decided({ object, memory: memory(object, { demand: demand(0) }), pods: [pod()], hears });
    assert.deepEqual(plan.stages.flat().map(said).map(brief).filter(notOfTheRun), []);
  });

  test("deletes idle executors that Kueue has not admitted", () => {
    const object = app({ labels: queued, spec: { executor: { cores: 1, instances: 1 }, sparkConf: conf } });
    const { plan } = decided({
      ...{ object, memory: memory(object, { ...known, demand: demand(3) }), pods: [pod(), ...three], again: three },
      hears: { "": gauge(3), allexecutors: holding([], { 1001: 1, 1002: 0, 1003: 0 }) },
    });
    assert.deepEqual(plan.stages.flat().map(said).map(brief).filter(notOfTheRun), [
      "delete spark-pi-1-exec-1003 u-1003 at 1",
      "delete spark-pi-1-exec-1002 u-1002 at 1",
    ]);
  });

  test("creates none in the place of an executor that leaves, while Kueue counts it", () => {
    const object = app({ labels: queued, spec: { executor: { cores: 1, instances: 3 }, sparkConf: conf } });
    const leaver = { ...three[2], metadata: { ...three[2].metadata, ...deleted } };
    const { plan } = decided({
      ...{ object, memory: memory(object, { ...known, demand: demand(3) }), pods: [pod(), three[0], three[1], leaver] },
      hears: { "": gauge(3) },
    });
    assert.deepEqual(plan.stages.flat().map(said).map(brief).filter(notOfTheRun), []);
  });
});

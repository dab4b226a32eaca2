/** The conclusions that a step may draw from the pods that a watch shows, and those that it draws again on live reads. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { omit } from "../../../../../shared/core/json.ts";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Safety } from "../../../../../shared/core/plan.ts";
import { sparkApplication } from "../../../../../shared/spark/application/decide.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import { podsOf } from "../../../../../shared/spark/schema/pod-query.ts";
import { executor as executorPod } from "../../executors/pods.ts";
import { both, heard, living, lostOnce, status } from "../attended.ts";
import {
  application,
  decided,
  driver,
  eight,
  key,
  pod,
  remembered,
  type Short,
  settings,
  spec,
  type World,
} from "../fixtures.ts";

const executor: Short = { name: "pi-exec-1", uid: "e1", role: "executor", owner: "driver-1", executor: 1 };
const ended: Short = { phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T07:59:58Z" };
const pending: Short = { phase: "Pending", waiting: "ContainerCreating" };
const run = { driver, state: { phase: "RUNNING" } } as const;
const submitted = { driver, state: { phase: "SUBMITTED" } } as const;

const annotated = (annotations: Readonly<Record<string, string>>): Stored => application({ metadata: { annotations } });

const safetyOf = (
  pods: readonly Short[],
  more: Omit<Partial<World>, "memory"> & { readonly memory?: Partial<Memory> } = {},
): Safety =>
  decided({ object: application(), ...more, memory: remembered(more.memory ?? run), pods: pods.map((one) => pod(one)) })
    .plan.safety ?? {};

describe("a plan on watched pods", () => {
  const right: readonly (readonly [when: string, safety: Safety])[] = [
    ["the driver starts", safetyOf([pending], { memory: submitted })],
    ["the driver runs with an executor", safetyOf([{}, executor])],
    ["the driver has ended beside an executor", safetyOf([ended, executor])],
    ["the driver has failed", safetyOf([{ phase: "Failed", exitCode: 1 }])],
  ];
  for (const [when, { live }] of right) test(`needs no live reads when ${when}`, () => assert.equal(live, undefined));

  const lateStart = { metadata: { annotations: { "rekindle.dev/executor-start-timeout": "30s" } } };
  const wrong: readonly (readonly [when: string, safety: Safety])[] = [
    ["the driver is not listed", safetyOf([executor])],
    ["no executor has started in time", safetyOf([{}], { object: application(lateStart) })],
    [
      "the driver has not started in time",
      safetyOf([pending], {
        memory: submitted,
        object: annotated({ "rekindle.dev/driver-start-timeout": "30s" }),
      }),
    ],
  ];
  for (const [when, { live }] of wrong) test(`needs live reads when ${when}`, () => assert.equal(live, true));

  test("takes a second look at the executors before one is called gone", () => {
    const memory = remembered({ ...run, executors: { attempt: 1, live: "1" } });
    const { looks } = decided({ object: application(), memory, pods: [pod()] });
    assert.deepEqual(looks.filter((look) => look.do === "list" && look.resource.plural === "pods").length, 2);
  });

  test("needs live reads when nothing is left of an attempt: the next one follows", () => {
    const { plan } = decided({ object: application(), memory: remembered({ state: { phase: "PENDING_RERUN" } }) });
    assert.deepEqual([plan.memory.state.phase, plan.safety?.live], ["SUBMITTED", true]);
    assert.equal(decided({ object: application() }).plan.safety?.live, undefined);
  });
});

/** Returns which plans of a step are marked, in their order. */
const marksOf = (world: World): readonly boolean[] => {
  const { earlier, plan } = decided(world);
  return [...earlier, plan].map(({ safety }) => safety?.live === true);
};

describe("a plan that concludes what no later step takes back", () => {
  const object = application({ status });
  const [staying = { id: 1 }, leaving = { id: 2 }] = both;
  const leaver = { ...leaving, leaving: "2026-11-02T08:02:00Z" };
  const node = heard({ metadata: { uid: "n-1", resourceVersion: "7" }, spec: {} });
  const beside = { object, memory: remembered({ ...run, executors: living([1, 2]) }), hears: { "node-1": node } };
  const pods = [pod(), executorPod(staying), executorPod(leaver)];
  const ofAll = remembered({ ...run, executors: living([], { ...lostOnce, care: { goneSince: eight - 120_000 } }) });
  const failing = application({ status, metadata: { annotations: { "rekindle.dev/on-executors-gone": "fail" } } });
  const unseen = remembered({ driver: omit(driver, "uid"), state: { phase: "SUBMITTED" } });
  const rows: readonly (readonly [concludes: string, world: World, marks: readonly boolean[]])[] = [
    ["that a node takes no more pods", { ...beside, pods }, [true, false]],
    ["in an Event that a node cannot be cordoned", { ...beside, pods, denied: true }, [true, true, false]],
    ["that a run without executors has failed", { object: failing, memory: ofAll, pods: [pod()] }, [true, true]],
    ["by a driver that no list shows", { object, memory: remembered(run), pods: [], live: [pod()] }, [true]],
    ["that a driver was never created", { object: application(), memory: unseen, pods: [] }, [true]],
    [
      "that pods of an attempt are left",
      {
        object: application({ spec: { ...spec, driver: { cores: 2 } }, metadata: { generation: 2 } }),
        memory: remembered(run),
        pods: [pod({ ending: true })],
      },
      [true],
    ],
  ];
  for (const [concludes, world, marks] of rows)
    test(`needs live reads: ${concludes}`, () => assert.deepEqual(marksOf(world), marks));
});

describe("the pods of an application", () => {
  const reads = (state: Memory["state"] | undefined, object = application()): readonly unknown[] => {
    const memory = state === undefined ? undefined : remembered({ state });
    return sparkApplication(settings).watched?.(key, { object, uid: "app-1", memory }) ?? [];
  };

  test("may come from a watch while it is new, or its driver is followed", () =>
    assert.deepEqual([reads(undefined), reads({ phase: "RUNNING" })], [[podsOf(key)], [podsOf(key)]]));

  test("are read live in every other state, and where another controller has left a status", () => {
    const left = { ...application(), status: { applicationState: { state: "RUNNING" } } };
    const rows = [reads({ phase: "PENDING_RERUN" }), reads({ phase: "SUSPENDING" }), reads(undefined, left)];
    assert.deepEqual(rows, [[], [], []]);
  });
});

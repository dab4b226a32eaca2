/** Plans that are right on the pods that a watch shows, and plans that are decided again on live reads. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Safety } from "../../../../../shared/core/plan.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import { application, decided, driver, eight, pod, remembered, type Short, type World } from "../fixtures.ts";

const executor: Short = { name: "pi-exec-1", uid: "e1", role: "executor", owner: "driver-1", executor: 1 };
const stray: Short = { ...executor, uid: "s1", name: "pi-exec-9", submission: "earlier" };
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
  for (const [when, { staleSafe }] of right) test(`is carried out when ${when}`, () => assert.equal(staleSafe, true));

  const lateStart = { metadata: { annotations: { "rekindle.dev/executor-start-timeout": "30s" } } };
  const wrong: readonly (readonly [when: string, safety: Safety])[] = [
    ["the driver is not listed", safetyOf([executor])],
    ["the phase of the driver is unknown", safetyOf([{ phase: "Unknown" }])],
    ["a pod of an earlier attempt is listed, which it deletes", safetyOf([{}, stray])],
    ["a pod of an earlier attempt ends", safetyOf([{}, { ...stray, ending: true }])],
    ["missing pods may still return", safetyOf([{}], { returning: { since: eight - 1_000, until: eight + 60_000 } })],
    ["no executor has started in time", safetyOf([{}], { object: application(lateStart) })],
    [
      "the driver has not started in time",
      safetyOf([pending], {
        memory: submitted,
        object: annotated({ "rekindle.dev/driver-start-timeout": "30s" }),
      }),
    ],
  ];
  for (const [when, { staleSafe }] of wrong)
    test(`is decided again on live reads when ${when}`, () => assert.equal(staleSafe, undefined));

  test("asks the watch whether a missing executor is gone, if that is not behind the ledger", () => {
    const memory = remembered({ ...run, executors: { attempt: 1, live: "1" } });
    const { looks } = decided({ object: application(), memory, pods: [pod()] });
    const again = looks.filter((look) => look.do === "list" && look.again !== undefined);
    assert.deepEqual(
      again.map((look) => "again" in look && look.again),
      ["firm"],
    );
  });

  test("is carried out for the first submission of a new application, and not for a later one", () => {
    assert.equal(decided({ object: application() }).plan.safety?.staleSafe, true);
    const later = decided({ object: application(), memory: remembered({ state: { phase: "PENDING_RERUN" } }) });
    assert.deepEqual([later.plan.safety?.fenced, later.plan.safety?.staleSafe], [true, undefined]);
  });
});

describe("a plan on enclosed pods", () => {
  test("is carried out only if the driver has started and the run has no executor", () => {
    const rows = [safetyOf([{}]), safetyOf([{}, executor]), safetyOf([pending], { memory: submitted })];
    assert.deepEqual(
      rows.map(({ enclosureSafe }) => enclosureSafe),
      [true, undefined, undefined],
    );
  });
});

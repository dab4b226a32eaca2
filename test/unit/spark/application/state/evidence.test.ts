/** Ownership of pods, the evidence of a driver pod, and the reason of its failure. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  adoptedUid,
  causeOf,
  endOf,
  evidenceOf,
  failureOf,
  sortOut,
} from "../../../../../shared/spark/application/state/evidence.ts";
import type { Driver } from "../../../../../shared/spark/application/state/memory.ts";
import { driver, pod, type Short } from "../fixtures.ts";

const { uid: _, ...unseen } = driver;

describe("the pods of a run are sorted into driver, executors and strays", () => {
  type Case = {
    name: string;
    driver: Driver | undefined;
    pods: readonly Short[];
    want: readonly [string | undefined, readonly string[], readonly string[]];
  };
  const executor: Short = { name: "exec", uid: "exec-1", role: "executor", owner: "driver-1", executor: 1 };
  const cases: readonly Case[] = [
    { name: "the driver and its executors", driver, pods: [{}, executor], want: ["driver-1", ["exec-1"], []] },
    { name: "a driver never seen before", driver: unseen, pods: [{}, executor], want: ["driver-1", ["exec-1"], []] },
    {
      name: "a driver known from a status only",
      driver: { ...driver, uid: adoptedUid },
      pods: [{}, executor],
      want: ["driver-1", ["exec-1"], []],
    },
    {
      name: "an executor that the application owns",
      driver,
      pods: [{ ...executor, owner: "app-1" }],
      want: [undefined, ["exec-1"], []],
    },
    { name: "executors of a driver that is gone", driver, pods: [executor], want: [undefined, ["exec-1"], []] },
    { name: "a second body of the driver", driver, pods: [{ uid: "driver-2" }], want: [undefined, [], ["driver-2"]] },
    {
      name: "a past driver and its executors",
      driver,
      pods: [
        {},
        { name: "old", uid: "driver-0", submission: "submission-0" },
        { ...executor, uid: "exec-0", owner: "driver-0", submission: "submission-0" },
      ],
      want: ["driver-1", [], ["exec-0", "driver-0"]],
    },
    {
      name: "an executor of a past run that the application owns",
      driver,
      pods: [{ ...executor, owner: "app-1", submission: "submission-0" }],
      want: [undefined, [], ["exec-1"]],
    },
    {
      name: "without a planned driver all own pods are strays",
      driver: undefined,
      pods: [{}, executor],
      want: [undefined, [], ["exec-1", "driver-1"]],
    },
    {
      name: "foreign pods with the same labels are ignored",
      driver,
      pods: [{ owner: "app-2" }, { ...executor, owner: "driver-9" }],
      want: [undefined, [], []],
    },
    {
      name: "an own pod with another role is a stray",
      driver,
      pods: [{ name: "other", uid: "other-1", role: "sidekick" }],
      want: [undefined, [], ["other-1"]],
    },
  ];
  for (const { name, driver: known, pods, want } of cases) {
    test(name, () => {
      const found = sortOut(pods.map(pod), "app-1", known);
      const uids = (all: readonly { metadata: { uid: string } }[]) => all.map(({ metadata }) => metadata.uid);
      assert.deepEqual([found.driver?.metadata.uid, uids(found.executors), uids(found.strays)], want);
    });
  }
});

describe("the evidence of a driver pod is", () => {
  const cases: readonly { short: Short; want: string }[] = [
    { short: { phase: "Pending" }, want: "pending" },
    { short: { phase: "Running" }, want: "running" },
    { short: { phase: "Running", exitCode: 0 }, want: "completed" },
    { short: { phase: "Running", exitCode: 3 }, want: "failed" },
    { short: { phase: "Succeeded" }, want: "completed" },
    { short: { phase: "Succeeded", exitCode: 1 }, want: "completed" },
    { short: { phase: "Failed" }, want: "failed" },
    { short: { phase: "Failed", exitCode: 143 }, want: "failed" },
    { short: { phase: "Failed", exitCode: 0 }, want: "completed" },
    { short: { phase: "Unknown" }, want: "unknown" },
    { short: { phase: "" }, want: "unknown" },
    { short: { phase: "Running", role: "sidecar", exitCode: 1 }, want: "running" },
  ];
  for (const { short, want } of cases) {
    test(`${JSON.stringify(short)}: ${want}`, () => assert.equal(evidenceOf(pod({ role: "driver", ...short })), want));
  }

  const odd: readonly unknown[] = [undefined, null, "Running", [], { phase: 5 }, { containerStatuses: [] }];
  for (const status of odd) {
    test(`unknown with the status ${JSON.stringify(status)}`, () =>
      assert.equal(evidenceOf({ ...pod(), status }), "unknown"));
  }
});

/** The pods here are deleted at 07:59:59. */
describe("a driver whose pod is deleted", () => {
  const cases = [
    { phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T08:00:01Z", want: "failed", why: "deleted" },
    { phase: "Running", exitCode: 0, finishedAt: "2026-11-02T08:00:01Z", want: "failed", why: "deleted" },
    { phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T07:59:59Z", want: "failed", why: "deleted" },
    { phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T07:58:58Z", want: "completed", why: "application" },
    { phase: "Failed", exitCode: 143, finishedAt: "2026-11-02T08:00:01Z", want: "failed", why: "deleted" },
    { phase: "Failed", exitCode: 137, finishedAt: "2026-11-02T08:00:01Z", want: "failed", why: "deleted" },
    { phase: "Failed", exitCode: 1, finishedAt: "2026-11-02T07:59:58Z", want: "failed", why: "application" },
    { phase: "Running", want: "running", why: "application" },
  ] as const;
  for (const { want, why, ...short } of cases)
    test(`${JSON.stringify(short)}: ${want}, by ${why}`, () => {
      const body = pod({ ...short, ending: true });
      assert.deepEqual([evidenceOf(body), causeOf(body)], [want, why]);
    });

  for (const exitCode of [0, 137, 143])
    test(`and that ends with ${exitCode} has the same failure text as a pod that is gone`, () => {
      const body = pod({
        phase: exitCode === 0 ? "Succeeded" : "Failed",
        exitCode,
        finishedAt: "2026-11-02T08:00:01Z",
        ending: true,
      });
      assert.equal(failureOf(body), "driver pod not found");
    });

  test("with a grace has its deletion request before the pod's deletion timestamp", () => {
    const body = pod({ phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T07:59:58Z", ending: true });
    const metadata = { ...body.metadata, deletionGracePeriodSeconds: 30 };
    assert.equal(evidenceOf({ ...body, metadata }), "failed");
  });
});

/** A kubelet's removal of a pod that a finalizer holds moves the deletion to 07:59:59, with a grace of 0. */
describe("a driver that ended shortly before a deletion without grace", () => {
  const cases = [
    { exitCode: 0, finishedAt: "2026-11-02T07:59:58Z", want: "failed", why: "deleted" },
    { exitCode: 0, finishedAt: "2026-11-02T07:58:59Z", want: "failed", why: "deleted" },
    { exitCode: 0, finishedAt: "2026-11-02T07:58:58Z", want: "completed", why: "application" },
    { exitCode: 143, finishedAt: "2026-11-02T07:59:58Z", want: "failed", why: "deleted" },
    { exitCode: 143, finishedAt: "2026-11-02T07:58:58Z", want: "failed", why: "application" },
    { exitCode: 1, finishedAt: "2026-11-02T07:59:58Z", want: "failed", why: "application" },
  ] as const;
  for (const { want, why, ...end } of cases)
    test(`with ${end.exitCode} at ${end.finishedAt}: ${want}, by ${why}`, () => {
      const body = pod({ phase: end.exitCode === 0 ? "Succeeded" : "Failed", ...end, ending: true });
      const metadata = { ...body.metadata, deletionGracePeriodSeconds: 0, finalizers: ["example.com/held"] };
      assert.deepEqual([evidenceOf({ ...body, metadata }), causeOf({ ...body, metadata })], [want, why]);
    });

  test("stays completed if the deletion has a grace", () => {
    const body = pod({ phase: "Running", exitCode: 0, finishedAt: "2026-11-02T07:59:28Z", ending: true });
    const metadata = { ...body.metadata, deletionGracePeriodSeconds: 30 };
    assert.equal(evidenceOf({ ...body, metadata }), "completed");
  });
});

describe("the failure text of a driver", () => {
  const cases: readonly { short: Short; want: string }[] = [
    {
      short: { phase: "Failed", exitCode: 1, reason: "Error" },
      want: "driver container failed with ExitCode: 1, Reason: Error",
    },
    {
      short: { phase: "Failed", exitCode: 137, reason: "OOMKilled" },
      want: "driver container failed with ExitCode: 137, Reason: OOMKilled",
    },
    { short: { phase: "Failed", exitCode: 2 }, want: "driver container failed with ExitCode: 2, Reason: Error" },
    { short: { phase: "Failed", reason: "Evicted" }, want: "Evicted" },
    { short: { phase: "Failed" }, want: "driver container status missing" },
  ];
  for (const { short, want } of cases) test(want, () => assert.equal(failureOf(pod(short)), want));

  const ends = [
    { finishedAt: "2026-11-02T07:59:58Z", want: Date.UTC(2026, 10, 2, 7, 59, 58) },
    { finishedAt: "yesterday", want: undefined },
  ];
  for (const { finishedAt, want } of ends) {
    test(`has the end time of finishedAt ${finishedAt}, if that is valid`, () =>
      assert.equal(endOf(pod({ phase: "Failed", exitCode: 1, finishedAt })), want));
  }
});

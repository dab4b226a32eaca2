/** The watches of SparkApplications: the changes that send a key, and the key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { trimPod as trim } from "../../../../shared/kube/trim.ts";
import { sparkApplication } from "../../../../shared/spark/application/decide.ts";
import { application, pod, type Short, settings } from "./fixtures.ts";

const [apps, pods] = sparkApplication(settings).watches;
assert.ok(apps !== undefined && pods !== undefined);

describe("an application", () => {
  const base = application({ metadata: { labels: { a: "1" }, annotations: { b: "1" } } });
  const changed = (metadata: Partial<Stored["metadata"]>): Stored => ({
    ...base,
    metadata: { ...base.metadata, ...metadata },
  });
  const cases = [
    { name: "that is new is news", before: undefined, after: base, want: true },
    {
      name: "whose status was written is none",
      before: base,
      after: { ...changed({ resourceVersion: "9" }), status: { applicationState: { state: "RUNNING" } } },
      want: false,
    },
    { name: "with a changed spec is", before: base, after: changed({ generation: 2 }), want: true },
    {
      name: "being deleted is",
      before: base,
      after: changed({ deletionTimestamp: "2026-11-02T08:00:00Z" }),
      want: true,
    },
    {
      name: "paused is",
      before: base,
      after: changed({ annotations: { b: "1", "rekindle.dev/paused": "true" } }),
      want: true,
    },
    { name: "with another label is", before: base, after: changed({ labels: {} }), want: true },
    { name: "replaced by another of its name is", before: base, after: changed({ uid: "app-2" }), want: true },
  ];
  for (const { name, before, after, want } of cases) test(name, () => assert.equal(apps.matters(before, after), want));

  test("is its own owner", () => assert.equal(apps.ownerName(base), "spark-pi"));
});

describe("a pod", () => {
  const executor: Short = { name: "exec-1", uid: "exec-1", role: "executor", executor: 1, phase: "Pending" };
  const cases: readonly { name: string; before?: Short; after: Short; want: boolean }[] = [
    { name: "of a driver just created is what its creator knows", after: { phase: "Pending" }, want: false },
    { name: "of a driver that runs when it is first seen is news", after: {}, want: true },
    { name: "of an executor just created is", after: executor, want: true },
    { name: "in another phase is", before: { phase: "Pending" }, after: { phase: "Running" }, want: true },
    { name: "whose container ended is", before: {}, after: { exitCode: 0 }, want: true },
    {
      name: "that waits for another reason is",
      before: { phase: "Pending", waiting: "ContainerCreating" },
      after: { phase: "Pending", waiting: "ErrImagePull" },
      want: true,
    },
    {
      name: "whose containers are being created is none",
      before: { phase: "Pending" },
      after: { phase: "Pending", waiting: "ContainerCreating" },
      want: false,
    },
    {
      name: "that waits for a reason after none is",
      before: { phase: "Pending" },
      after: { phase: "Pending", waiting: "ImagePullBackOff" },
      want: true,
    },
    { name: "being deleted is", before: {}, after: { ending: true }, want: true },
    { name: "with another body is", before: {}, after: { uid: "driver-2" }, want: true },
    { name: "that only got older is none", before: {}, after: {}, want: false },
  ];
  for (const { name, before, after, want } of cases) {
    test(name, () => {
      const trimmed = (short: Short): Stored => trim(pod(short));
      assert.equal(pods.matters(before === undefined ? undefined : trimmed(before), trimmed(after)), want);
    });
  }

  for (const { role, want } of [
    { role: "driver", want: false },
    { role: "executor", want: true },
  ]) {
    test(`of the role ${role}, that finds no node, is ${want ? "news" : "none: nothing is decided on it"}`, () => {
      const before = pod({ role, executor: 1, phase: "Pending", waiting: "ContainerCreating" });
      const unscheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
      const after = { ...before, status: { phase: "Pending", conditions: [unscheduled] } };
      assert.equal(pods.matters(trim(before), trim(after)), want);
    });
  }

  test("belongs to whom its label names, and only ours are watched", () => {
    assert.equal(pods.ownerName(pod()), "spark-pi");
    assert.equal(pods.ownerName({ ...pod(), metadata: { name: "stray" } }), undefined);
    assert.equal(pods.selector, "sparkoperator.k8s.io/launched-by-spark-operator=true");
  });
});

describe("to be acted on at once", () => {
  const alive: Short = { name: "exec-1", uid: "exec-1", role: "executor", executor: 1 };
  const cases: readonly { name: string; before?: Short; after?: Short; want: boolean }[] = [
    { name: "is an executor that ended", before: alive, after: { ...alive, exitCode: 1 }, want: true },
    { name: "is one that is being deleted", before: alive, after: { ...alive, ending: true }, want: true },
    { name: "is one that is gone", before: alive, want: true },
    {
      name: "is one that is seen for the first time when it has ended",
      after: { ...alive, phase: "Failed" },
      want: true,
    },
    { name: "is none that came up", before: { ...alive, phase: "Pending" }, after: alive, want: false },
    { name: "is none whose end was known", before: { ...alive, exitCode: 1 }, want: false },
    { name: "is no driver", before: {}, after: { exitCode: 1 }, want: false },
  ];
  for (const { name, before, after, want } of cases)
    test(name, () => {
      const [was, is] = [before, after].map((short) => (short === undefined ? undefined : pod(short)));
      assert.equal(pods.urgent?.(was, is), want);
    });
});

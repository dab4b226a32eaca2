/** The watches of SparkApplications: the changes that send a key, and the key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { trimPod as trim } from "../../../../shared/kube/trim.ts";
import { sparkApplication } from "../../../../shared/spark/application/decide.ts";
import { application, pod, type Short, settings } from "./fixtures.ts";

const [apps, pods] = sparkApplication(settings).watches;
assert.ok(apps !== undefined && pods !== undefined);

describe("a key is sent for an application", () => {
  const base = application({ metadata: { labels: { a: "1" }, annotations: { b: "1" } } });
  const changed = (metadata: Partial<Stored["metadata"]>): Stored => ({
    ...base,
    metadata: { ...base.metadata, ...metadata },
  });
  const cases = [
    { name: "that is new: yes", before: undefined, after: base, want: true },
    {
      name: "whose status alone changed: no",
      before: base,
      after: { ...changed({ resourceVersion: "9" }), status: { applicationState: { state: "RUNNING" } } },
      want: false,
    },
    { name: "with a changed spec: yes", before: base, after: changed({ generation: 2 }), want: true },
    {
      name: "being deleted: yes",
      before: base,
      after: changed({ deletionTimestamp: "2026-11-02T08:00:00Z" }),
      want: true,
    },
    {
      name: "that is paused: yes",
      before: base,
      after: changed({ annotations: { b: "1", "rekindle.dev/paused": "true" } }),
      want: true,
    },
    { name: "with another label: yes", before: base, after: changed({ labels: {} }), want: true },
    { name: "replaced by another one of its name: yes", before: base, after: changed({ uid: "app-2" }), want: true },
  ];
  for (const { name, before, after, want } of cases) test(name, () => assert.equal(apps.matters(before, after), want));

  test("with its own name", () => assert.equal(apps.ownerName(base), "spark-pi"));
});

describe("a key is sent for a pod", () => {
  const executor: Short = { name: "exec-1", uid: "exec-1", role: "executor", executor: 1, phase: "Pending" };
  const cases: readonly { name: string; before?: Short; after: Short; want: boolean }[] = [
    { name: "of a Pending driver that was just created: no", after: { phase: "Pending" }, want: false },
    { name: "of a driver that runs when it is first seen: yes", after: {}, want: true },
    { name: "of an executor that was just created: yes", after: executor, want: true },
    { name: "in another phase: yes", before: { phase: "Pending" }, after: { phase: "Running" }, want: true },
    { name: "whose container ended: yes", before: {}, after: { exitCode: 0 }, want: true },
    {
      name: "with another waiting reason: yes",
      before: { phase: "Pending", waiting: "ContainerCreating" },
      after: { phase: "Pending", waiting: "ErrImagePull" },
      want: true,
    },
    {
      name: "whose containers are being created: no",
      before: { phase: "Pending" },
      after: { phase: "Pending", waiting: "ContainerCreating" },
      want: false,
    },
    {
      name: "with a first waiting reason: yes",
      before: { phase: "Pending" },
      after: { phase: "Pending", waiting: "ImagePullBackOff" },
      want: true,
    },
    { name: "being deleted: yes", before: {}, after: { ending: true }, want: true },
    { name: "with another UID: yes", before: {}, after: { uid: "driver-2" }, want: true },
    { name: "without a change: no", before: {}, after: {}, want: false },
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
    test(`of the role ${role} that is Unschedulable: ${want ? "yes" : "no"}`, () => {
      const before = pod({ role, executor: 1, phase: "Pending", waiting: "ContainerCreating" });
      const unscheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
      const after = { ...before, status: { phase: "Pending", conditions: [unscheduled] } };
      assert.equal(pods.matters(trim(before), trim(after)), want);
    });
  }

  test("with the application's name from its label, and only if its labels match the selector", () => {
    assert.equal(pods.ownerName(pod()), "spark-pi");
    assert.equal(pods.ownerName({ ...pod(), metadata: { name: "stray" } }), undefined);
    assert.equal(pods.selector, "sparkoperator.k8s.io/launched-by-spark-operator=true");
  });
});

describe("an urgent key is sent for a pod", () => {
  const alive: Short = { name: "exec-1", uid: "exec-1", role: "executor", executor: 1 };
  const cases: readonly { name: string; before?: Short; after?: Short; want: boolean }[] = [
    { name: "of an executor that ended: yes", before: alive, after: { ...alive, exitCode: 1 }, want: true },
    { name: "of an executor that is being deleted: yes", before: alive, after: { ...alive, ending: true }, want: true },
    { name: "of an executor that is gone: yes", before: alive, want: true },
    {
      name: "of an executor that is first seen after its end: yes",
      after: { ...alive, phase: "Failed" },
      want: true,
    },
    { name: "of an executor that started: no", before: { ...alive, phase: "Pending" }, after: alive, want: false },
    { name: "of an executor whose end was known: no", before: { ...alive, exitCode: 1 }, want: false },
    { name: "of a driver: no", before: {}, after: { exitCode: 1 }, want: false },
  ];
  for (const { name, before, after, want } of cases)
    test(name, () => {
      const [was, is] = [before, after].map((short) => (short === undefined ? undefined : pod(short)));
      assert.equal(pods.urgent?.(was, is), want);
    });
});

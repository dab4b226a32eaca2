/** What the groups of queues use: no invented zeros, and the sums of the tree. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";

const made = (kind: string, name: string, more: object, namespace?: string): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind },
  metadata: { name, uid: `${kind}-${name}`, resourceVersion: "1", ...(namespace === undefined ? {} : { namespace }) },
  ...more,
});

const queue = (name: string, parent?: string, status: object = { state: "Open" }): Stored =>
  made("Queue", name, { spec: { weight: 1, parent, capability: { cpu: "4" } }, status });

const group = (name: string, of: string, phase: string, cpu: string): Stored =>
  made("PodGroup", name, { spec: { queue: of, minResources: { cpu, memory: "1Gi" } }, status: { phase } }, "team-a");

const open = (...objects: readonly Stored[]) => {
  const board = openBoard(() => 0);
  for (const one of objects) board.see(one);
  const shown = (namespaces: readonly string[] = []) =>
    (board.read(namespaces).queues ?? []).map(({ name, groups, allocated }) => [
      name,
      groups,
      allocated["cpu"],
      allocated["memory"],
    ]);
  return { board, shown };
};

describe("the use of queues", () => {
  test("is not known before a group was seen, unless the status tells it", () => {
    const { shown } = open(queue("plain"), queue("told", undefined, { running: 2, allocated: { cpu: "3" } }));
    assert.deepEqual(shown(), [
      ["plain", [-1, -1, -1], undefined, undefined],
      ["told", [-1, -1, 2], "3", undefined],
    ]);
  });

  test("is that of the admitted groups, in a queue and below it; counts are of the queue alone", () => {
    const { shown } = open(
      ...[queue("root"), queue("ml", "root"), queue("batch", "ml"), queue("idle", "root")],
      ...[group("a", "batch", "Running", "1500m"), group("b", "ml", "Inqueue", "500m"), group("c", "ml", "", "8")],
      ...[group("d", "batch", "Completed", "2"), group("e", "batch", "Pending", "2")],
    );
    assert.deepEqual(shown(), [
      ["root", [0, 0, 0], "2", "2Gi"],
      ["ml", [1, 1, 0], "2", "2Gi"],
      ["batch", [1, 0, 1], "1500m", "1Gi"],
      ["idle", [0, 0, 0], "0", "0"],
    ]);
  });

  test("follows a group to its end, and reaches readers as a change", () => {
    const { board, shown } = open(queue("ml"), group("a", "ml", "Running", "1"));
    const { id } = board.read([]);
    board.see(group("a", "ml", "Running", "1"));
    assert.equal(board.read([], id).queues, undefined);
    board.gone(group("a", "ml", "Running", "1"));
    assert.deepEqual(board.read([], id).queues?.[0]?.groups, [0, 0, 0]);
    board.see(group("b", "ml", "Inqueue", "1"));
    assert.deepEqual(shown(), [["ml", [0, 1, 0], "1", "1Gi"]]);
  });

  test("counts the pods of an admitted group where they are more than its minimum, until they end", () => {
    const owned = { ...group("a", "ml", "Running", "500m") };
    const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "train", uid: "j" };
    const pod = (name: string, phase: string): Stored => ({
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        ...{ name, namespace: "team-a", uid: name, resourceVersion: "1", creationTimestamp: "2026-11-02T08:00:00Z" },
        labels: { "volcano.sh/job-name": "train" },
      },
      spec: { containers: [{ name: "c", resources: { requests: { cpu: "500m", memory: "1Gi" } } }] },
      status: { phase },
    });
    const { board, shown } = open(queue("ml"), pod("train-w-0", "Running"), pod("train-w-1", "Running"), {
      ...owned,
      metadata: { ...owned.metadata, ownerReferences: [owner] },
    });
    assert.deepEqual(shown(), [["ml", [0, 0, 1], "1", "2Gi"]]);
    board.gone(pod("train-w-1", "Running"));
    board.see({
      ...owned,
      metadata: { ...owned.metadata, ownerReferences: [owner] },
      status: { phase: "Running", running: 1 },
    });
    assert.deepEqual(shown(), [["ml", [0, 0, 1], "500m", "1Gi"]]);
  });

  test("reaches no caller of some namespaces", () => {
    const { shown } = open(queue("ml"), group("a", "ml", "Running", "1"));
    assert.deepEqual(shown(["team-a"]), []);
  });

  test("ends at a circle of queues", () => {
    const { shown } = open(queue("a", "b"), queue("b", "a"), group("g", "a", "Running", "1"));
    assert.equal(shown().length, 2);
  });
});

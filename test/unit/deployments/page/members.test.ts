/** Cells of a Job's gang and nodes of a JobFlow, from their objects. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { flowOf, gangOf } from "../../../../shared/deployments/page/detail.ts";
import { kindNamed } from "../../../../shared/inspection/kinds/all.ts";
import type { StatusInput } from "../../../../shared/inspection/status.ts";

const now = Date.parse("2026-11-02T08:10:00Z");

const seenAs = (
  kindName: string,
  object: Readonly<Record<string, unknown>>,
  pods: readonly Stored[] = [],
): StatusInput => {
  const kind = kindNamed(kindName);
  assert.ok(kind);
  const whole: Stored = {
    apiVersion: `${kind.resource.group}/${kind.resource.version}`,
    kind: kindName,
    metadata: { name: "nightly", namespace: "ml", uid: "u", resourceVersion: "1" },
    ...object,
  };
  return {
    target: { kind, key: { cluster: "default", kind: kindName, namespace: "ml", name: "nightly" } },
    ...{
      removal: "",
      object: whole,
      state: kind.stateOf(whole),
      found: { is: "none", why: "" },
      pods,
      holdups: [],
      now,
    },
  };
};

const pod = (task: string, index: number, phase: string): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name: `nightly-${task}-${index}`, namespace: "ml", uid: `${task}${index}`, resourceVersion: "1" },
    labels: { "volcano.sh/task-spec": task, "volcano.sh/task-index": String(index) },
  },
  status: { phase },
});

describe("the gang of a Job", () => {
  const spec = {
    ...{ minAvailable: 3, maxRetry: 5, queue: "batch" },
    tasks: [
      { name: "worker", replicas: 3 },
      { name: "ps", replicas: 1 },
    ],
  };

  test("each replica of a task is a cell, even without a pod", () => {
    const pods = [pod("worker", 0, "Running"), pod("worker", 2, "Pending"), pod("ps", 0, "Succeeded")];
    const gang = gangOf(seenAs("Job", { spec, status: { retryCount: 1 } }, pods));
    assert.deepEqual(
      gang?.tasks.map(({ task, cells }) => [task, ...cells.map(({ group }) => group)]),
      [
        ["worker", "running", "absent", "waiting"],
        ["ps", "completed"],
      ],
    );
    assert.deepEqual([gang?.have, gang?.least, gang?.queue, gang?.retries, gang?.mostRetries], [2, 3, "batch", 1, 5]);
  });

  test("the cell of a pod that does not start has the reason", () => {
    const pods = [pod("worker", 1, "Pending")];
    const holdup = {
      pod: "nightly-worker-1",
      reason: "Unschedulable",
      message: "no node fits",
      help: "",
      isWrong: false,
    };
    const gang = gangOf({ ...seenAs("Job", { spec }, pods), holdups: [holdup] });
    assert.match(gang?.tasks[0]?.cells[1]?.why ?? "", /no node fits/);
  });

  test("a huge Job has a bounded number of cells", () => {
    const gang = gangOf(seenAs("Job", { spec: { tasks: [{ name: "worker", replicas: 50_000 }] } }));
    assert.deepEqual([gang?.tasks[0]?.cells.length, gang?.more], [1_000, 49_000]);
  });
});

describe("the jobs of a flow", () => {
  test("a job that is not created waits for its incomplete dependencies, and has their probe", () => {
    const spec = {
      flows: [
        { name: "extract" },
        { name: "train", dependsOn: { targets: ["extract"] } },
        { name: "eval", dependsOn: { targets: ["extract", "train"] } },
        { name: "report", dependsOn: { targets: ["train"], probe: { httpGetList: [{ port: 8080, path: "/up" }] } } },
      ],
    };
    const status = {
      jobStatusList: [
        { name: "nightly-extract", state: "Completed" },
        { name: "nightly-train", state: "Running" },
      ],
    };
    const nodes = flowOf(seenAs("JobFlow", { spec, status })) ?? [];
    assert.deepEqual(
      nodes.map(({ name, state, group, waits }) => [name, state, group, waits]),
      [
        ["extract", "Completed", "completed", ""],
        ["train", "Running", "running", ""],
        ["eval", "", "waiting", "train"],
        ["report", "", "waiting", "train: probe :8080/up"],
      ],
    );
    assert.equal(nodes[1]?.job, "Job/ml/nightly-train");
  });

  test("a spec that cannot be parsed has no jobs, and other kinds have no flow", () => {
    assert.deepEqual(flowOf(seenAs("JobFlow", { spec: { flows: "none" } })), []);
    assert.equal(flowOf(seenAs("Job", { spec: {} })), undefined);
  });
});

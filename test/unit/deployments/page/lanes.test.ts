/** Lanes of the page with the record's losses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { openLanes, recordedEnds, recordedLanes, withLosses } from "../../../../shared/deployments/page/lanes.ts";
import type { RecordView } from "../../../../shared/inspection/record.ts";
import { withRecorded } from "../../../../shared/page/timeline.ts";
import type { Lane } from "../../../../shared/page/wire.ts";

const lane = (id: number, attempt = 1): Lane => ({
  ...{ pod: `etl-${attempt}-exec-${id}`, role: "executor", id, attempt, requestedAt: 1_000, up: 2_000 },
});

const endsOf = (losses: Parameters<typeof withLosses>[1]["losses"], attempt = 1) => ({
  ...{ losses, attempt, reasons: new Map<string, string>() },
});

const loss = (id: number, pod: string) => ({
  id,
  pod,
  reason: "deleted",
  node: "",
  why: "",
  at: 5_000,
  exit: undefined,
});

test("a lane has the resource requests of its pod, even after the pod's spec is gone", () => {
  const lanes = openLanes();
  const resources = { requests: { cpu: "500m", memory: "1536Mi" } };
  const seen: Stored = {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: {
      ...{ name: "exec-1", namespace: "team-a", uid: "u1", resourceVersion: "1" },
      labels: { "sparkoperator.k8s.io/app-name": "etl", "spark-role": "executor", "spark-exec-id": "1" },
    },
    spec: { containers: [{ name: "main", resources }] },
  };
  const key = lanes.see(seen) ?? "";
  lanes.gone({ ...seen, spec: {} }, 5_000);
  const [lane] = lanes.of(key);
  assert.deepEqual([lane?.cores, lane?.gib], [0.5, 1.5]);
});

describe("lanes with losses", () => {
  test("a loss whose pod is not in the record marks the lane of its executor in this attempt, and adds none", () => {
    const lanes = withLosses([lane(2), lane(2, 2), lane(3, 2)], endsOf([loss(2, ""), loss(3, "")], 2));
    assert.deepEqual(
      lanes.map(({ pod, lost = false, end }) => [pod, lost, end]),
      [
        ["etl-1-exec-2", false, undefined],
        ["etl-2-exec-2", true, 5_000],
        ["etl-2-exec-3", true, 5_000],
      ],
    );
  });

  test("a loss marks the lane of its pod; without a watched pod it becomes a lane with only its end", () => {
    const lanes = withLosses([lane(2), lane(3)], endsOf([loss(3, "etl-1-exec-3"), loss(4, "etl-1-exec-4")]));
    assert.deepEqual(
      lanes.map(({ id, lost = false, up }) => [id, lost, up]),
      [
        [2, false, 2_000],
        [3, true, 2_000],
        [4, true, undefined],
      ],
    );
  });

  test("an executor that finished is not lost", () => {
    const [only] = withLosses([lane(2)], endsOf([{ ...loss(2, "etl-1-exec-2"), reason: "finished" }]));
    assert.equal(only?.lost, undefined);
  });
});

describe("lanes of the record", () => {
  const run = {
    ...{ attempt: 1, submittedAt: 500, upAt: 700, endedAt: 90_000, isFailed: true, ran: undefined, node: "node-9" },
    needs: [1_000, 1_024, 2_000, 4_096] as [number, number, number, number],
    lifetimes: [
      [2, 1, 2, 60, "node-1", "memory"],
      [3, 1, -1, 60, "", "driverEnded"],
    ] as [number, number, number, number, string, string][],
  };

  test("have the driver of a past run, and its executors with start, end, node, requests and losses", () => {
    const lanes = recordedLanes([run]).map(({ pod: _, isRecorded: __, ...lane }) => lane);
    const requests = { cores: 2, gib: 4 };
    assert.deepEqual(lanes, [
      {
        ...{ role: "driver", id: 0, attempt: 1, requestedAt: 500, up: 700, end: 90_000, cores: 1, gib: 1 },
        ...{ node: "node-9", lost: true, reason: "failed" },
      },
      {
        ...{ role: "executor", id: 2, attempt: 1, requestedAt: 1_000, up: 3_000, end: 61_000, node: "node-1" },
        ...{ ...requests, lost: true, reason: "memory" },
      },
      { role: "executor", id: 3, attempt: 1, requestedAt: 1_000, end: 61_000, ...requests },
    ]);
  });

  test("of the present run have no driver: its pod is there", () => {
    const lanes = recordedLanes([{ ...run, endedAt: undefined }]);
    assert.deepEqual(
      lanes.map(({ role }) => role),
      ["executor", "executor"],
    );
  });

  test("give way to the lane of the same executor that this process has seen, also of an adopted one", () => {
    const ids = (seen: readonly Lane[]) =>
      withRecorded(seen, recordedLanes([run])).map(({ id, attempt, isRecorded = false }) => [id, attempt, isRecorded]);
    assert.deepEqual(ids([lane(2), lane(3, 2)]), [
      [0, 1, true],
      [3, 1, true],
      [2, 1, false],
      [3, 2, false],
    ]);
    assert.deepEqual(ids([lane(2, 0)]).at(-1), [2, 0, false]);
    assert.equal(ids([lane(2, 0)]).length, 3);
  });

  test("are marked by the record's losses, and no loss adds a second lane", () => {
    const lanes = withLosses(recordedLanes([run]), endsOf([loss(3, "etl-1-exec-3")]));
    assert.deepEqual(
      lanes.map(({ id, lost = false, reason }) => [id, lost, reason]),
      [
        [0, true, "failed"],
        [2, true, "memory"],
        [3, true, "deleted"],
      ],
    );
  });
});

const application = "SparkApplication/team-a/etl";

type End = { readonly at: string; readonly exit: number; readonly reason?: string };

const pod = (role: string, id: number, end?: End): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name: `etl-${role}-${id}`, namespace: "team-a", uid: `${role}-${id}`, resourceVersion: "1" },
    creationTimestamp: "2026-11-02T08:00:00Z",
    labels: {
      ...{ "spark-role": role, "spark-exec-id": String(id) },
      ...{ "sparkoperator.k8s.io/app-name": "etl", "rekindle.dev/attempt": "1" },
    },
  },
  status: {
    phase: end === undefined ? "Running" : "Failed",
    containerStatuses: [
      {
        name: `spark-kubernetes-${role}`,
        state:
          end === undefined
            ? { running: { startedAt: "2026-11-02T08:00:01Z" } }
            : {
                terminated: {
                  ...{ startedAt: "2026-11-02T08:00:01Z", finishedAt: end.at },
                  ...{ exitCode: end.exit, reason: end.reason ?? "Error" },
                },
              },
      },
    ],
  },
});

/** A record of the first attempt with these lifetimes. */
const recordWith = (lifetimes: readonly unknown[], executors: object = {}): RecordView => ({
  ...{ schema: 1, uid: "u1", saves: 1 },
  memory: {
    driver: { attempt: 1, submittedAt: 0 },
    executors: { attempt: 1, lifetimes, ...executors },
    state: { phase: "COMPLETED", endedAt: 10_000 },
  },
});

const losesOf = (pods: readonly Stored[], record?: RecordView) => {
  const lanes = openLanes();
  for (const one of pods) lanes.see(one);
  if (record !== undefined) lanes.recorded(application, recordedEnds(record));
  return lanes.of(application).flatMap(({ id, lost, reason }) => (lost === true ? [[id, reason]] : []));
};

describe("lanes by the status of the pods", () => {
  const driver = pod("driver", 0);

  test("an executor's lane is marked with its reason before any step has saved the loss", () => {
    const killed = pod("executor", 1, { at: "2026-11-02T08:00:09Z", exit: 137, reason: "OOMKilled" });
    assert.deepEqual(losesOf([driver, killed, pod("executor", 2)]), [[1, "memory"]]);
  });

  test("an executor that finished, or ended with its driver, is not marked", () => {
    const ended = pod("driver", 0, { at: "2026-11-02T08:00:09Z", exit: 1 });
    const finished = pod("executor", 1, { at: "2026-11-02T08:00:05Z", exit: 0 });
    const followed = pod("executor", 2, { at: "2026-11-02T08:00:09Z", exit: 143 });
    const before = pod("executor", 3, { at: "2026-11-02T08:00:08Z", exit: 143 });
    assert.deepEqual(losesOf([ended, finished, followed, before]), [[3, "terminated"]]);
  });

  test("an executor that exited with 0 and was deleted before its driver ended is not lost, with and without the record's word", () => {
    const one = pod("executor", 1, { at: "2026-11-02T08:00:08Z", exit: 0, reason: "Completed" });
    const metadata = { ...one.metadata, deletionTimestamp: "2026-11-02T08:00:08Z", deletionGracePeriodSeconds: 0 };
    const ended = pod("driver", 0, { at: "2026-11-02T08:00:09Z", exit: 0 });
    const all = [ended, { ...one, metadata }];
    assert.deepEqual(losesOf(all), []);
    assert.deepEqual(losesOf(all, recordWith([[1, 1, 0, 7, "", "finished"]])), []);
    assert.deepEqual(losesOf(all, recordWith([[1, 1, 0, 7, "", "deleted"]])), [[1, "deleted"]]);
  });

  test("the record's word about an end replaces what its pod shows, whatever that is", () => {
    const killed = pod("executor", 1, { at: "2026-11-02T08:00:05Z", exit: 143 });
    assert.deepEqual(losesOf([driver, killed]), [[1, "terminated"]]);
    for (const reason of ["finished", "dismissed", "driverEnded", "removed"])
      assert.deepEqual(losesOf([driver, killed], recordWith([[1, 1, 0, 5, "", reason]])), [], reason);
    assert.deepEqual(losesOf([driver, killed], recordWith([[2, 1, 0, 5, "", "finished"]])), [[1, "terminated"]]);
    assert.deepEqual(losesOf([driver, killed], recordWith([[1, 1, 0, 5, "", "of a later version"]])), [
      [1, "of a later version"],
    ]);
  });

  test("the record's reason replaces the pod's", () => {
    const lanes = openLanes();
    lanes.see(driver);
    lanes.see(pod("executor", 1, { at: "2026-11-02T08:00:09Z", exit: 143 }));
    lanes.recorded(application, endsOf([{ ...loss(1, "etl-executor-1"), reason: "preempted" }]));
    assert.deepEqual(
      lanes.of(application).flatMap(({ lost, reason }) => (lost === true ? [reason] : [])),
      ["preempted"],
    );
  });
});

describe("the memory of lanes", () => {
  const podOf = (namespace: string, at: number): Stored => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name: `p-${at}`, namespace, uid: `${namespace} ${at}`, resourceVersion: "1" },
      labels: { "volcano.sh/job-name": `job-${at}` },
    },
    spec: { nodeName: "n" },
    status: { phase: "Running" },
  });

  test("a tenant that names thousands of applications on its pods evicts its own lanes only", () => {
    const lanes = openLanes(1_000);
    lanes.see(podOf("team-a", 1));
    for (let at = 0; at < 5_000; at += 1) lanes.see(podOf("mallory", at));
    assert.equal(lanes.of("Job/team-a/job-1").length, 1);
    assert.equal(lanes.of("Job/mallory/job-4999").length, 1);
    const kept = Array.from({ length: 5_000 }, (_, at) => lanes.of(`Job/mallory/job-${at}`).length);
    assert.equal(
      kept.reduce((sum, count) => sum + count, 0),
      499,
    );
  });

  test("losses and reasons of records count against the bound, and those of an edited record are cut", () => {
    const many = Array.from({ length: 5_000 }, (_, id) => id);
    const losses = many.map((id) => ({
      ...{ id, reason: "x".repeat(10_000), why: "y".repeat(10_000), at: 1_000, node: "n", pod: "p", uid: `u${id}` },
    }));
    const ends = recordedEnds(
      recordWith(
        many.map((id) => [id, 1, 0, 1, "n", "z".repeat(10_000)]),
        { losses },
      ),
    );
    assert.deepEqual([ends.losses.length, ends.reasons.size], [600, 600]);
    assert.ok(JSON.stringify([ends.losses, [...ends.reasons]]).length < 600 * 1_000);
    const lanes = openLanes(1_000);
    lanes.see(podOf("mallory", 1));
    lanes.recorded("Job/mallory/job-1", ends);
    assert.deepEqual(lanes.of("Job/mallory/job-1"), []);
  });
});

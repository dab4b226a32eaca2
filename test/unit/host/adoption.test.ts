/**
 * Applications of kubeflow's operator that a host takes over: runs end as they would have, and the host creates and
 * deletes nothing for it.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { labelOf } from "../../../shared/kube/pods.ts";
import { type Left, leftBy } from "../../support/left.ts";
import { application, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const id = "11111111-2222-4333-8444-555555555555";
const older = "99999999-2222-4333-8444-555555555555";
const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/app/status";

const state = (stand: Stand): string => stateOf(stand.get("SparkApplication", "app"));

const drivers = (stand: Stand): readonly Stored[] =>
  stand.all("Pod").filter((pod) => labelOf(pod, "spark-role") === "driver");

const executors = (stand: Stand): readonly Stored[] =>
  stand.all("Pod").filter((pod) => labelOf(pod, "spark-role") === "executor");

/** Writes the whole status, as upstream does. */
const tell = async (stand: Stand, status: unknown): Promise<void> => {
  const object = stand.get("SparkApplication", "app");
  await request(stand.simulator.transport, "PUT", path, { ...object, status });
};

type Made = { readonly left: Left; readonly driver: Stored | undefined };

/** Creates the application, and its driver if it was submitted. */
const leave = async (stand: Stand, spec: Record<string, unknown>, submitted: boolean): Promise<Made> => {
  await stand.create(application("app", { spec }));
  const object = stand.get("SparkApplication", "app");
  assert.ok(object !== undefined);
  const left = leftBy(object, id, stand.simulator.clock.now());
  if (!submitted) return { left, driver: undefined };
  await stand.create(left.driver);
  const driver = stand.get("Pod", left.driver.metadata.name);
  assert.ok(driver !== undefined);
  for (const other of left.others(driver)) await stand.create(other);
  await stand.until("its executor runs", () => executors(stand).length > 0, 60_000);
  return { left, driver };
};

/** Returns the host's writes to pods, and its deletions. */
const deeds = (stand: Stand): readonly string[] =>
  stand.writes().filter((line) => /\/pods/.test(line) || /^DELETE/.test(line));

type Row = {
  readonly left: string;
  readonly spec?: Record<string, unknown>;
  readonly submitted: boolean;
  readonly status: (left: Left) => Record<string, unknown>;
  readonly ends: string;
  /** Submissions and executions at the end. */
  readonly counts: readonly [number, number];
};

/** Returns a status after upstream's reset: fields of the run are reset, counters and the last submission's id stay. */
const reset = (left: Left, to: string) => ({
  ...left.status(to),
  ...{ submissionID: older, driverInfo: {}, sparkApplicationId: "", submissionAttempts: 2, executionAttempts: 2 },
});

const retry = { restartPolicy: { type: "OnFailure", onFailureRetries: 5, onFailureRetryInterval: 100_000 } };

const rows: readonly Row[] = [
  { left: "SUBMITTED", submitted: true, status: (left) => left.status("SUBMITTED"), ends: "COMPLETED", counts: [1, 1] },
  { left: "RUNNING", submitted: true, status: (left) => left.status("RUNNING"), ends: "COMPLETED", counts: [1, 1] },
  { left: "UNKNOWN", submitted: true, status: (left) => left.status("UNKNOWN"), ends: "COMPLETED", counts: [1, 1] },
  {
    left: "PENDING_RERUN, submitted and not written down",
    submitted: true,
    status: (left) => reset(left, "PENDING_RERUN"),
    ends: "COMPLETED",
    counts: [3, 3],
  },
  {
    left: "SUBMISSION_FAILED, its retry submitted and not written down",
    submitted: true,
    status: (left) => reset(left, "SUBMISSION_FAILED"),
    ends: "COMPLETED",
    counts: [3, 3],
  },
  {
    left: "RESUMING, submitted and not written down",
    submitted: true,
    status: (left) => reset(left, "RESUMING"),
    ends: "COMPLETED",
    counts: [3, 3],
  },
  {
    left: "SUSPENDED",
    spec: { suspend: true },
    submitted: false,
    status: (left) => reset(left, "SUSPENDED"),
    ends: "SUSPENDED",
    counts: [2, 2],
  },
  {
    left: "FAILING, its retry hours away",
    spec: retry,
    submitted: false,
    status: (left) => ({ ...left.status("FAILING"), terminationTime: "2026-11-02T08:00:00Z" }),
    ends: "FAILING",
    counts: [1, 1],
  },
  {
    left: "COMPLETED",
    submitted: false,
    status: (left) => ({ ...left.status("COMPLETED"), terminationTime: "2026-11-02T08:00:00Z" }),
    ends: "COMPLETED",
    counts: [1, 1],
  },
  {
    left: "FAILED",
    submitted: false,
    status: (left) => ({ ...left.status("FAILED"), terminationTime: "2026-11-02T08:00:00Z" }),
    ends: "FAILED",
    counts: [1, 1],
  },
];

const it = itOnStand();

describe("a host that comes after kubeflow's operator", () => {
  for (const row of rows) {
    it(`${row.left}: ends ${row.ends}, with no pod made and none ended`, async (stand) => {
      const { left, driver } = await leave(stand, row.spec ?? {}, row.submitted);
      await tell(stand, row.status(left));
      await stand.host();
      await stand.until(`it is ${row.ends}`, () => state(stand) === row.ends);
      await stand.turn(60_000);
      assert.equal(state(stand), row.ends);
      assert.deepEqual(deeds(stand), []);
      assert.deepEqual(
        drivers(stand).map(({ metadata }) => metadata.uid),
        driver === undefined ? [] : [driver.metadata.uid],
      );
      const object = stand.get("SparkApplication", "app");
      assert.deepEqual([statusOf(object, "submissionAttempts"), statusOf(object, "executionAttempts")], row.counts);
      const own = row.submitted ? id : statusOf(object, "submissionID");
      assert.equal(statusOf(object, "submissionID"), own);
    });
  }

  it("lets a run end that upstream has begun to end, and runs the changed spec once, under the next number", async (stand) => {
    const { left, driver } = await leave(stand, {}, true);
    await tell(stand, left.status("INVALIDATING"));
    await stand.host();
    await stand.until("it runs again", () => state(stand) === "RUNNING");
    const [next, ...more] = drivers(stand);
    assert.deepEqual(more, []);
    assert.notEqual(next?.metadata.uid, driver?.metadata.uid);
    assert.equal(next?.metadata.labels?.["rekindle.dev/attempt"], "2");
    await stand.until("it is done", () => state(stand) === "COMPLETED");
  });

  it("continues an adopted run although its record is deleted in the middle", async (stand) => {
    const { left, driver } = await leave(stand, {}, true);
    await tell(stand, left.status("RUNNING"));
    await stand.host();
    await stand.until("it is adopted", () => stand.all("Checkpoint").length === 1);
    for (const { metadata } of stand.all("Checkpoint")) await stand.remove("Checkpoint", metadata.name);
    await stand.until("it is done", () => state(stand) === "COMPLETED");
    assert.deepEqual(
      drivers(stand).map(({ metadata }) => metadata.uid),
      [driver?.metadata.uid],
    );
    assert.deepEqual(deeds(stand), []);
  });
});

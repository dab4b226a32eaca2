/** The watches of Apache's SparkApplication, and the recovery of its record. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { kindSettings } from "../../../../shared/deployments/common/kind-settings.ts";
import { apacheSparkApplicationOperator } from "../../../../shared/spark/apache/operator.ts";
import { recordIn, statusOf } from "../../../../shared/spark/apache/status/record.ts";
import { evicted, failed, namesOf, pending, ready, recordOf, started, t0 } from "./fixtures.ts";

const operator = apacheSparkApplicationOperator(kindSettings({}, {}));

const recovery = operator.recovery ?? assert.fail("no recovery");

const object = (status?: unknown): Stored => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "default", uid: "a-1", resourceVersion: "1" },
  status,
});

const key = { cluster: "here", kind: operator.kind, namespace: "default", name: "pi" };

const running = recordOf("DriverRequested", "DriverStarted");

const rebuilt = (stored: unknown, status: unknown): readonly string[] => {
  const { memory } = recovery.rebuild({ key, object: object(status), found: [], now: t0, stored });
  const read = operator.parse(memory);
  const record = read.ok ? recordIn(read.memory.status) : undefined;
  return record === undefined ? [] : namesOf(record);
};

describe("a record of an application of spark.apache.org", () => {
  const rows: readonly (readonly [why: string, stored: unknown, status: unknown, states: readonly string[]])[] = [
    ["is kept where it can be read", { status: statusOf(running) }, undefined, namesOf(running)],
    ["wins over the status", { status: statusOf(running) }, statusOf(recordOf()), namesOf(running)],
    ["is rebuilt from the status where it is damaged", { status: 7 }, statusOf(running), namesOf(running)],
    ["is rebuilt from the status where it shows no state", { status: {} }, statusOf(running), namesOf(running)],
    ["is rebuilt from the status where it is gone", undefined, statusOf(running), namesOf(running)],
    ["begins anew where the status shows nothing, either", undefined, undefined, ["Submitted"]],
  ];
  for (const [why, stored, status, states] of rows) {
    test(why, () => assert.deepEqual(rebuilt(stored, status), states));
  }

  test("that was rebuilt waits for creations that may be on their way", () => {
    const { memory } = recovery.rebuild({ key, object: object(), found: [], now: t0, stored: undefined });
    const read = operator.parse(memory);
    assert.equal(read.ok && read.memory.plannedAt, t0);
  });

  test("ends with a cleanup, and says why", () => {
    const kept = operator.parse({ status: statusOf(running) });
    const memory = kept.ok ? recovery.ended?.(kept.memory, t0, "cleaned up") : undefined;
    const record = recordIn(memory?.status);
    assert.deepEqual(record?.history.at(-1)?.message, "cleaned up");
    assert.equal(record?.history.at(-1)?.summary, "ResourceReleased");
  });

  test("of one that has ended is no live one", () => {
    const ends = [
      running,
      recordOf("Failed", "ResourceReleased"),
      recordOf("Failed", "TerminatedWithoutReleaseResources"),
    ];
    assert.deepEqual(
      ends.map((record) => recovery.isLive(object(statusOf(record)))),
      [true, false, false],
    );
    assert.equal(recovery.isLive(object()), true);
  });
});

describe("a pod leads to a step", () => {
  const { matters } = operator.watches[1] ?? assert.fail("no watch of pods");
  const rows: readonly (readonly [why: string, before: Obj | undefined, after: Obj, step: boolean])[] = [
    ["when it is new", undefined, pending, true],
    ["when it starts", pending, started, true],
    ["when it is ready", started, ready, true],
    ["when it ends", ready, failed, true],
    ["when it is evicted", failed, evicted, true],
    [
      "when it is deleted",
      ready,
      { ...ready, metadata: { ...ready.metadata, deletionTimestamp: "2026-11-02T08:00:00Z" } },
      true,
    ],
    [
      "when its node is said to go",
      ready,
      { ...ready, metadata: { ...ready.metadata, annotations: { "rekindle.dev/leaving": "2026-11-02T08:02:00Z" } } },
      true,
    ],
    [
      "not when only its annotations change",
      ready,
      { ...ready, metadata: { ...ready.metadata, annotations: { a: "b" } } },
      false,
    ],
  ];
  for (const [why, before, after, step] of rows) {
    test(why, () => assert.equal(matters(before, after), step));
  }

  test("of the application that its label names", () => {
    const pod = { ...ready, metadata: { ...ready.metadata, labels: { "spark.operator/spark-app-name": "pi" } } };
    assert.deepEqual(
      operator.watches.map(({ ownerName }) => ownerName(pod)),
      ["pi-0-driver", "pi", undefined, undefined],
    );
  });
});

test("a Workload of Kueue leads to a step of the application that owns it", () => {
  const { ownerName, matters } =
    operator.watches.find(({ resource }) => resource.kind === "Workload") ?? assert.fail("no watch of Workloads");
  const ownerOf = (apiVersion: string): Obj => ({
    ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
    metadata: { name: "w", ownerReferences: [{ apiVersion, kind: "SparkApplication", name: "pi", uid: "a-1" }] },
  });
  assert.equal(ownerName(ownerOf("spark.apache.org/v1")), "pi");
  assert.equal(ownerName(ownerOf("sparkoperator.k8s.io/v1beta2")), undefined);
  const fresh = ownerOf("spark.apache.org/v1");
  const admitted = { ...fresh, status: { conditions: [{ type: "Admitted", status: "True" }] } };
  assert.deepEqual([matters(undefined, fresh), matters(fresh, admitted)], [false, true]);
});

test("the kind's keys are not those of the other SparkApplication", () => {
  assert.equal(operator.kind, "ApacheSparkApplication");
});

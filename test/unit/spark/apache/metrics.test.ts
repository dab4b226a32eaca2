/** Metrics of Apache's SparkApplication: counters of states that a status shows for the first time, and a gauge. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { apacheGauges, measuresOfApache } from "../../../../shared/spark/apache/metrics.ts";
import {
  type ApplicationRecord,
  statusOf,
  withRestart,
  withState,
} from "../../../../shared/spark/apache/status/record.ts";
import { recordOf, t0 } from "./fixtures.ts";

const application = (record?: ApplicationRecord): Stored => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  metadata: {
    ...{ name: "pi", namespace: "default", uid: "a-1", resourceVersion: "1", labels: { team: "a" } },
    creationTimestamp: new Date(t0).toISOString(),
  },
  ...(record === undefined ? {} : { status: statusOf(record) }),
});

const samples = (before: ApplicationRecord | undefined, after: ApplicationRecord): readonly string[] =>
  measuresOfApache(application(before), statusOf(after)).map(({ name, value }) => `${name} ${value}`);

const requested = recordOf("DriverRequested");
const running = recordOf("DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy");
const failed = withState(running, "Failed", t0 + 60_000);

describe("the metrics of an application of spark.apache.org", () => {
  test("count its submission with its first status, and the time until then since its creation", () => {
    assert.deepEqual(samples(undefined, requested), [
      "spark_application_count 1",
      "spark_application_submit_count 1",
      "spark_application_submit_latency_seconds 10",
      "spark_application_submit_latency_seconds_histogram 10",
    ]);
  });

  test("count nothing that an earlier status has shown", () => {
    assert.deepEqual(samples(running, running), []);
    assert.deepEqual(samples(requested, running), [
      "spark_application_start_latency_seconds 20",
      "spark_application_start_latency_seconds_histogram 20",
    ]);
  });

  test("count how an attempt ended, and its time; a refused one has none", () => {
    assert.deepEqual(samples(running, failed), [
      "spark_application_failure_count 1",
      "spark_application_failure_execution_time_seconds 50",
    ]);
    assert.deepEqual(samples(running, withState(running, "Succeeded", t0 + 20_000)), [
      "spark_application_success_count 1",
      "spark_application_success_execution_time_seconds 10",
    ]);
    assert.deepEqual(samples(undefined, recordOf("SchedulingFailure")), [
      "spark_application_count 1",
      "spark_application_failed_submission_count 1",
    ]);
  });

  test("go on over a restart whose history has moved to the attempt before", () => {
    const next = { id: 1, restartCounter: 1, failureRestartCounter: 1, schedulingFailureRestartCounter: 0 };
    const again = withRestart(failed, next, { now: t0 + 61_000, trims: true });
    assert.deepEqual(samples(failed, withState(again, "DriverRequested", t0 + 62_000)), [
      "spark_application_submit_count 1",
    ]);
  });

  test("have the labels of the application; those that run are a gauge", () => {
    const [sample] = measuresOfApache(application(), statusOf(requested));
    assert.deepEqual(sample?.of, { team: "a", namespace: "default" });
    const gauge = (record?: ApplicationRecord) => apacheGauges[0]?.samplesOf(application(record), t0)[0]?.value;
    assert.deepEqual([gauge(), gauge(requested), gauge(running), gauge(failed)], [0, 0, 1, 0]);
  });
});

/** The Events of Apache's SparkApplication: one for each state, until the status shows it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { apacheApplications } from "../../../../../shared/spark/apache/resource.ts";
import { stateEvents } from "../../../../../shared/spark/apache/status/events.ts";
import { statusOf } from "../../../../../shared/spark/apache/status/record.ts";
import { isFailure, isSummary } from "../../../../../shared/spark/apache/status/summary.ts";
import { recordOf } from "../fixtures.ts";

const application = (status?: unknown): Stored => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "default", uid: "a-1", resourceVersion: "1" },
  status,
});

const failed = recordOf("DriverRequested", "Failed");

const eventsFor = (status: unknown, view: Parameters<typeof stateEvents>[0] = {}) =>
  stateEvents(view, application(status), {
    resource: apacheApplications,
    entries: failed.history,
    warns: (summary) => isSummary(summary) && isFailure(summary),
  });

const told = (status: unknown): readonly string[] =>
  eventsFor(status).map((event) =>
    event.do === "record" ? `${event.occasion} ${event.type} ${event.reason}` : event.do,
  );

describe("the Events of an application of spark.apache.org", () => {
  test("report each state that the status does not show, and no other", () => {
    assert.deepEqual(told(undefined), ["0 Normal Submitted", "1 Normal DriverRequested", "2 Warning Failed"]);
    assert.deepEqual(told(statusOf(recordOf("DriverRequested"))), ["2 Warning Failed"]);
    assert.deepEqual(told(statusOf(failed)), []);
  });

  test("are not repeated within a step", () => {
    assert.deepEqual(eventsFor(undefined, { done: eventsFor(undefined) }), []);
  });

  test("have the message of their state", () => {
    const [first] = eventsFor(undefined);
    assert.equal(first?.do === "record" && first.message, "Spark application has been created on Kubernetes Cluster.");
  });
});

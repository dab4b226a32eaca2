/** The time until which planned executors may still appear, and their replacement afterwards. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { relevant } from "../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../shared/spark/executors/allotment.ts";
import { waitIn } from "../../../support/plans.ts";
import { application, decided, driver, eight, pod, remembered, spec } from "./fixtures.ts";

const object = application({
  metadata: { annotations: { "rekindle.dev/executors": "own" } },
  spec: { ...spec, executor: { instances: 3, cores: 1, memory: "512m" } },
  status: {
    applicationState: { state: "RUNNING" },
    submissionID: "submission-1",
    driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
  },
});
const allotment = { ...newAllotment(1, "spark-pi-1", undefined), listens: true };
const memory = remembered({ driver, allotment, spec: relevant(object, true) });
const pods = [pod()];

describe("executors that are underway", () => {
  test("have no early end where creations may be slow", () => {
    const { plan } = decided({ object, memory, pods, slow: true });
    assert.deepEqual(plan.memory.allotment?.underway, [{ ids: "1001-1003", at: eight }]);
    assert.equal(plan.safety?.createWithinMs, undefined);
  });

  test("count as lost when they can no longer arrive, and others are created", () => {
    const first = decided({ object, memory, pods }).plan;
    const rows = [9_999, 10_000].map((ms) => {
      const { plan } = decided({ object, memory: first.memory, pods, now: eight + ms });
      return [waitIn(plan).wakeAt, plan.memory.allotment?.next];
    });
    assert.deepEqual(rows, [
      [eight + 10_000, 1004],
      [undefined, 1007],
    ]);
  });
});

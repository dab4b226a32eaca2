/** The texts for what a key waits for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until, type WaitingOn, waitingText } from "../../../shared/core/waiting-on.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const cases: readonly (readonly [WaitingOn, string])[] = [
  [until("the driver", "finished"), "the driver to finish"],
  [until("its server", "started", "ImagePullBackOff"), "its server to start (ImagePullBackOff)"],
  [until("its spec", "corrected", "no mainClass"), "its spec to be corrected: no mainClass"],
  [until("2 objects", "ended", "cleanup"), "2 objects to end (cleanup)"],
  [{ on: "leftovers", objects: 1 }, "1 object of the last run to end"],
  [{ on: "leftovers", objects: 2, stranded: "a, b" }, "2 objects of the last run to end, a, b among them"],
  [{ on: "return", of: "the driver", until: eight }, "the driver to come back, until 2026-11-02T08:00:00Z"],
  [{ on: "node" }, "the driver's node to answer again, or to be gone"],
  [
    { on: "node", name: "n1", silentSince: eight, endedBy: "an annotation" },
    "the driver's node n1 to answer again, or to be gone: silent since 2026-11-02T08:00:00Z; an annotation would end the wait",
  ],
  [
    { on: "podStart", pod: "executor pod e-1", why: "FailedMount", besides: until("the driver", "finished") },
    "the driver to finish; executor pod e-1 does not start (FailedMount)",
  ],
  [{ on: "pods", there: 1, least: 2, task: "w", job: "a", that: "run" }, "1 of 2 pods of task w of job a run"],
  [{ on: "surplus", executors: 1 }, "the driver to finish, and 1 surplus executor to become idle"],
  [
    { on: "executorIds", short: 2, most: 10 },
    "2 executors that cannot be created: spark.kubernetes.allocation.maximum allows one run 10",
  ],
  [{ on: "crashes", count: 6 }, "its next executors: they are delayed because 6 crashed one after the other"],
  [{ on: "time", of: "run" }, "its next run"],
  [{ on: "time", of: "run", after: "a-1" }, "a-1 to end (concurrencyPolicy Forbid), then for its next run"],
  [{ on: "time", of: "time", note: "Refused" }, "its next time. Refused"],
  [{ on: "retry", after: "exit code 1" }, "its next try after: exit code 1"],
  [{ on: "room", groups: 2 }, "room in their queues for 2 groups"],
  [{ on: "field", path: "spec.suspend", value: "false" }, "spec.suspend to become false"],
  [{ on: "deletion" }, "its deletion"],
  [{ on: "clients" }, "clients"],
  [{ on: "resumption" }, "its resumption"],
  [{ on: "trouble", message: "queue q is not found" }, "queue q is not found"],
];

describe("what is waited for reads", () => {
  for (const [waiting, text] of cases) test(text, () => assert.equal(waitingText(waiting), text));
});

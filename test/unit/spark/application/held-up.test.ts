/** The trouble of an application stands in its status and never replaces its own message. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { heldUp } from "../../../../shared/spark/application/decide.ts";
import { application } from "./fixtures.ts";

const held = "held up by the platform, which uses up no retry: exceeded quota";

const cases: readonly { name: string; status: unknown; want: unknown }[] = [
  {
    name: "of a new application",
    status: undefined,
    want: { driverInfo: {}, applicationState: { state: "", errorMessage: held } },
  },
  {
    name: "of a running application, beside the existing fields",
    status: { submissionID: "s", driverInfo: { podName: "p" }, applicationState: { state: "RUNNING" } },
    want: {
      submissionID: "s",
      driverInfo: { podName: "p" },
      applicationState: { state: "RUNNING", errorMessage: held },
    },
  },
  {
    name: "in place of earlier trouble",
    status: { driverInfo: {}, applicationState: { state: "", errorMessage: `${held.slice(0, -5)}x` } },
    want: { driverInfo: {}, applicationState: { state: "", errorMessage: held } },
  },
  {
    name: "not in place of the application's own message",
    status: { driverInfo: {}, applicationState: { state: "FAILING", errorMessage: "driver pod not found" } },
    want: undefined,
  },
];
for (const { name, status, want } of cases) {
  test(`trouble stands in the status ${name}`, () =>
    assert.deepEqual(heldUp(application({ status }), "exceeded quota"), want));
}

/** The forecast for Volcano's jobs and flows before a migration: a line for each difference, and none without one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { forecast } from "../../../shared/deployments/cli/render.ts";

const metadata = { name: "a", namespace: "default", uid: "u", resourceVersion: "1" };

const task = (more: object = {}, containers: readonly object[] = [{ name: "c", image: "i" }]) => ({
  name: "w",
  replicas: 1,
  template: { spec: { containers } },
  ...more,
});

const job = (spec: object, status: object = { state: { phase: "Running" } }): Stored => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata,
  spec: { minAvailable: 1, tasks: [task()], ...spec },
  status,
});

const flow = (...flows: readonly object[]): Stored => ({
  apiVersion: "flow.volcano.sh/v1alpha1",
  kind: "JobFlow",
  metadata,
  spec: { flows },
});

const two = [
  { name: "c", image: "i" },
  { name: "d", image: "i" },
];
const onFailure = [{ event: "PodFailed", action: "RestartJob" }];
const onUnknown = [{ event: "Unknown", action: "RestartJob" }];
const onCode = [{ exitCode: 3, action: "TerminateJob" }];
const part = [{ event: "PodFailed", action: "RestartPod" }];

const rows: readonly (readonly [what: string, object: Stored, says: readonly RegExp[]])[] = [
  ["a plain job", job({}), []],
  ["a job with an invalid status", job({}, { failed: "many" }), []],
  [
    "failures and a policy",
    job({ policies: onFailure }, { state: { phase: "Running" }, failed: 1 }),
    [/upstream has not acted/],
  ],
  ["failures of a job that has ended", job({ policies: onFailure }, { state: { phase: "Aborted" }, failed: 1 }), []],
  ["failures without a policy", job({}, { state: { phase: "Running" }, failed: 1 }), []],
  [
    "a task's waiting pods",
    job({ tasks: [task({ policies: [{ event: "PodPending", action: "AbortJob", timeout: "1m" }] })] }),
    [/PodPending counts/, /start again once/],
  ],
  ["Unknown before a restart", job({ policies: onUnknown }), []],
  [
    "Unknown after a restart",
    job({ policies: onUnknown }, { state: { phase: "Running" }, version: 1 }),
    [/acts on the event Unknown again/],
  ],
  ["exit codes of one container", job({ policies: onCode }), []],
  ["exit codes of two", job({ policies: onCode, tasks: [task({}, two)] }), [/exit codes of all containers/]],
  ["a restart of one pod, without a shared plugin", job({ policies: part }), []],
  [
    "a restart of one pod, with the plugin ssh",
    job({ policies: part, plugins: { ssh: [] } }),
    [/a restart of some pods keeps/],
  ],
  ["a plain flow", flow({ name: "a" }, { name: "b", dependsOn: { targets: ["a"] } }), []],
  ["a flow that probes", flow({ name: "b", dependsOn: { targets: ["a"], probe: {} } }), [/obeys its probes/]],
  ["a flow that patches", flow({ name: "b", patch: { jobSpec: {} } }), [/Rekindle merges its patches/]],
];

describe("the forecast before a migration", () => {
  for (const [what, object, says] of rows)
    it(`for ${what} has ${says.length === 0 ? "no note" : "a note on each difference"}`, () => {
      const { refused, notes } = forecast(object, {});
      assert.equal(refused, undefined);
      assert.equal(notes.length, says.length, notes.join("\n"));
      for (const [at, pattern] of says.entries()) assert.match(notes[at] ?? "", pattern);
    });

  it("gives the reason of a refusal as upstream's text", () => {
    const { refused } = forecast(job({ tasks: [task(), task()] }), {});
    assert.match(refused ?? "", /duplicated task name w/);
  });
});

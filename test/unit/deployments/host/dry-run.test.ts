/** Output of a dry run: only the changes of a plan, as a diff or as lines of JSON. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Plan } from "../../../../shared/core/plan.ts";
import { shadowFor, tellChanges, tellPlans } from "../../../../shared/deployments/host/dry-run.ts";
import { readConfiguration } from "../../../../shared/deployments/settings/host.ts";
import { paintFor } from "../../../../shared/inspection/io/text.ts";
import { pods } from "../../../../shared/kube/resources.ts";

const key = { cluster: "default", kind: "SparkApplication", namespace: "team", name: "etl" };
const object: Stored = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "etl", namespace: "team", uid: "1", resourceVersion: "1" },
  status: { applicationState: { state: "SUBMITTED" }, executionAttempts: 1 },
};
const ref = { resource: pods, namespace: "team", name: "etl-driver" };
const plan: Plan<unknown> = {
  memory: {},
  stages: [
    [{ do: "delete", ref, uid: "u" }],
    [
      {
        ...{ do: "create", resource: pods, owner: "1" },
        object: { apiVersion: "v1", kind: "Pod", metadata: { name: "etl-driver" } },
      },
    ],
  ],
  status: { applicationState: { state: "RUNNING" }, executionAttempts: 1, driverInfo: { podName: "etl-driver" } },
  next: { do: "wait", waitsFor: { on: "trouble", message: "its driver" } },
};
const idle: Plan<unknown> = { memory: {}, stages: [], status: { ...plan.status }, next: { do: "wait" } };

describe("a dry run", () => {
  test("prints a plan as a diff: objects, then fields of the status", () => {
    const said: string[] = [];
    tellChanges((text) => void said.push(text))(key, plan, object);
    assert.deepEqual(said, [
      `SparkApplication team/etl
  - Pod etl-driver (uid u)
  + Pod etl-driver
  - status.applicationState.state: SUBMITTED
  + status.applicationState.state: RUNNING
  + status.driverInfo.podName: etl-driver
  then waits for its driver`,
    ]);
  });

  test("prints nothing for a plan that changes nothing, and prints a repeated plan once", () => {
    const said: string[] = [];
    const tell = tellChanges((text) => void said.push(text));
    tell(key, { ...idle, status: { applicationState: { state: "SUBMITTED" }, executionAttempts: 1 } }, object);
    assert.deepEqual(said, []);
    tell(key, plan, object);
    tell(key, plan, object);
    assert.equal(said.length, 1);
  });

  test("closes each resync with the number of keys that it looked at, and of those that would change", async () => {
    const rows = [
      ["text", "resync: 2 keys looked at, 1 would change", "resync: 0 keys looked at, nothing would change"],
      ["json", '{"resync":{"looked":2,"changing":1}}', '{"resync":{"looked":0,"changing":0}}'],
    ] as const;
    for (const [output, first, second] of rows) {
      const said: string[] = [];
      const dry = shadowFor({ print: (line) => void said.push(line), env: {} }, output, 5);
      dry.resynced();
      dry.shadow(key, plan, object);
      dry.shadow(
        { ...key, name: "other" },
        { ...idle, status: { applicationState: { state: "SUBMITTED" }, executionAttempts: 1 } },
        object,
      );
      await sleep(20);
      assert.equal(said.at(-1), first);
      dry.resynced();
      await sleep(20);
      assert.equal(said.at(-1), second);
    }
  });

  test("has colours on a terminal", () => {
    const said: string[] = [];
    tellChanges((text) => void said.push(text), paintFor(true))(key, plan, object);
    assert.match(said[0] ?? "", /\u001b\[31m- Pod etl-driver[\s\S]+\u001b\[32m\+ Pod etl-driver/);
  });

  test("prints lines of JSON with -o json", async () => {
    const said: string[] = [];
    tellPlans((text) => void said.push(text))(key, plan, object);
    assert.equal(JSON.parse(said[0] ?? "").would, "SparkApplication team/etl");
    for (const [args, output] of [
      [[], "text"],
      [["-o", "json"], "json"],
      [["--output=json"], "json"],
    ] as const) {
      const asked = await readConfiguration(["--dry-run", ...args], {});
      assert.equal(asked.do === "run" ? asked.configuration.output : asked.do, output);
    }
  });
});

/** status, list, plan and recover of applications whose records are in a DynamoDB table. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tableCheckpoints } from "../../../shared/adapters/dynamodb/checkpoints.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { preview } from "../../../shared/deployments/cli/recover.ts";
import { readRecord } from "../../../shared/engine/checkpoint/record.ts";
import type { CheckpointRecord } from "../../../shared/engine/ports.ts";
import { waitIn } from "../../support/plans.ts";
import { openTable } from "../adapters/dynamodb/table.ts";
import { application, make, openTerminal } from "./terminal.ts";

const keyOf = (name: string) => ({ cluster: "prod", kind: "SparkApplication", namespace: "default", name });

const running = { applicationState: { state: "RUNNING" }, driverInfo: { podName: "pi-driver" } };

const trouble = { reason: "QuotaExceeded", message: "no room for it", since: 0 };

/** Opens a cluster with the application `pi`, and its record under the alias prod in a table of its own. */
const open = async (env: Readonly<Record<string, string>> = {}) => {
  const { table } = await openTable();
  const terminal = openTerminal({
    env: { REKINDLE_CHECKPOINTS: `dynamodb://${table}`, REKINDLE_CLUSTER: "prod", ...env },
    preview: async (session, key) => {
      const found = await preview(session, key);
      if (found.would !== "plan") return found;
      const { stages, status, memory, next } = found.plan;
      const { waitsFor, wakeAt } = waitIn(found.plan);
      return { would: "plan", stages, status, memory, waitsFor, wakeAt, again: next.do === "again" };
    },
  });
  await make(terminal.simulator, application("pi", running));
  const resource = {
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    plural: "sparkapplications",
    kind: "SparkApplication",
  };
  const { value } = await openCluster(terminal.simulator.transport).get({ resource, namespace: "default", name: "pi" });
  const records = tableCheckpoints({ table, cluster: "prod" });
  const record: CheckpointRecord = {
    schema: 1,
    cluster: "of-another-cluster",
    uid: value?.metadata.uid ?? "",
    saves: 3,
    memory: {},
  };
  return { table, terminal, records, record };
};

describe("records in a table", () => {
  const shows: readonly (readonly [readonly string[], RegExp])[] = [
    [["status", "pi"], /^waits for {2}the platform \(QuotaExceeded\): no room for it$/m],
    [["list"], /pi .*the platform: QuotaExceeded/],
    [["plan", "pi", "-o", "wide"], /trouble:\n {4}reason: QuotaExceeded/],
  ];
  for (const [args, expected] of shows) {
    test(`are read by ${args.join(" ")}`, async () => {
      const { terminal, records } = await open();
      await terminal.run("recover", "default/pi", "--wait", "1s");
      const made = await records.load(keyOf("pi"));
      const read = readRecord(made?.record);
      assert.ok(read.ok);
      await records.save(keyOf("pi"), { ...read.record, trouble }, made?.version);
      const { code, out, err } = await terminal.run(...args);
      assert.equal(code, 0, err);
      assert.match(out, expected);
    });
  }

  test("are read by recover, even if the object is gone", async () => {
    const { terminal, records, record } = await open();
    await records.save(keyOf("pi"), record, undefined);
    await records.save(keyOf("gone"), { ...record, uid: "of-nobody" }, undefined);
    const { out } = await terminal.run("recover", "-n", "default", "--dry-run");
    assert.match(out, /sparkapplication\/default\/gone/);
    assert.match(out, /sparkapplication\/default\/pi .*\n {2}found +damaged: /);
    await terminal.run("recover", "default/pi", "--no-strict", "--wait", "1s");
    const after = readRecord((await records.load(keyOf("pi")))?.record);
    assert.equal(after.ok && after.record.recovered?.how, "salvaged");
  });

  test("of another alias are not read, which is reported", async () => {
    const { terminal, table } = await open({ REKINDLE_CLUSTER: "test" });
    const { out } = await terminal.run("status", "pi");
    assert.ok(out.includes(`there is none in the table ${table} of the cluster test`), out);
  });

  test("that cannot be read are reported with the command that removes the item", async () => {
    const { terminal, records, record, table } = await open();
    await records.save(keyOf("pi"), { ...record, saves: Number.NaN }, undefined);
    const { out } = await terminal.run("status", "pi");
    assert.ok(
      out.includes(
        `aws dynamodb delete-item --table-name ${table} --key '{"cluster":{"S":"prod"},"key":{"S":"default/SparkApplication/pi"}}'`,
      ),
      out,
    );
  });

  const refusals: readonly (readonly [string, string])[] = [
    ["dynamodb://nowhere", "there is no such table in this region"],
    ["dynamodb:/nowhere", "REKINDLE_CHECKPOINTS: write kubernetes, or dynamodb://TABLE"],
  ];
  for (const [place, expected] of refusals) {
    test(`in ${place} are reported in one line`, async () => {
      const { terminal } = await open({ REKINDLE_CHECKPOINTS: place });
      const ran = await Promise.all(
        ["status pi", "list", "plan pi", "recover pi"].map((line) => terminal.run(...line.split(" "))),
      );
      assert.deepEqual(
        ran.map(({ code }) => code),
        [1, 1, 1, 1],
      );
      assert.deepEqual(
        ran.map(({ err }) => [err.includes(expected), err.trim().split("\n").length]),
        ran.map(() => [true, 1]),
        ran[0]?.err,
      );
    });
  }
});

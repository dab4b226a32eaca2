/** Names that `rekindle recover` accepts: it searches all kinds, and then the records of deleted objects. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkpointObject, checkpointRef } from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import type { Obj } from "../../../../shared/core/object.ts";
import { application, make, openTerminal } from "../terminal.ts";

const volcano = (kind: string, name: string, spec: object): Obj => ({
  ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind, metadata: { name, namespace: "default" } },
  spec,
});

const job = (name: string): Obj =>
  volcano("Job", name, {
    minAvailable: 1,
    tasks: [{ name: "w", replicas: 1, template: { spec: { containers: [{ name: "c", image: "i" }] } } }],
  });
const cron = (name: string): Obj => volcano("CronJob", name, { schedule: "0 3 * * *", jobTemplate: { spec: {} } });

/** Returns the record of a deleted object. */
const left = (kind: string, name: string): Obj => {
  const key = { cluster: "default", kind, namespace: "default", name };
  return checkpointObject(checkpointRef(key, "rekindle"), key, {
    schema: 1,
    cluster: "default",
    saves: 1,
    uid: "gone",
    memory: {},
  });
};

const recovered = async (name: string, ...objects: readonly Obj[]) => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  return await terminal.run("recover", name, "--dry-run");
};

describe("rekindle recover of a name without a kind", () => {
  const rows: readonly (readonly [what: string, objects: readonly Obj[], found: RegExp])[] = [
    ["finds a job", [job("pair")], /job\/default\/pair/],
    ["means a SparkApplication where there is one", [job("pair"), application("pair")], /default\/pair/],
    ["finds the record of what is gone", [left("CronJob", "pair"), job("other")], /cronjob\/default\/pair/],
  ];
  for (const [what, objects, found] of rows)
    test(what, async () => {
      const { out, err } = await recovered("pair", ...objects);
      assert.match(out, found, err);
      assert.match(out, /1 checked/);
    });

  const refusals: readonly (readonly [what: string, objects: readonly Obj[], says: RegExp])[] = [
    [
      "several",
      [job("pair"), cron("pair")],
      /several have this name: write job\/default\/pair or cronjob\/default\/pair/i,
    ],
    [
      "several records",
      [left("Job", "pair"), left("CronJob", "pair")],
      /several have this name: write .*job\/default\/pair/,
    ],
    [
      "a name that is near another",
      [job("pairs")],
      /no application of any kind default\/pair; did you mean job\/default\/pairs/,
    ],
  ];
  for (const [what, objects, says] of refusals)
    test(`of ${what} is refused with the correct syntax`, async () => {
      const { code, err } = await recovered("pair", ...objects);
      assert.equal(code, 1);
      assert.match(err, says);
    });
});

/** The kinds of a function: a family is loaded with the first message for it, and stays loaded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kindNames } from "../../../../shared/deployments/common/kinds.ts";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { watchers } from "../../../../shared/deployments/common/watchers.ts";
import { openFamilies } from "../../../../shared/deployments/reconcile/families.ts";
import { timing } from "../../../../shared/engine/settings.ts";

const delivered = (kind: string) => ({
  id: "1",
  body: JSON.stringify({ cluster: "c", kind, namespace: "ns", name: "n", reason: "new" }),
  received: 1,
});

test("a function loads a family with the first message for it, and loads nothing for poison", async () => {
  const families = openFamilies();
  await families.prepare([{ id: "0", body: "{", received: 1 }, delivered("Nothing")]);
  assert.equal(families.operatorOf("Job"), undefined);
  await families.prepare([delivered("Job")]);
  assert.equal(families.operatorOf("Job")?.resource.plural, "jobs");
  assert.deepEqual(
    families.kinds.map(({ kind }) => kind),
    [
      "SparkApplication",
      "Job",
      "CronJob",
      "JobFlow",
      "JobTemplate",
      "Queue",
      "ScheduledSparkApplication",
      "SparkConnect",
      "Pod",
    ],
  );
});

test("every kind has its name in the list of names", () => {
  const names = (all: readonly { readonly kind: string }[]): readonly string[] => all.map(({ kind }) => kind);
  assert.deepEqual([names(operatorsFor(timing)), names(watchers)], [kindNames, kindNames]);
});

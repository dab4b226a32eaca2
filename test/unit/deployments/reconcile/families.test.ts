/** The kinds of a function: a family is loaded with the first message for it, and stays loaded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { openFamilies } from "../../../../shared/deployments/reconcile/families.ts";
import { timing } from "../../../../shared/engine/settings.ts";
import { families as allFamilies } from "../../../../shared/kube/resources.ts";
import { kindNames } from "../../../../shared/registry/names.ts";
import { watchers } from "../../../../shared/registry/watchers.ts";

const delivered = (kind: string) => ({
  id: "1",
  body: JSON.stringify({ cluster: "c", kind, namespace: "ns", name: "n", reason: "new" }),
  received: 1,
});

test("a function loads a family with the first message for it, and loads nothing for poison", async () => {
  const families = openFamilies({ families: allFamilies });
  await families.prepare([{ id: "0", body: "{", received: 1 }, delivered("Nothing")]);
  assert.equal(families.operatorOf("Job"), undefined);
  await families.prepare([delivered("Job")]);
  assert.equal(families.operatorOf("Job")?.resource.plural, "jobs");
  assert.deepEqual(
    families.kinds.map(({ kind }) => kind),
    kindNames,
  );
});

test("every kind has its name in the list of names", () => {
  const names = (all: readonly { readonly kind: string }[]): readonly string[] => all.map(({ kind }) => kind);
  assert.deepEqual([names(operatorsFor(timing)), names(watchers)], [kindNames, kindNames]);
});

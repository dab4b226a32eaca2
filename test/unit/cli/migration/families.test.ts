/** The rows of the migration's families agree with the other tables of the same facts. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { families } from "../../../../shared/cli/migration/families.ts";
import { flagIn, flagsOf } from "../../../../shared/cli/migration/upstream.ts";
import type { Looking } from "../../../../shared/core/plan.ts";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { timing } from "../../../../shared/engine/settings.ts";
import { readLeases } from "../../../../shared/volcano/gang/scheduler.ts";
import { resultOf } from "../../../support/decisions.ts";

it("the migration knows a scheduler by the same leases as hosts do", () => {
  const asked: (string | undefined)[] = [];
  const objects = (query: Looking) => {
    asked.push(query.do === "list" ? query.field : undefined);
    return [];
  };
  resultOf(readLeases({ mode: "auto", namespaces: [] }), { objects });
  assert.deepEqual(
    families.volcano.scheduler?.leases.map((name) => `metadata.name=${name}`),
    asked,
  );
});

it("the migration deletes the records of every kind of its families, which are those of a host", () => {
  const known = Object.values(families).flatMap(({ remembered }) => remembered);
  assert.deepEqual(
    known.toSorted(),
    operatorsFor(timing)
      .map(({ kind }) => kind)
      .toSorted(),
  );
});

it("no two families share a lease, a record or a label", () => {
  const words = Object.values(families).flatMap(({ record, lease }) => [record.name, record.label, lease.usual]);
  assert.equal(new Set(words).size, words.length);
});

it("flags are read as their program reads them", () => {
  const args = ["--logtostderr", "2>&1", "--a=1", "--b", "2", "-v=4", "--a", "3"];
  assert.deepEqual(flagsOf(args), ["--logtostderr", "--a=1", "--b=2", "--a=3"]);
  assert.deepEqual([flagIn(args, "a"), flagIn(args, "b"), flagIn(args, "c")], ["3", "2", undefined]);
});

/** A template's status names the jobs that were made from it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { volcanoJobTemplate } from "../../../../shared/volcano/template/decide.ts";
import { does } from "../../../support/plans.ts";
import { fixtureOf } from "../fixture.ts";
import { template } from "../flow/fixtures.ts";

const made = (name: string, from: string) => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, labels: { "volcano.sh/createdByJobTemplate": `ns.${from}` } },
});

describe("a JobTemplate's status", () => {
  test("names the jobs of the template, and keeps the last names when all jobs are gone, as upstream does", () => {
    const fixture = fixtureOf(volcanoJobTemplate, template("a"), 0).run();
    assert.deepEqual([fixture.status(), does(fixture.last, "wait")], [{}, true]);
    for (const [name, from] of [
      ["g-a", "a"],
      ["f-a", "a"],
      ["f-b", "b"],
    ] as const)
      fixture.put("jobs", made(name, from));
    fixture.run();
    assert.deepEqual(fixture.status(), { jobDependsOnList: ["f-a", "g-a"] });
    for (const name of ["f-a", "g-a"]) fixture.remove("jobs", name);
    fixture.run();
    assert.deepEqual(fixture.status(), { jobDependsOnList: ["f-a", "g-a"] });
  });
});

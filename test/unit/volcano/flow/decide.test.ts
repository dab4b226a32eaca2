/** The jobs of a flow step by step: each is created once, when the jobs that it depends on are complete. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../../support/plans.ts";
import { after, flowOf, phaseOf } from "./fixtures.ts";

const minute = 60_000;

/** Upstream's example: a, then b, then c and d, then e. */
const diamond = () =>
  flowOf([{ name: "a" }, after("b", "a"), after("c", "b"), after("d", "b"), after("e", "c", "d")]).run();

describe("a JobFlow", () => {
  test("creates jobs in the order of their dependencies, and is Succeed when the last is complete", () => {
    const fixture = diamond();
    const phases = [phaseOf(fixture)];
    for (const ended of [["a"], ["b"], ["c"], ["d"], ["e"]]) {
      for (const name of ended) fixture.job(`f-${name}`, "Completed");
      fixture.turn(minute).run();
      phases.push(phaseOf(fixture));
    }
    assert.deepEqual(
      fixture.deeds,
      ["a", "b", "c", "d", "e"].map((name) => `create jobs f-${name}`),
    );
    assert.deepEqual(phases, ["Pending", "Running", "Running", "Running", "Running", "Succeed"]);
    assert.equal(does(fixture.last, "rest"), true);
  });

  test("creates jobs with upstream's names, labels, annotations and owner", () => {
    const fixture = diamond();
    const { metadata, spec } = fixture.get("jobs", "f-a");
    const makers = { "volcano.sh/createdByJobTemplate": "ns.a", "volcano.sh/createdByJobFlow": "ns.f" };
    assert.deepEqual([metadata.labels, metadata.annotations], [makers, makers]);
    const { uid } = fixture.own().metadata;
    const owner = { apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow", name: "f", uid };
    assert.deepEqual(metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.deepEqual(spec, fixture.get("jobtemplates", "a")["spec"]);
    assert.deepEqual(fixture.told, ["Created: create a job named f-a!"]);
  });

  test("reports its jobs in its status as upstream does", () => {
    const fixture = flowOf([{ name: "a" }, { name: "b" }, { name: "c" }]).run();
    const taskStatusCount = { w: { phase: { Running: 2 } } };
    fixture.job("f-b", "Running", { taskStatusCount });
    fixture.turn(minute).run();
    fixture.job("f-a", "Completed", { runningDuration: "1m30s", retryCount: 1 });
    fixture.job("f-c", "Aborted");
    fixture.turn(minute).run();
    const status = fixture.status();
    const { completedJobs, runningJobs, unKnowJobs, jobStatusList, conditions } = status;
    assert.deepEqual([completedJobs, runningJobs, unKnowJobs], [["f-a"], ["f-b"], ["f-c"]]);
    assert.deepEqual(Object(conditions)["f-b"], {
      phase: "Running",
      createTime: "2026-11-02T08:00:00Z",
      taskStatusCount,
    });
    assert.deepEqual(Object(jobStatusList)[0], {
      name: "f-a",
      state: "Completed",
      startTimestamp: "2026-11-02T08:00:00Z",
      endTimestamp: "2026-11-02T08:01:30Z",
      restartCount: 1,
      runningHistories: [{ state: "Completed", startTimestamp: "2026-11-02T08:02:00Z" }],
    });
    fixture.job("f-b", "Completed");
    fixture.turn(minute).run();
    assert.deepEqual(Object(fixture.status()["jobStatusList"])[1]["runningHistories"], [
      { state: "Running", startTimestamp: "2026-11-02T08:01:00Z", endTimestamp: "2026-11-02T08:03:00Z" },
      { state: "Completed", startTimestamp: "2026-11-02T08:03:00Z" },
    ]);
  });

  for (const phase of ["Failed", "Terminated"])
    test(`is Failed for good when one of its jobs is ${phase}, and creates no further job`, () => {
      const fixture = diamond();
      fixture.job("f-a", phase);
      fixture.turn(minute).run();
      assert.deepEqual([phaseOf(fixture), does(fixture.last, "rest")], ["Failed", true]);
      fixture.job("f-a", "Completed");
      fixture.turn(minute).run();
      assert.deepEqual([phaseOf(fixture), fixture.deeds], ["Failed", ["create jobs f-a"]]);
    });

  describe("with the annotation rekindle.dev/job-retries", () => {
    const retrying = (retries: string, status: object = {}) => {
      const fixture = flowOf([{ name: "a" }, after("b", "a")]);
      const object = fixture.get("jobflows", "f");
      const annotations = { "rekindle.dev/job-retries": retries };
      fixture.put("jobflows", { ...object, metadata: { ...object.metadata, annotations }, status });
      return fixture.run();
    };

    test("deletes a failed job once a slow creation cannot recreate it, and creates it again", () => {
      const fixture = retrying("2");
      fixture.job("f-a", "Failed");
      fixture.turn(1_000).run();
      assert.deepEqual([phaseOf(fixture), fixture.deeds], ["Pending", ["create jobs f-a"]]);
      fixture.turn(minute).run();
      assert.deepEqual(fixture.deeds.slice(1), ["delete jobs f-a", "create jobs f-a"]);
      assert.ok(fixture.told.includes("JobRetried: job f-a has failed: retry 1"), fixture.told.join());
      fixture.job("f-a", "Completed");
      fixture.run();
      assert.deepEqual([phaseOf(fixture), fixture.deeds.at(-1)], ["Running", "create jobs f-b"]);
    });

    test("is Failed when a job has failed once more than that, or is Terminated", () => {
      const fixture = retrying("1");
      fixture.job("f-a", "Failed");
      fixture.turn(minute).run();
      assert.equal(phaseOf(fixture), "Pending");
      fixture.job("f-a", "Failed");
      fixture.turn(minute).run();
      assert.deepEqual([phaseOf(fixture), fixture.deeds.length], ["Failed", 3]);
      const other = retrying("1");
      other.job("f-a", "Terminated");
      other.run();
      assert.deepEqual([phaseOf(other), other.deeds.length], ["Failed", 1]);
    });

    test("counts a failed job once, even if a step dies between its save and the deletion", () => {
      const fixture = retrying("1");
      fixture.job("f-a", "Failed");
      fixture.turn(minute).step(true);
      fixture.step(true);
      fixture.run();
      assert.deepEqual([phaseOf(fixture), fixture.deeds.slice(1)], ["Pending", ["delete jobs f-a", "create jobs f-a"]]);
    });

    test("records one Event about a value that cannot be read, and retries nothing", () => {
      const fixture = retrying("often");
      fixture.job("f-a", "Failed");
      fixture.turn(minute).run();
      assert.equal(phaseOf(fixture), "Failed");
      const [told, ...others] = fixture.told.filter((text) => text.includes("rekindle.dev/job-retries"));
      assert.match(
        `${told}`,
        /^RekindleAnnotationIgnored: .*"often" is not a whole number from 1 to 100; the default applies$/,
      );
      assert.deepEqual(others, []);
    });
  });

  test("creates no job in the step in which it fails", () => {
    const fixture = flowOf([{ name: "a" }, { name: "c" }], { templates: ["a"] }).run();
    fixture.put("jobtemplates", { ...fixture.get("jobtemplates", "a"), metadata: { name: "c" } });
    fixture.job("f-a", "Failed");
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.deeds], ["Failed", ["create jobs f-a"]]);
  });

  test("does not count a job of another owner as its own, even if its labels match", () => {
    const fixture = flowOf([{ name: "a" }, after("b", "a")], { templates: [] });
    const metadata = { name: "f-a", labels: { "volcano.sh/createdByJobFlow": "ns.f" } };
    fixture.put("jobs", { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata });
    fixture.job("f-a", "Completed");
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.status()["completedJobs"]], ["Pending", undefined]);
  });

  test("creates a deleted job again unless the job was complete", () => {
    const fixture = flowOf([{ name: "a" }, { name: "b" }, after("c", "a")]).run();
    fixture.job("f-a", "Completed");
    fixture.run();
    fixture.remove("jobs", "f-a");
    fixture.remove("jobs", "f-b");
    fixture.turn(minute).run();
    assert.deepEqual(fixture.deeds.slice(2), ["create jobs f-c", "create jobs f-b"]);
    assert.deepEqual(fixture.status()["completedJobs"], ["f-a"]);
  });

  test("creates each job once, even if a step dies after its save", () => {
    const fixture = flowOf([{ name: "a" }]);
    fixture.step(true);
    fixture.run();
    fixture.run();
    assert.deepEqual(fixture.deeds, ["create jobs f-a"]);
  });

  test("records one Event for each job that it created, even if a step dies before the Event", () => {
    const fixture = flowOf([{ name: "a" }]);
    fixture.step();
    assert.deepEqual(fixture.told, []);
    fixture.step(true);
    fixture.run();
    assert.deepEqual(fixture.told, ["Created: create a job named f-a!"]);
  });

  test("continues from the status that upstream's controller left", () => {
    const status = { state: { phase: "Running" }, completedJobs: ["f-a"] };
    const fixture = flowOf([{ name: "a" }, after("b", "a")], { status }).run();
    assert.deepEqual([fixture.deeds, phaseOf(fixture)], [["create jobs f-b"], "Running"]);
  });

  test("waits for a missing JobTemplate, records one Event, and continues when the template exists", () => {
    const fixture = flowOf([{ name: "a" }], { templates: [] }).run();
    fixture.run();
    assert.match(waitIn(fixture.last).waitsFor ?? "", /JobTemplate a to exist: create it in namespace ns/);
    assert.deepEqual([fixture.told.length, waitIn(fixture.last).pollMs, fixture.last?.stages], [1, 15_000, []]);
    const other = flowOf([{ name: "b" }]);
    fixture.put("jobtemplates", { ...other.get("jobtemplates", "b"), metadata: { name: "a" } });
    fixture.run();
    assert.deepEqual(fixture.deeds, ["create jobs f-a"]);
  });

  test("records one Event when the API server refuses its job, and tries the creation again later", () => {
    const fixture = flowOf([{ name: "a" }]);
    fixture.refuses = () => ({ status: 422, reason: "Invalid", message: "spec.tasks: too few" });
    fixture.run();
    const plan = fixture.step();
    assert.deepEqual([fixture.told, plan.stages], [["FailedCreate: spec.tasks: too few"], []]);
    assert.equal(waitIn(plan).pollMs, 60_000);
    fixture.refuses = undefined;
    fixture.run();
    assert.deepEqual(fixture.deeds, ["create jobs f-a"]);
  });
});

describe("jobs of a JobFlow that has succeeded", () => {
  const rows = [
    { policy: "retain", left: ["f-a"] },
    { policy: "delete", left: [] },
  ] as const;
  for (const { policy, left } of rows)
    test(`under jobRetainPolicy ${policy}: ${left.length} are left`, () => {
      const fixture = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: policy } }).run();
      fixture.turn(minute).job("f-a", "Completed");
      fixture.run();
      assert.deepEqual([fixture.names("jobs"), phaseOf(fixture)], [left, "Succeed"]);
      fixture.run();
      assert.deepEqual([does(fixture.last, "rest"), fixture.status()["completedJobs"]], [true, ["f-a"]]);
    });

  test("are not deleted while a slow creation could still create them again", () => {
    const fixture = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: "delete" } }).run();
    fixture.turn(10_000).job("f-a", "Completed");
    fixture.run();
    assert.deepEqual([fixture.names("jobs"), waitIn(fixture.last).wakeAt], [["f-a"], Date.UTC(2026, 10, 2, 8, 0, 16)]);
    fixture.turn(6_000).run();
    assert.deepEqual(fixture.names("jobs"), []);
  });

  test("are deleted once, and the JobFlow waits until they are gone", () => {
    const fixture = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: "delete" } }).run();
    fixture.turn(10_000).job("f-a", "Completed");
    fixture.run();
    fixture.change("jobs", "f-a", { metadata: { deletionTimestamp: "2026-11-02T08:00:12Z" } });
    const plan = fixture.turn(minute).step();
    const [stages, waitsFor] = [plan.stages, waitIn(plan).waitsFor];
    assert.deepEqual([stages, waitsFor], [[], "its jobs to be deleted"]);
  });

  test("are kept under every policy if the JobFlow has failed", () => {
    const fixture = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: "delete" } }).run();
    fixture.turn(minute).job("f-a", "Failed");
    fixture.run();
    assert.deepEqual(fixture.names("jobs"), ["f-a"]);
  });
});

describe("a JobFlow whose spec is invalid", () => {
  const long = "t".repeat(61);
  const rows = [
    { flows: [{ name: "a" }, { name: "a" }], says: /"a" is listed more than once/ },
    { flows: [after("a", "b"), after("b", "a")], says: /"a", "b" depend on each other in a circle/ },
    { flows: [after("a", "z")], says: /dependsOn.targets names "z", but this JobFlow has no such flow/ },
    { flows: [{ name: long }], says: /cannot stand in a label of a job.*shorten/ },
    { flows: [{ name: "A_b" }], says: /no job can be named "f-A_b"/ },
    { flows: [{ name: 7 }], says: /spec\.flows\[0\]\.name must be a string/ },
  ] as const;
  for (const { flows, says } of rows)
    test(`records an Event and rests: ${JSON.stringify(flows).slice(0, 60)}`, () => {
      const fixture = flowOf(flows, { templates: [] }).run();
      assert.match(fixture.told.join(), says);
      assert.deepEqual([does(fixture.last, "rest"), fixture.deeds], [true, []]);
      fixture.change("jobflows", "f", { spec: { flows: [] } });
      fixture.run();
      assert.equal(waitIn(fixture.last).waitsFor, "its jobs to finish");
    });
});

/** A flow's jobs step by step: each made when what it comes after is complete, and once. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../../support/plans.ts";
import { after, flowOf, phaseOf } from "./stages.ts";

const minute = 60_000;

/** Upstream's example: a, then b, then c and d, then e. */
const diamond = () =>
  flowOf([{ name: "a" }, after("b", "a"), after("c", "b"), after("d", "b"), after("e", "c", "d")]).run();

describe("a flow", () => {
  test("makes jobs in the order of what they depend on, and has succeeded with the last", () => {
    const stage = diamond();
    const phases = [phaseOf(stage)];
    for (const ended of [["a"], ["b"], ["c"], ["d"], ["e"]]) {
      for (const name of ended) stage.job(`f-${name}`, "Completed");
      stage.turn(minute).run();
      phases.push(phaseOf(stage));
    }
    assert.deepEqual(
      stage.deeds,
      ["a", "b", "c", "d", "e"].map((name) => `create jobs f-${name}`),
    );
    assert.deepEqual(phases, ["Pending", "Running", "Running", "Running", "Running", "Succeed"]);
    assert.equal(does(stage.last, "rest"), true);
  });

  test("makes jobs with upstream's names, labels, annotations and owner", () => {
    const stage = diamond();
    const { metadata, spec } = stage.get("jobs", "f-a");
    const makers = { "volcano.sh/createdByJobTemplate": "ns.a", "volcano.sh/createdByJobFlow": "ns.f" };
    assert.deepEqual([metadata.labels, metadata.annotations], [makers, makers]);
    const { uid } = stage.own().metadata;
    const owner = { apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow", name: "f", uid };
    assert.deepEqual(metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.deepEqual(spec, stage.get("jobtemplates", "a")["spec"]);
    assert.deepEqual(stage.told, ["Created: create a job named f-a!"]);
  });

  test("shows its jobs as upstream does", () => {
    const stage = flowOf([{ name: "a" }, { name: "b" }, { name: "c" }]).run();
    const taskStatusCount = { w: { phase: { Running: 2 } } };
    stage.job("f-b", "Running", { taskStatusCount });
    stage.turn(minute).run();
    stage.job("f-a", "Completed", { runningDuration: "1m30s", retryCount: 1 });
    stage.job("f-c", "Aborted");
    stage.turn(minute).run();
    const status = stage.status();
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
    stage.job("f-b", "Completed");
    stage.turn(minute).run();
    assert.deepEqual(Object(stage.status()["jobStatusList"])[1]["runningHistories"], [
      { state: "Running", startTimestamp: "2026-11-02T08:01:00Z", endTimestamp: "2026-11-02T08:03:00Z" },
      { state: "Completed", startTimestamp: "2026-11-02T08:03:00Z" },
    ]);
  });

  for (const phase of ["Failed", "Terminated"])
    test(`has failed for good when one of its jobs is ${phase}, and begins nothing more`, () => {
      const stage = diamond();
      stage.job("f-a", phase);
      stage.turn(minute).run();
      assert.deepEqual([phaseOf(stage), does(stage.last, "rest")], ["Failed", true]);
      stage.job("f-a", "Completed");
      stage.turn(minute).run();
      assert.deepEqual([phaseOf(stage), stage.deeds], ["Failed", ["create jobs f-a"]]);
    });

  test("begins nothing in the step that it fails in", () => {
    const stage = flowOf([{ name: "a" }, { name: "c" }], { templates: ["a"] }).run();
    stage.put({ plural: "jobtemplates" }, { ...stage.get("jobtemplates", "a"), metadata: { name: "c" } });
    stage.job("f-a", "Failed");
    stage.run();
    assert.deepEqual([phaseOf(stage), stage.deeds], ["Failed", ["create jobs f-a"]]);
  });

  test("takes no stranger's job for its own, whatever its labels", () => {
    const stage = flowOf([{ name: "a" }, after("b", "a")], { templates: [] });
    const metadata = { name: "f-a", labels: { "volcano.sh/createdByJobFlow": "ns.f" } };
    stage.put({ plural: "jobs" }, { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata });
    stage.job("f-a", "Completed");
    stage.run();
    assert.deepEqual([phaseOf(stage), stage.status()["completedJobs"]], ["Pending", undefined]);
  });

  test("does not make a job again that was complete and is gone, but one that was not", () => {
    const stage = flowOf([{ name: "a" }, { name: "b" }, after("c", "a")]).run();
    stage.job("f-a", "Completed");
    stage.run();
    stage.remove("jobs", "f-a");
    stage.remove("jobs", "f-b");
    stage.turn(minute).run();
    assert.deepEqual(stage.deeds.slice(2), ["create jobs f-c", "create jobs f-b"]);
    assert.deepEqual(stage.status()["completedJobs"], ["f-a"]);
  });

  test("makes each job once, also when a step dies after its save", () => {
    const stage = flowOf([{ name: "a" }]);
    stage.step(true);
    stage.run();
    stage.run();
    assert.deepEqual(stage.deeds, ["create jobs f-a"]);
  });

  test("tells of each job that it made, also when steps die that have made or seen it", () => {
    const stage = flowOf([{ name: "a" }]);
    stage.step();
    assert.deepEqual(stage.told, []);
    stage.step(true);
    stage.run();
    assert.deepEqual(stage.told, ["Created: create a job named f-a!"]);
  });

  test("goes on from what upstream's controller left", () => {
    const status = { state: { phase: "Running" }, completedJobs: ["f-a"] };
    const stage = flowOf([{ name: "a" }, after("b", "a")], { status }).run();
    assert.deepEqual([stage.deeds, phaseOf(stage)], [["create jobs f-b"], "Running"]);
  });

  test("waits for a template that is missing, says so once, and goes on when it is there", () => {
    const stage = flowOf([{ name: "a" }], { templates: [] }).run();
    stage.run();
    assert.match(waitIn(stage.last).waitsFor ?? "", /JobTemplate a to exist: create it in namespace ns/);
    assert.deepEqual([stage.told.length, waitIn(stage.last).pollMs, stage.last?.stages], [1, 15_000, []]);
    const other = flowOf([{ name: "b" }]);
    stage.put({ plural: "jobtemplates" }, { ...other.get("jobtemplates", "b"), metadata: { name: "a" } });
    stage.run();
    assert.deepEqual(stage.deeds, ["create jobs f-a"]);
  });

  test("tells what the server says of its job, once, and asks again later", () => {
    const stage = flowOf([{ name: "a" }]);
    stage.refuses = () => ({ status: 422, reason: "Invalid", message: "spec.tasks: too few" });
    stage.run();
    const plan = stage.step();
    assert.deepEqual([stage.told, plan.stages], [["FailedCreate: spec.tasks: too few"], []]);
    assert.equal(waitIn(plan).pollMs, 60_000);
    stage.refuses = undefined;
    stage.run();
    assert.deepEqual(stage.deeds, ["create jobs f-a"]);
  });
});

describe("jobs of a flow that has succeeded", () => {
  const rows = [
    { policy: "retain", left: ["f-a"] },
    { policy: "delete", left: [] },
  ] as const;
  for (const { policy, left } of rows)
    test(`under ${policy}: ${left.length} are left`, () => {
      const stage = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: policy } }).run();
      stage.turn(minute).job("f-a", "Completed");
      stage.run();
      assert.deepEqual([stage.names("jobs"), phaseOf(stage)], [left, "Succeed"]);
      stage.run();
      assert.deepEqual([does(stage.last, "rest"), stage.status()["completedJobs"]], [true, ["f-a"]]);
    });

  test("are not deleted before no slow creation can bring them back", () => {
    const stage = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: "delete" } }).run();
    stage.turn(10_000).job("f-a", "Completed");
    stage.run();
    assert.deepEqual([stage.names("jobs"), waitIn(stage.last).wakeAt], [["f-a"], Date.UTC(2026, 10, 2, 8, 0, 16)]);
    stage.turn(6_000).run();
    assert.deepEqual(stage.names("jobs"), []);
  });

  test("are deleted once, and waited for", () => {
    const stage = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: "delete" } }).run();
    stage.turn(10_000).job("f-a", "Completed");
    stage.run();
    stage.change("jobs", "f-a", { metadata: { deletionTimestamp: "2026-11-02T08:00:12Z" } });
    const plan = stage.turn(minute).step();
    const [stages, waitsFor] = [plan.stages, waitIn(plan).waitsFor];
    assert.deepEqual([stages, waitsFor], [[], "its jobs to be deleted"]);
  });

  test("a flow that has failed keeps its jobs whatever its policy", () => {
    const stage = flowOf([{ name: "a" }], { spec: { jobRetainPolicy: "delete" } }).run();
    stage.turn(minute).job("f-a", "Failed");
    stage.run();
    assert.deepEqual(stage.names("jobs"), ["f-a"]);
  });
});

describe("a flow that cannot be followed", () => {
  const long = "t".repeat(61);
  const rows = [
    { flows: [{ name: "a" }, { name: "a" }], says: /"a" is listed more than once/ },
    { flows: [after("a", "b"), after("b", "a")], says: /"a", "b" depend on each other in a circle/ },
    { flows: [after("a", "z")], says: /dependsOn.targets names "z", which is no flow/ },
    { flows: [{ name: long }], says: /cannot stand in a label of a job.*shorten/ },
    { flows: [{ name: "A_b" }], says: /no job can be named "f-A_b"/ },
    { flows: [{ name: 7 }], says: /spec\.flows\[0\]\.name must be a string/ },
  ] as const;
  for (const { flows, says } of rows)
    test(`says so, and rests: ${JSON.stringify(flows).slice(0, 60)}`, () => {
      const stage = flowOf(flows, { templates: [] }).run();
      assert.match(stage.told.join(), says);
      assert.deepEqual([does(stage.last, "rest"), stage.deeds], [true, []]);
      stage.change("jobflows", "f", { spec: { flows: [] } });
      stage.run();
      assert.equal(waitIn(stage.last).waitsFor, "its jobs to finish");
    });
});

/** The decisions of a job from its first step to its end, through restarts, policies, commands and deaths. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../../support/plans.ts";
import { openJob, phaseOf, task } from "./fixtures.ts";

describe("a job", () => {
  test("waits for its group, runs, and is completed", () => {
    const fixture = openJob({ tasks: [task("w", 2)], plugins: { svc: [] } }).run();
    assert.equal(phaseOf(fixture), "Pending");
    assert.deepEqual(fixture.names("pods"), []);
    assert.deepEqual(fixture.names("configmaps"), ["j-svc"]);
    fixture.admit();
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-w-0", "j-w-1"]);
    fixture.pods("Running");
    fixture.run();
    fixture.turn(60_000).pods("Succeeded");
    fixture.run();
    assert.deepEqual(fixture.phases, ["Pending", "Running", "Completed"]);
    const { succeeded, running, runningDuration } = fixture.status();
    assert.deepEqual(
      { succeeded, running, runningDuration },
      { succeeded: 2, running: undefined, runningDuration: "1m0s" },
    );
    assert.deepEqual([fixture.names("podgroups"), fixture.names("configmaps")], [[], []]);
    assert.equal(does(fixture.last, "rest"), true);
  });

  test("of a queue with extendClusters gets upstream's forwarding annotation, as do its group and its pods", () => {
    const forwarding = { "volcano.sh/job-forwarding": "true" };
    const fixture = openJob(
      { tasks: [task("w", 1)] },
      { metadata: { name: "j", namespace: "ns", annotations: { mine: "1" } } },
    );
    fixture.change("queues", "default", { spec: { extendClusters: [{ name: "other" }] } });
    fixture.running();
    assert.equal(fixture.deeds[0], "patch jobs j");
    assert.deepEqual(fixture.own().metadata.annotations, { mine: "1", ...forwarding });
    assert.deepEqual(fixture.objects.get("podgroups/j-uid-1")?.metadata.annotations, { mine: "1", ...forwarding });
    const { labels, annotations } = fixture.pod("j-w-0").metadata;
    assert.deepEqual(
      [labels, annotations].map((texts) => texts?.["volcano.sh/job-forwarding"]),
      ["true", "true"],
    );
    assert.deepEqual(fixture.step().stages, []);
    assert.equal(fixture.deeds.filter((deed) => deed === "patch jobs j").length, 1);
  });

  test("of a queue without extendClusters is not patched", () => {
    const fixture = openJob({ tasks: [task("w", 1)] });
    fixture.change("queues", "default", { spec: { extendClusters: [] } });
    assert.ok(!fixture.running().deeds.includes("patch jobs j"));
  });

  test("keeps its memory in a step without effects", () => {
    const fixture = openJob({ tasks: [task("w", 2)] }).running();
    const { memory } = fixture;
    const { stages } = fixture.step();
    assert.deepEqual([stages, fixture.memory], [[], memory]);
  });

  test("fails when too many pods have failed", () => {
    const fixture = openJob({ tasks: [task("w", 2)] }).running();
    fixture.fail("j-w-0", 1);
    fixture.pods("Succeeded", ["j-w-1"]);
    fixture.run();
    assert.equal(phaseOf(fixture), "Failed");
    assert.deepEqual([fixture.status()["failed"], fixture.status()["succeeded"]], [1, 1]);
  });

  test("restarts as a whole, with every phase in its status, and counts the retry", () => {
    const spec = { tasks: [task("w", 2)], policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const fixture = openJob(spec).running();
    fixture.lingering = true;
    fixture.fail("j-w-1", 3);
    fixture.run();
    assert.equal(phaseOf(fixture), "Restarting");
    assert.match(fixture.status().state?.message ?? "", /PodFailed of pod w-1 \(exit code 3\)/);
    assert.equal(fixture.status()["terminating"], 2);
    fixture.release();
    fixture.run();
    fixture.admit();
    fixture.run();
    fixture.pods("Running");
    fixture.run();
    assert.deepEqual(fixture.phases, ["Pending", "Running", "Restarting", "Pending", "Running"]);
    const { version, retryCount } = fixture.status();
    assert.deepEqual({ version, retryCount }, { version: 1, retryCount: 1 });
    assert.ok(
      fixture
        .names("pods")
        .every((name) => fixture.objects.get(`pods/${name}`)?.metadata.annotations?.["volcano.sh/job-version"] === "1"),
    );
  });

  test("without a retry left becomes Failed and keeps its finished pods", () => {
    const spec = { maxRetry: 1, tasks: [task("w", 2)], policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const fixture = openJob(spec).running();
    fixture.fail("j-w-1", 3);
    fixture.run();
    assert.equal(phaseOf(fixture), "Failed");
    assert.deepEqual(fixture.names("pods"), ["j-w-1"]);
    assert.equal(fixture.status()["failed"], 1);
  });

  test("that has ended waits until its pods are gone, and reads again every 15 s", () => {
    const spec = { maxRetry: 1, tasks: [task("w", 2)], policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const fixture = openJob(spec).running();
    fixture.lingering = true;
    fixture.fail("j-w-1", 3);
    fixture.run();
    assert.equal(phaseOf(fixture), "Failed");
    assert.deepEqual(
      [does(fixture.last, "again"), waitIn(fixture.last).pollMs, does(fixture.last, "rest")],
      [undefined, 15_000, undefined],
    );
    fixture.release();
    fixture.run();
    assert.equal(does(fixture.last, "rest"), true);
  });

  test("restarts one pod without a change of the other pods and of shared objects", () => {
    const policies = [{ event: "PodFailed", action: "RestartPod" }];
    const fixture = openJob({ tasks: [task("w", 2)], plugins: { svc: [] }, policies }).running();
    const other = fixture.objects.get("pods/j-w-0")?.metadata.uid;
    fixture.deeds.length = 0;
    fixture.fail("j-w-1", 1);
    fixture.run();
    assert.deepEqual(fixture.deeds, ["delete pods j-w-1", "create pods j-w-1"]);
    assert.equal(fixture.objects.get("pods/j-w-0")?.metadata.uid, other);
    fixture.pods("Running");
    fixture.run();
    assert.deepEqual(fixture.phases, ["Pending", "Running", "Restarting", "Pending", "Running"]);
    assert.equal(fixture.status()["version"], undefined);
  });

  test("acts once on failures of several pods, even if steps die after their save", () => {
    const fixture = openJob({
      tasks: [task("w", 3)],
      policies: [{ event: "PodFailed", action: "RestartJob" }],
    }).running();
    fixture.fail("j-w-0", 1);
    fixture.fail("j-w-2", 1);
    fixture.step(true);
    fixture.step(true);
    fixture.run();
    assert.equal(fixture.status()["retryCount"], 1);
    assert.ok(fixture.phases.includes("Restarting"));
  });

  test("restarts the task of an evicted pod once, and creates the pod again", () => {
    const policies = [{ event: "PodEvicted", action: "RestartTask" }];
    const fixture = openJob({ tasks: [task("a", 1), task("b", 2, { policies })] }).running();
    fixture.deeds.length = 0;
    fixture.remove("pods", "j-b-1");
    fixture.run();
    assert.deepEqual(fixture.deeds, ["delete pods j-b-0", "create pods j-b-1", "create pods j-b-0"]);
    assert.equal(fixture.status()["retryCount"], 1);
  });

  test("creates lost pods again without a retry if it has no policy", () => {
    const fixture = openJob({ tasks: [task("w", 2)] }).running();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.deepEqual(
      [fixture.names("pods").toSorted(), fixture.status()["retryCount"]],
      [["j-w-0", "j-w-1"], undefined],
    );
  });

  test("follows its size, up and down", () => {
    const fixture = openJob({ minAvailable: 1, tasks: [task("w", 2)], plugins: { svc: [] } }).running();
    fixture.change("jobs", "j", { spec: { minAvailable: 1, tasks: [task("w", 3)], plugins: { svc: [] } } });
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-w-0", "j-w-1", "j-w-2"]);
    assert.match(JSON.stringify(fixture.objects.get("configmaps/j-svc")), /j-w-2\.j/);
    fixture.change("jobs", "j", { spec: { minAvailable: 1, tasks: [task("w", 1)], plugins: { svc: [] } } });
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-w-0"]);
    assert.equal(fixture.status()["retryCount"], undefined);
  });

  test("starts a task when the tasks that it depends on are ready", () => {
    const tasks = [task("a", 1), task("b", 1, { dependsOn: { name: ["a"] } })];
    const fixture = openJob({ minAvailable: 1, tasks }).run();
    fixture.admit();
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-a-0"]);
    fixture.pods("Running", ["j-a-0"], { containerStatuses: [{ name: "c", ready: false }] });
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-a-0"]);
    fixture.pods("Running", ["j-a-0"], { containerStatuses: [{ name: "c", ready: true }] });
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-a-0", "j-b-0"]);
  });

  test("is deleted when ttlSecondsAfterFinished has passed", () => {
    const fixture = openJob({ ttlSecondsAfterFinished: 30, tasks: [task("w", 1)] }).running();
    fixture.pods("Succeeded");
    fixture.run();
    assert.deepEqual(fixture.last?.next, { do: "rest", wakeAt: fixture.now + 30_000 });
    fixture.turn(30_000).run();
    assert.deepEqual(fixture.names("jobs"), []);
  });
});

describe("a job that cannot start yet", () => {
  test("reports an invalid spec in its status, and creates nothing", () => {
    const fixture = openJob({ tasks: [task("w", 1), task("w", 1)] }).run();
    assert.match(fixture.status().state?.message ?? "", /duplicated task name w/);
    assert.deepEqual(fixture.deeds, []);
  });

  test("waits for a missing queue", () => {
    const fixture = openJob({ queue: "nobody", tasks: [task("w", 1)] }).run();
    assert.match(fixture.status().state?.message ?? "", /queue nobody is not found/);
    fixture.put("queues", { apiVersion: "v1", kind: "Queue", metadata: { name: "nobody" } });
    fixture.run();
    assert.deepEqual(fixture.names("podgroups"), [`j-${fixture.own().metadata.uid}`]);
  });

  test("waits for a claim that it only names, and creates and names a claim that it specifies", () => {
    const volumes = [
      { mountPath: "/a", volumeClaimName: "mine" },
      { mountPath: "/b", volumeClaim: { accessModes: [] } },
    ];
    const fixture = openJob({ tasks: [task("w", 1)], volumes }).run();
    assert.match(fixture.status().state?.message ?? "", /pvc mine is not found/);
    const [made = ""] = fixture.names("persistentvolumeclaims");
    assert.match(JSON.stringify(fixture.own()["spec"]), new RegExp(made));
    fixture.put("persistentvolumeclaims", {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "mine" },
    });
    fixture.run();
    fixture.admit();
    fixture.run();
    assert.deepEqual(fixture.names("pods"), ["j-w-0"]);
  });
});

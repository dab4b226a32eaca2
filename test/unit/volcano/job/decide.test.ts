/** The decisions of a job from its first step to its end, through restarts, policies, commands and deaths. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../../support/plans.ts";
import { Loop, task } from "./loop.ts";

const phaseOf = (loop: Loop): string | undefined => loop.status().state?.phase;

describe("a job", () => {
  test("waits for its group, runs, and is completed", () => {
    const loop = new Loop({ tasks: [task("w", 2)], plugins: { svc: [] } }).run();
    assert.equal(phaseOf(loop), "Pending");
    assert.deepEqual(loop.names("pods"), []);
    assert.deepEqual(loop.names("configmaps"), ["j-svc"]);
    loop.admit();
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-w-0", "j-w-1"]);
    loop.pods("Running");
    loop.run();
    loop.turn(60_000).pods("Succeeded");
    loop.run();
    assert.deepEqual(loop.phases, ["Pending", "Running", "Completed"]);
    const { succeeded, running, runningDuration } = loop.status();
    assert.deepEqual(
      { succeeded, running, runningDuration },
      { succeeded: 2, running: undefined, runningDuration: "1m0s" },
    );
    assert.deepEqual([loop.names("podgroups"), loop.names("configmaps")], [[], []]);
    assert.equal(does(loop.last, "rest"), true);
  });

  test("of a queue with extendClusters gets upstream's forwarding annotation, as do its group and its pods", () => {
    const forwarding = { "volcano.sh/job-forwarding": "true" };
    const loop = new Loop(
      { tasks: [task("w", 1)] },
      { metadata: { name: "j", namespace: "ns", annotations: { mine: "1" } } },
    );
    loop.change("queues", "default", { spec: { extendClusters: [{ name: "other" }] } });
    loop.running();
    assert.equal(loop.deeds[0], "patch jobs j");
    assert.deepEqual(loop.job().metadata.annotations, { mine: "1", ...forwarding });
    assert.deepEqual(loop.objects.get("podgroups/j-uid-1")?.metadata.annotations, { mine: "1", ...forwarding });
    const { labels, annotations } = loop.pod("j-w-0").metadata;
    assert.deepEqual(
      [labels, annotations].map((texts) => texts?.["volcano.sh/job-forwarding"]),
      ["true", "true"],
    );
    assert.deepEqual(loop.step().stages, []);
    assert.equal(loop.deeds.filter((deed) => deed === "patch jobs j").length, 1);
  });

  test("of a queue without extendClusters is not patched", () => {
    const loop = new Loop({ tasks: [task("w", 1)] });
    loop.change("queues", "default", { spec: { extendClusters: [] } });
    assert.ok(!loop.running().deeds.includes("patch jobs j"));
  });

  test("keeps its memory in a step without effects", () => {
    const loop = new Loop({ tasks: [task("w", 2)] }).running();
    const { memory } = loop;
    const { stages } = loop.step();
    assert.deepEqual([stages, loop.memory], [[], memory]);
  });

  test("fails when too many pods have failed", () => {
    const loop = new Loop({ tasks: [task("w", 2)] }).running();
    loop.fail("j-w-0", 1);
    loop.pods("Succeeded", ["j-w-1"]);
    loop.run();
    assert.equal(phaseOf(loop), "Failed");
    assert.deepEqual([loop.status()["failed"], loop.status()["succeeded"]], [1, 1]);
  });

  test("restarts as a whole, with every phase in its status, and counts the retry", () => {
    const spec = { tasks: [task("w", 2)], policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const loop = new Loop(spec).running();
    loop.lingering = true;
    loop.fail("j-w-1", 3);
    loop.run();
    assert.equal(phaseOf(loop), "Restarting");
    assert.match(loop.status().state?.message ?? "", /PodFailed of pod w-1 \(exit code 3\)/);
    assert.equal(loop.status()["terminating"], 2);
    loop.release();
    loop.run();
    loop.admit();
    loop.run();
    loop.pods("Running");
    loop.run();
    assert.deepEqual(loop.phases, ["Pending", "Running", "Restarting", "Pending", "Running"]);
    const { version, retryCount } = loop.status();
    assert.deepEqual({ version, retryCount }, { version: 1, retryCount: 1 });
    assert.ok(
      loop
        .names("pods")
        .every((name) => loop.objects.get(`pods/${name}`)?.metadata.annotations?.["volcano.sh/job-version"] === "1"),
    );
  });

  test("without a retry left becomes Failed and keeps its finished pods", () => {
    const spec = { maxRetry: 1, tasks: [task("w", 2)], policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const loop = new Loop(spec).running();
    loop.fail("j-w-1", 3);
    loop.run();
    assert.equal(phaseOf(loop), "Failed");
    assert.deepEqual(loop.names("pods"), ["j-w-1"]);
    assert.equal(loop.status()["failed"], 1);
  });

  test("that has ended waits until its pods are gone, and reads again every 15 s", () => {
    const spec = { maxRetry: 1, tasks: [task("w", 2)], policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const loop = new Loop(spec).running();
    loop.lingering = true;
    loop.fail("j-w-1", 3);
    loop.run();
    assert.equal(phaseOf(loop), "Failed");
    assert.deepEqual(
      [does(loop.last, "again"), waitIn(loop.last).pollMs, does(loop.last, "rest")],
      [undefined, 15_000, undefined],
    );
    loop.release();
    loop.run();
    assert.equal(does(loop.last, "rest"), true);
  });

  test("restarts one pod without a change of the other pods and of shared objects", () => {
    const policies = [{ event: "PodFailed", action: "RestartPod" }];
    const loop = new Loop({ tasks: [task("w", 2)], plugins: { svc: [] }, policies }).running();
    const other = loop.objects.get("pods/j-w-0")?.metadata.uid;
    loop.deeds.length = 0;
    loop.fail("j-w-1", 1);
    loop.run();
    assert.deepEqual(loop.deeds, ["delete pods j-w-1", "create pods j-w-1"]);
    assert.equal(loop.objects.get("pods/j-w-0")?.metadata.uid, other);
    loop.pods("Running");
    loop.run();
    assert.deepEqual(loop.phases, ["Pending", "Running", "Restarting", "Pending", "Running"]);
    assert.equal(loop.status()["version"], undefined);
  });

  test("acts once on failures of several pods, even if steps die after their save", () => {
    const loop = new Loop({
      tasks: [task("w", 3)],
      policies: [{ event: "PodFailed", action: "RestartJob" }],
    }).running();
    loop.fail("j-w-0", 1);
    loop.fail("j-w-2", 1);
    loop.step(true);
    loop.step(true);
    loop.run();
    assert.equal(loop.status()["retryCount"], 1);
    assert.ok(loop.phases.includes("Restarting"));
  });

  test("restarts the task of an evicted pod once, and creates the pod again", () => {
    const policies = [{ event: "PodEvicted", action: "RestartTask" }];
    const loop = new Loop({ tasks: [task("a", 1), task("b", 2, { policies })] }).running();
    loop.deeds.length = 0;
    loop.remove("pods", "j-b-1");
    loop.run();
    assert.deepEqual(loop.deeds, ["delete pods j-b-0", "create pods j-b-1", "create pods j-b-0"]);
    assert.equal(loop.status()["retryCount"], 1);
  });

  test("creates lost pods again without a retry if it has no policy", () => {
    const loop = new Loop({ tasks: [task("w", 2)] }).running();
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.deepEqual([loop.names("pods").toSorted(), loop.status()["retryCount"]], [["j-w-0", "j-w-1"], undefined]);
  });

  test("follows its size, up and down", () => {
    const loop = new Loop({ minAvailable: 1, tasks: [task("w", 2)], plugins: { svc: [] } }).running();
    loop.change("jobs", "j", { spec: { minAvailable: 1, tasks: [task("w", 3)], plugins: { svc: [] } } });
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-w-0", "j-w-1", "j-w-2"]);
    assert.match(JSON.stringify(loop.objects.get("configmaps/j-svc")), /j-w-2\.j/);
    loop.change("jobs", "j", { spec: { minAvailable: 1, tasks: [task("w", 1)], plugins: { svc: [] } } });
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-w-0"]);
    assert.equal(loop.status()["retryCount"], undefined);
  });

  test("starts a task when the tasks that it depends on are ready", () => {
    const tasks = [task("a", 1), task("b", 1, { dependsOn: { name: ["a"] } })];
    const loop = new Loop({ minAvailable: 1, tasks }).run();
    loop.admit();
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-a-0"]);
    loop.pods("Running", ["j-a-0"], { containerStatuses: [{ name: "c", ready: false }] });
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-a-0"]);
    loop.pods("Running", ["j-a-0"], { containerStatuses: [{ name: "c", ready: true }] });
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-a-0", "j-b-0"]);
  });

  test("is deleted when ttlSecondsAfterFinished has passed", () => {
    const loop = new Loop({ ttlSecondsAfterFinished: 30, tasks: [task("w", 1)] }).running();
    loop.pods("Succeeded");
    loop.run();
    assert.deepEqual(loop.last?.next, { do: "rest", wakeAt: loop.now + 30_000 });
    loop.turn(30_000).run();
    assert.deepEqual(loop.names("jobs"), []);
  });
});

describe("a job that cannot start yet", () => {
  test("reports an invalid spec in its status, and creates nothing", () => {
    const loop = new Loop({ tasks: [task("w", 1), task("w", 1)] }).run();
    assert.match(loop.status().state?.message ?? "", /duplicated task name w/);
    assert.deepEqual(loop.deeds, []);
  });

  test("waits for a missing queue", () => {
    const loop = new Loop({ queue: "nobody", tasks: [task("w", 1)] }).run();
    assert.match(loop.status().state?.message ?? "", /queue nobody is not found/);
    loop.put("queues", { apiVersion: "v1", kind: "Queue", metadata: { name: "nobody" } });
    loop.run();
    assert.deepEqual(loop.names("podgroups"), [`j-${loop.job().metadata.uid}`]);
  });

  test("waits for a claim that it only names, and creates and names a claim that it specifies", () => {
    const volumes = [
      { mountPath: "/a", volumeClaimName: "mine" },
      { mountPath: "/b", volumeClaim: { accessModes: [] } },
    ];
    const loop = new Loop({ tasks: [task("w", 1)], volumes }).run();
    assert.match(loop.status().state?.message ?? "", /pvc mine is not found/);
    const [made = ""] = loop.names("persistentvolumeclaims");
    assert.match(JSON.stringify(loop.job()["spec"]), new RegExp(made));
    loop.put("persistentvolumeclaims", { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "mine" } });
    loop.run();
    loop.admit();
    loop.run();
    assert.deepEqual(loop.names("pods"), ["j-w-0"]);
  });
});

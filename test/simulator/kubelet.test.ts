/** The kubelets: mounts, images, exits, restarts, grace. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { itemsAt, numberAt, textAt } from "../../shared/simulator/json.ts";
import { condition, exitOf, mapsPath, merge, open, podsPath, sleeper, waitsFor } from "./stand.ts";

test("a pod waits for its mount and starts when that comes", () => {
  const stand = open();
  const volumes = [{ name: "v", configMap: { name: "late" } }];
  stand.call("POST", podsPath, sleeper("p", { volumes }));
  stand.rest();
  assert.equal(waitsFor(stand.pod("p")), "ContainerCreating");
  stand.call("POST", mapsPath, { metadata: { name: "late" } });
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Running"]);
});

test("an image that cannot be pulled is tried again with another one", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p", { containers: [{ name: "main", image: "does-not-exist:1" }] }));
  stand.pass(1000);
  assert.equal(waitsFor(stand.pod("p")), "ErrImagePull");
  stand.rest();
  assert.equal(waitsFor(stand.pod("p")), "ImagePullBackOff");
  const spec = { containers: [{ name: "main", image: "sleep:2" }] };
  assert.equal(stand.call("PATCH", `${podsPath}/p`, { spec }, "application/strategic-merge-patch+json").status, 200);
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Running"]);
});

const exits = [
  ["Never", 0, "p Succeeded"],
  ["Never", 3, "p Failed"],
  ["OnFailure", 0, "p Succeeded"],
] as const;

for (const [restartPolicy, exitCode, wanted] of exits)
  test(`with ${restartPolicy}, an exit with ${exitCode} is the end: ${wanted}`, () => {
    const stand = open({ scripts: { p: [{ runMs: 1000, exitCode }] } });
    stand.call("POST", podsPath, sleeper("p", { restartPolicy }));
    stand.rest();
    assert.deepEqual(stand.pods(), [wanted]);
    assert.equal(exitOf(stand.pod("p")), exitCode);
  });

for (const [restartPolicy, exitCode] of [
  ["Always", 0],
  ["OnFailure", 1],
] as const)
  test(`with ${restartPolicy}, after an exit with ${exitCode} the container comes back later and later`, () => {
    const stand = open({ scripts: { p: [{ runMs: 1000, exitCode }] } });
    stand.call("POST", podsPath, sleeper("p", { restartPolicy }));
    stand.pass(2000);
    assert.equal(waitsFor(stand.pod("p")), "CrashLoopBackOff");
    stand.pass(1000);
    const [status] = itemsAt(stand.pod("p"), "status", "containerStatuses");
    assert.equal(numberAt(status, "restartCount"), 1);
    assert.equal(textAt(stand.pod("p"), "status", "phase"), "Running");
  });

test("a deleted pod is told, reported ended with 143, and let go", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p"));
  stand.pass(1000);
  const seen: string[] = [];
  stand.simulator.subscribe(({ type, object }) => {
    if (object.metadata.name === "p")
      seen.push(`${type} ${textAt(object, "status", "phase")} ${exitOf(object) ?? "-"}`);
  });
  assert.equal(stand.call("DELETE", `${podsPath}/p`).status, 200);
  assert.deepEqual(stand.pods(), ["p Running"]);
  stand.rest();
  assert.deepEqual(seen, ["MODIFIED Running -", "MODIFIED Failed 143", "DELETED Failed 143"]);
});

test("killPod ends the process; containers beside the main one go on", () => {
  const stand = open();
  const containers = [
    { name: "side", image: "x" },
    { name: "spark-kubernetes-executor", image: "y" },
  ];
  stand.call("POST", podsPath, sleeper("p", { containers }, { labels: { "spark-role": "none" } }));
  stand.pass(1000);
  stand.simulator.killPod("default", "p", { code: 137, reason: "OOMKilled" });
  assert.deepEqual(stand.pods(), ["p Running"]);
  const [side, main] = itemsAt(stand.pod("p"), "status", "containerStatuses");
  assert.equal(textAt(main, "state", "terminated", "reason"), "OOMKilled");
  assert.notEqual(textAt(side, "state", "running", "startedAt"), undefined);
  assert.equal(condition(stand.pod("p"), "Ready"), "False");
});

test("an evicted pod says so", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p"));
  stand.pass(1000);
  stand.simulator.evictPod("default", "p");
  assert.equal(textAt(stand.pod("p"), "status", "reason"), "Evicted");
  assert.equal(condition(stand.pod("p"), "DisruptionTarget"), "True");
  assert.deepEqual(stand.pods(), ["p Failed"]);
});

test("a pod that fits nowhere says why, and goes when there is room", () => {
  const stand = open({ nodes: [{ name: "small", cpu: "1" }] });
  const containers = [{ name: "main", image: "x", resources: { requests: { cpu: "2" } } }];
  stand.call("POST", podsPath, sleeper("p", { containers }));
  stand.rest();
  const [why] = itemsAt(stand.pod("p"), "status", "conditions");
  assert.equal(textAt(why, "reason"), "Unschedulable");
  assert.equal(textAt(why, "message"), "0/1 nodes are available: 1 Insufficient cpu.");
  stand.simulator.nodes.add({ name: "large", cpu: "4" });
  stand.rest();
  assert.equal(textAt(stand.pod("p"), "spec", "nodeName"), "large");
  assert.deepEqual(stand.pods(), ["p Running"]);
});

test("a gated pod is scheduled when its gate is taken away", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p", { schedulingGates: [{ name: "example.com/wait" }] }));
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Pending"]);
  assert.equal(stand.call("PATCH", `${podsPath}/p`, { spec: { schedulingGates: null } }, merge).status, 200);
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Running"]);
});

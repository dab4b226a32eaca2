/** The kubelets: mounts, images, exits, restarts, grace. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodScript } from "../../../../shared/simulator/nodes/script.ts";
import { itemsAt, numberAt, textAt } from "../../../../shared/simulator/storage/json.ts";
import { condition, exitOf, mapsPath, merge, open, podsPath, sleeper, waitsFor } from "../stand.ts";

test("a pod waits for its mount and starts when the object exists", () => {
  const stand = open();
  const volumes = [{ name: "v", configMap: { name: "late" } }];
  stand.call("POST", podsPath, sleeper("p", { volumes }));
  stand.rest();
  assert.equal(waitsFor(stand.pod("p")), "ContainerCreating");
  stand.call("POST", mapsPath, { metadata: { name: "late" } });
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Running"]);
});

test("an image that cannot be pulled is tried again, and a corrected one starts", () => {
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
  test(`with ${restartPolicy}, after an exit with ${exitCode} the container restarts with growing delays`, () => {
    const stand = open({ scripts: { p: [{ runMs: 1000, exitCode }] } });
    stand.call("POST", podsPath, sleeper("p", { restartPolicy }));
    stand.pass(2000);
    assert.equal(waitsFor(stand.pod("p")), "CrashLoopBackOff");
    stand.pass(1000);
    const [status] = itemsAt(stand.pod("p"), "status", "containerStatuses");
    assert.equal(numberAt(status, "restartCount"), 1);
    assert.equal(textAt(stand.pod("p"), "status", "phase"), "Running");
  });

/** Returns the writes to a pod from its deletion on: the phase, the exit code, and the remaining grace. */
const deleted = (script: PodScript, metadata: object = {}, query = ""): readonly string[] => {
  const stand = open({ scripts: { p: [script] } });
  stand.call("POST", podsPath, sleeper("p", {}, metadata));
  stand.pass(1000);
  const seen: string[] = [];
  stand.simulator.subscribe(({ type, object }) => {
    const { name, deletionGracePeriodSeconds: grace } = object.metadata;
    if (name === "p") seen.push(`${type} ${textAt(object, "status", "phase")} ${exitOf(object) ?? "-"} ${grace}`);
  });
  assert.equal(stand.call("DELETE", `${podsPath}/p${query}`).status, 200);
  stand.rest();
  return seen;
};

const held = { finalizers: ["example.com/held"] };

/** The writes of kubelets since 1.27; test/real/cluster checks the same of its node agent. */
const deletions = [
  [
    "SIGTERM ends it",
    {},
    {},
    "",
    ["MODIFIED Running - 30", "MODIFIED Failed 143 30", "MODIFIED Failed 143 0", "DELETED Failed 143 0"],
  ],
  [
    "it ends with 0 on SIGTERM",
    { stopCode: 0 },
    {},
    "",
    ["MODIFIED Running - 30", "MODIFIED Succeeded 0 30", "MODIFIED Succeeded 0 0", "DELETED Succeeded 0 0"],
  ],
  [
    "it ends with 0, and a finalizer holds it",
    { stopCode: 0 },
    held,
    "",
    ["MODIFIED Running - 30", "MODIFIED Succeeded 0 30", "MODIFIED Succeeded 0 0"],
  ],
  [
    "it takes longer than its grace",
    { stopMs: 60_000, stopCode: 0 },
    {},
    "?gracePeriodSeconds=2",
    ["MODIFIED Running - 2", "MODIFIED Failed 137 2", "MODIFIED Failed 137 0", "DELETED Failed 137 0"],
  ],
  [
    "by force, and a finalizer holds it",
    { stopCode: 0 },
    held,
    "?gracePeriodSeconds=0",
    ["MODIFIED Running - 0", "MODIFIED Failed 137 0"],
  ],
  [
    "it never ran",
    { pull: "fails" },
    {},
    "",
    ["MODIFIED Pending - 30", "MODIFIED Failed 137 30", "MODIFIED Failed 137 0", "DELETED Failed 137 0"],
  ],
  ["it had ended before, and a finalizer holds it", { runMs: 100 }, held, "", ["MODIFIED Succeeded 0 0"]],
] as const;

for (const [what, script, metadata, query, wanted] of deletions)
  test(`a deleted pod gets its terminal phase before its removal: ${what}`, () =>
    assert.deepEqual(deleted(script, metadata, query), wanted));

test("killPod ends the process, and containers beside the main one continue", () => {
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

test("an evicted pod has that reason", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p"));
  stand.pass(1000);
  stand.simulator.evictPod("default", "p");
  assert.equal(textAt(stand.pod("p"), "status", "reason"), "Evicted");
  assert.equal(condition(stand.pod("p"), "DisruptionTarget"), "True");
  assert.deepEqual(stand.pods(), ["p Failed"]);
});

test("a pod that fits on no node has the reason, and starts when there is room", () => {
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

test("a gated pod is scheduled when its gate is removed", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p", { schedulingGates: [{ name: "example.com/wait" }] }));
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Pending"]);
  assert.equal(stand.call("PATCH", `${podsPath}/p`, { spec: { schedulingGates: null } }, merge).status, 200);
  stand.rest();
  assert.deepEqual(stand.pods(), ["p Running"]);
});

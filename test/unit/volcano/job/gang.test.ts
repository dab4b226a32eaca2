/** A job whose group has a plan: pods on their places, then those beyond the minimum; and a group that is taken back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { timeText } from "../../../../shared/core/time.ts";
import { pinOf } from "../../../../shared/kube/nodes.ts";
import { Loop, task } from "./loop.ts";

const spec = {
  minAvailable: 3,
  maxRetry: 3,
  policies: [{ events: ["PodEvicted", "PodFailed"], action: "RestartJob" }],
  tasks: [task("a", 4, { minAvailable: 2 }), task("b", 2, { minAvailable: 1 })],
};

const planned = (loop: Loop): void => {
  const [group = ""] = loop.names("podgroups");
  const plan = JSON.stringify({ since: timeText(loop.now), places: { a: { m: 1, n: 1 }, b: { n: 1 } } });
  const annotations = { "rekindle.dev/scheduled-by": "default-scheduler", "rekindle.dev/plan": plan };
  loop.change("podgroups", group, { metadata: { annotations }, status: { phase: "Inqueue" } });
};

const takenBack = (loop: Loop): void => {
  const [group = ""] = loop.names("podgroups");
  const text = JSON.stringify({ at: timeText(loop.now), times: 1, nodes: ["n"] });
  const annotations = { "rekindle.dev/plan": null, "rekindle.dev/scheduled-by": null, "rekindle.dev/taken-back": text };
  loop.change("podgroups", group, { metadata: { annotations }, status: { phase: "Pending" } });
};

const begun = (): Loop => {
  const loop = new Loop(spec).run();
  planned(loop);
  return loop.run();
};

const nodeOf = (loop: Loop, name: string): string | undefined => pinOf(Object(loop.pod(name)["spec"]));

const bind = (loop: Loop, name: string, nodeName: string): void =>
  loop.change("pods", name, { spec: { nodeName }, status: { phase: "Running" } });

test("the pods of the plan are created on their places, and no others", () => {
  const loop = begun();
  assert.deepEqual(loop.names("pods"), ["j-a-0", "j-a-1", "j-b-0"]);
  assert.deepEqual(
    loop.names("pods").map((name) => nodeOf(loop, name)),
    ["m", "n", "n"],
  );
});

test("a pod that is lost before all pods of the plan have nodes is created again on its place", () => {
  const loop = new Loop({ ...spec, policies: [] }).run();
  planned(loop);
  loop.run();
  loop.remove("pods", "j-a-1");
  loop.run();
  assert.equal(nodeOf(loop, "j-a-1"), "n");
});

test("the plan ends when all its pods have nodes, and then the other pods are created without a pin", () => {
  const loop = begun();
  const [group = ""] = loop.names("podgroups");
  bind(loop, "j-a-0", "m");
  bind(loop, "j-a-1", "n");
  loop.run();
  assert.notEqual(loop.objects.get(`podgroups/${group}`)?.metadata.annotations?.["rekindle.dev/plan"], undefined);
  assert.equal(loop.names("pods").length, 3);
  bind(loop, "j-b-0", "n");
  loop.run();
  const there = loop.objects.get(`podgroups/${group}`);
  assert.equal(there?.metadata.annotations?.["rekindle.dev/plan"], undefined);
  assert.equal(Object(there?.["status"])["phase"], "Running");
  assert.equal(loop.names("pods").length, 6);
  assert.equal(nodeOf(loop, "j-a-3"), undefined);
});

test("the pods of a group that is taken back are deleted, without an event, a retry or a new version", () => {
  const loop = begun();
  bind(loop, "j-a-0", "m");
  loop.run();
  takenBack(loop);
  loop.turn(1_000).run();
  assert.deepEqual(loop.names("pods"), []);
  assert.equal(loop.memory?.retryCount, 0);
  assert.equal(loop.memory?.version, 0);
  assert.deepEqual(loop.phases, ["Pending"]);
  loop.turn(40_000);
  planned(loop);
  loop.run();
  assert.deepEqual(loop.names("pods"), ["j-a-0", "j-a-1", "j-b-0"]);
});

test("a pod that finished before the group was taken back stays, and its work counts", () => {
  const loop = begun();
  bind(loop, "j-a-0", "m");
  loop.exits("j-a-0");
  loop.run();
  takenBack(loop);
  loop.turn(1_000).run();
  assert.deepEqual(loop.names("pods"), ["j-a-0"]);
});

test("an outdated read of the group ends no pod of the next plan", () => {
  const loop = begun();
  takenBack(loop);
  loop.run();
  loop.turn(40_000);
  planned(loop);
  loop.run();
  const [group = ""] = loop.names("podgroups");
  const text = JSON.stringify({ at: timeText(loop.now - 40_000), times: 1, nodes: [] });
  loop.change("podgroups", group, {
    metadata: { annotations: { "rekindle.dev/plan": null, "rekindle.dev/taken-back": text } },
    status: { phase: "Pending" },
  });
  loop.run();
  assert.equal(loop.names("pods").length, 3);
});

const affinityOf = (loop: Loop, name: string) => Object(loop.pod(name)["spec"])["affinity"]?.nodeAffinity ?? {};

const among = (...values: readonly string[]) => ({ key: "kubernetes.io/hostname", operator: "In", values });

const near = {
  minAvailable: 4,
  maxRetry: 3,
  tasks: [task("a", 6, { minAvailable: 4, partitionPolicy: { totalPartitions: 3, partitionSize: 2 } })],
};

/** A group with two partitions of two pods in its plan; the third comes later. */
const kept = (): Loop => {
  const loop = new Loop(near).run();
  const [group = ""] = loop.names("podgroups");
  const places = { "a/0": { z: 2 }, "a/1": { b: 1, c: 1 } };
  const topology = {
    lists: [["b", "c", "z"], ["b", "c"], ["z"]],
    within: { "": 0, "a/1": 1, "a/2": 1 },
    near: { "a/0": 2 },
  };
  const annotations = {
    "rekindle.dev/scheduled-by": "default-scheduler",
    "rekindle.dev/plan": JSON.stringify({ since: timeText(loop.now), places }),
    "rekindle.dev/topology": JSON.stringify(topology),
  };
  loop.change("podgroups", group, { metadata: { annotations }, status: { phase: "Inqueue" } });
  return loop.run();
};

const started = (): Loop => {
  const loop = kept();
  for (const name of loop.names("pods")) bind(loop, name, nodeOf(loop, name) ?? "");
  return loop.run().run();
};

test("the pods of each partition are created on the places of their partition", () => {
  const loop = kept();
  assert.deepEqual(
    loop.names("pods").map((name) => nodeOf(loop, name)),
    ["z", "z", "b", "c"],
  );
});

test("the pods that come after the plan keep to the nodes of their group and of their partition", () => {
  const loop = started();
  assert.deepEqual(affinityOf(loop, "j-a-4"), {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [among("b", "c", "z"), among("b", "c")] }],
    },
  });
});

test("a pod that is lost after its group was whole keeps to the nodes of its group, near to its partition", () => {
  const loop = started();
  loop.remove("pods", "j-a-0");
  loop.run();
  assert.deepEqual(affinityOf(loop, "j-a-0"), {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [among("b", "c", "z")] }],
    },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: { matchExpressions: [among("z")] } }],
  });
});

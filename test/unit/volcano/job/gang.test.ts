/** A job whose group has a plan: pods on their places, then those beyond the minimum; and a group that is taken back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { timeText } from "../../../../shared/core/time.ts";
import { pinOf } from "../../../../shared/kube/nodes.ts";
import { type JobFixture, openJob, task } from "./fixtures.ts";

const spec = {
  minAvailable: 3,
  maxRetry: 3,
  policies: [{ events: ["PodEvicted", "PodFailed"], action: "RestartJob" }],
  tasks: [task("a", 4, { minAvailable: 2 }), task("b", 2, { minAvailable: 1 })],
};

const planned = (fixture: JobFixture): void => {
  const [group = ""] = fixture.names("podgroups");
  const plan = JSON.stringify({ since: timeText(fixture.now), places: { a: { m: 1, n: 1 }, b: { n: 1 } } });
  const annotations = { "rekindle.dev/scheduled-by": "default-scheduler", "rekindle.dev/plan": plan };
  fixture.change("podgroups", group, { metadata: { annotations }, status: { phase: "Inqueue" } });
};

const takenBack = (fixture: JobFixture): void => {
  const [group = ""] = fixture.names("podgroups");
  const text = JSON.stringify({ at: timeText(fixture.now), times: 1, nodes: ["n"] });
  const annotations = { "rekindle.dev/plan": null, "rekindle.dev/scheduled-by": null, "rekindle.dev/taken-back": text };
  fixture.change("podgroups", group, { metadata: { annotations }, status: { phase: "Pending" } });
};

const begun = (): JobFixture => {
  const fixture = openJob(spec).run();
  planned(fixture);
  return fixture.run();
};

const nodeOf = (fixture: JobFixture, name: string): string | undefined => pinOf(Object(fixture.pod(name)["spec"]));

const bind = (fixture: JobFixture, name: string, nodeName: string): void =>
  fixture.change("pods", name, { spec: { nodeName }, status: { phase: "Running" } });

test("the pods of the plan are created on their places, and no others", () => {
  const fixture = begun();
  assert.deepEqual(fixture.names("pods"), ["j-a-0", "j-a-1", "j-b-0"]);
  assert.deepEqual(
    fixture.names("pods").map((name) => nodeOf(fixture, name)),
    ["m", "n", "n"],
  );
});

test("a pod that is lost before all pods of the plan have nodes is created again on its place", () => {
  const fixture = openJob({ ...spec, policies: [] }).run();
  planned(fixture);
  fixture.run();
  fixture.remove("pods", "j-a-1");
  fixture.run();
  assert.equal(nodeOf(fixture, "j-a-1"), "n");
});

test("the plan ends when all its pods have nodes, and then the other pods are created without a pin", () => {
  const fixture = begun();
  const [group = ""] = fixture.names("podgroups");
  bind(fixture, "j-a-0", "m");
  bind(fixture, "j-a-1", "n");
  fixture.run();
  assert.notEqual(fixture.objects.get(`podgroups/${group}`)?.metadata.annotations?.["rekindle.dev/plan"], undefined);
  assert.equal(fixture.names("pods").length, 3);
  bind(fixture, "j-b-0", "n");
  fixture.run();
  const there = fixture.objects.get(`podgroups/${group}`);
  assert.equal(there?.metadata.annotations?.["rekindle.dev/plan"], undefined);
  assert.equal(Object(there?.["status"])["phase"], "Running");
  assert.equal(fixture.names("pods").length, 6);
  assert.equal(nodeOf(fixture, "j-a-3"), undefined);
});

test("the pods of a group that is taken back are deleted, without an event, a retry or a new version", () => {
  const fixture = begun();
  bind(fixture, "j-a-0", "m");
  fixture.run();
  takenBack(fixture);
  fixture.turn(1_000).run();
  assert.deepEqual(fixture.names("pods"), []);
  assert.equal(fixture.memory?.retryCount, 0);
  assert.equal(fixture.memory?.version, 0);
  assert.deepEqual(fixture.phases, ["Pending"]);
  fixture.turn(40_000);
  planned(fixture);
  fixture.run();
  assert.deepEqual(fixture.names("pods"), ["j-a-0", "j-a-1", "j-b-0"]);
});

test("a pod that finished before the group was taken back stays, and its work counts", () => {
  const fixture = begun();
  bind(fixture, "j-a-0", "m");
  fixture.exits("j-a-0");
  fixture.run();
  takenBack(fixture);
  fixture.turn(1_000).run();
  assert.deepEqual(fixture.names("pods"), ["j-a-0"]);
});

test("an outdated read of the group ends no pod of the next plan", () => {
  const fixture = begun();
  takenBack(fixture);
  fixture.run();
  fixture.turn(40_000);
  planned(fixture);
  fixture.run();
  const [group = ""] = fixture.names("podgroups");
  const text = JSON.stringify({ at: timeText(fixture.now - 40_000), times: 1, nodes: [] });
  fixture.change("podgroups", group, {
    metadata: { annotations: { "rekindle.dev/plan": null, "rekindle.dev/taken-back": text } },
    status: { phase: "Pending" },
  });
  fixture.run();
  assert.equal(fixture.names("pods").length, 3);
});

const affinityOf = (fixture: JobFixture, name: string) =>
  Object(fixture.pod(name)["spec"])["affinity"]?.nodeAffinity ?? {};

const among = (...values: readonly string[]) => ({ key: "kubernetes.io/hostname", operator: "In", values });

const near = {
  minAvailable: 4,
  maxRetry: 3,
  tasks: [task("a", 6, { minAvailable: 4, partitionPolicy: { totalPartitions: 3, partitionSize: 2 } })],
};

/** A group with two partitions of two pods in its plan; the third comes later. */
const kept = (): JobFixture => {
  const fixture = openJob(near).run();
  const [group = ""] = fixture.names("podgroups");
  const places = { "a/0": { z: 2 }, "a/1": { b: 1, c: 1 } };
  const topology = {
    lists: [["b", "c", "z"], ["b", "c"], ["z"]],
    within: { "": 0, "a/1": 1, "a/2": 1 },
    near: { "a/0": 2 },
  };
  const annotations = {
    "rekindle.dev/scheduled-by": "default-scheduler",
    "rekindle.dev/plan": JSON.stringify({ since: timeText(fixture.now), places }),
    "rekindle.dev/topology": JSON.stringify(topology),
  };
  fixture.change("podgroups", group, { metadata: { annotations }, status: { phase: "Inqueue" } });
  return fixture.run();
};

const started = (): JobFixture => {
  const fixture = kept();
  for (const name of fixture.names("pods")) bind(fixture, name, nodeOf(fixture, name) ?? "");
  return fixture.run().run();
};

test("the pods of each partition are created on the places of their partition", () => {
  const fixture = kept();
  assert.deepEqual(
    fixture.names("pods").map((name) => nodeOf(fixture, name)),
    ["z", "z", "b", "c"],
  );
});

test("the pods that come after the plan keep to the nodes of their group and of their partition", () => {
  const fixture = started();
  assert.deepEqual(affinityOf(fixture, "j-a-4"), {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [among("b", "c", "z"), among("b", "c")] }],
    },
  });
});

test("a pod that is lost after its group was whole keeps to the nodes of its group, near to its partition", () => {
  const fixture = started();
  fixture.remove("pods", "j-a-0");
  fixture.run();
  assert.deepEqual(affinityOf(fixture, "j-a-0"), {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [among("b", "c", "z")] }],
    },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: { matchExpressions: [among("z")] } }],
  });
});

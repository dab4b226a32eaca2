/** Which component the status names as the one that a waiting object waits for: Kueue, Volcano's scheduler, or Rekindle. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { waitingIn, waitingText } from "../../../shared/inspection/waiting-groups.ts";
import { application, make, openTerminal } from "../cli/terminal.ts";

const groupOf = (managers: readonly string[], message?: string): Stored => {
  const managedFields = managers.map((manager) => ({ manager, subresource: "status" }));
  const metadata = { name: "g", namespace: "ns", uid: "u", resourceVersion: "1", managedFields };
  const conditions = message === undefined ? [] : [{ type: "Unschedulable", status: "True", message }];
  return {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", metadata, spec: { queue: "q" } },
    status: { phase: "Pending", conditions },
  };
};

const rows = [
  { managers: ["vc-scheduler", "rekindle"], message: "no room", by: " by Volcano's scheduler" },
  { managers: ["rekindle-reconcile"], message: "no room", by: " by Rekindle" },
  { managers: ["rekindle"], message: undefined, by: "" },
  { managers: [], message: "no room", by: "" },
];

describe("the text of a waiting group", () => {
  for (const { managers, message, by } of rows)
    test(`of a status that ${managers.join(" and ") || "nobody known"} wrote names "${by}"`, () => {
      const [waiting] = waitingIn("q", [groupOf(managers, message)], new Map());
      assert.ok(waiting !== undefined);
      const why = message === undefined ? "" : `: ${message}`;
      assert.equal(waitingText(waiting), `its group to be admitted${by} (position 1 of 1 in queue q)${why}`);
    });
});

test("a suspended application of Kueue's waits for its Workload", async () => {
  const terminal = openTerminal();
  const made = application("app", { applicationState: { state: "SUSPENDED" } });
  await make(terminal.simulator, {
    ...made,
    metadata: { ...made.metadata, labels: { "kueue.x-k8s.io/queue-name": "team-a" } },
  });
  const { out } = await terminal.run("list");
  assert.match(out, /its Workload of Kueue to be admitted: LocalQueue team-a/);
});

test("a Volcano Job that Kueue has not admitted waits for its Workload, and for no group", async () => {
  const terminal = openTerminal();
  const state = {
    phase: "Pending",
    reason: "WaitingForKueue",
    message: "waits until Kueue admits Workload job-j-12345",
  };
  await make(terminal.simulator, {
    ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" },
    metadata: { name: "j", namespace: "default", labels: { "kueue.x-k8s.io/queue-name": "team-a" } },
    ...{
      spec: { minAvailable: 1, tasks: [{ name: "t", replicas: 1, template: { spec: { containers: [] } } }] },
      status: { state },
    },
  });
  const { out } = await terminal.run("status", "job/j");
  assert.match(out, /its Workload of Kueue to be admitted: LocalQueue team-a/);
  assert.doesNotMatch(out, /its group/);
});

describe("the advice for a waiting group follows the cause", () => {
  const causes = [
    { why: "would not fit the empty cluster: no node has 64 cpu", todo: /^do +ask for less, or add nodes/m },
    { why: "queue q is not found", todo: /^do +create the queue/m },
    { why: "queue q is Closed", todo: /^do +open the queue/m },
    { why: "queue q has 1 cpu in all, and 2 are needed", todo: /^do +ask for less, or raise/m },
    { why: "queue q has too little cpu left", todo: /^do +nothing: it continues by itself/m },
  ];
  for (const { why, todo } of causes)
    test(why, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, {
        ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name: "j", namespace: "default" } },
        spec: { minAvailable: 1, tasks: [{ name: "t", replicas: 1, template: { spec: { containers: [] } } }] },
        status: { state: { phase: "Pending" } },
      });
      const { transport } = terminal.simulator;
      const jobs = { group: "batch.volcano.sh", version: "v1alpha1", plural: "jobs", kind: "Job" };
      const { value: job } = await openCluster(transport).get({ resource: jobs, namespace: "default", name: "j" });
      const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "j", uid: job?.metadata.uid ?? "" };
      const metadata = { name: "g", namespace: "default", ownerReferences: [owner] };
      const path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
      await request(transport, "POST", path, { ...groupOf([], why), metadata });
      const { out } = await terminal.run("status", "job/j");
      assert.match(out, todo);
    });
});

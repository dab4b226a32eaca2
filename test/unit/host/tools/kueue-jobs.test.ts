/** Volcano Jobs in a queue of Kueue: the host creates a Workload for each, and obeys it. A stand-in writes as Kueue's controller does. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { crds } from "../../../support/crds.ts";
import { flavorOf, kueueCrds, reserved } from "../../../support/kueue.ts";
import { command, home } from "../objects.ts";
import { itOnStand } from "../stand.ts";
import { within } from "./client.ts";
import {
  admit,
  conditionOf,
  eventsOf,
  evict,
  labelled,
  messageOf,
  opened,
  options,
  phaseOf,
  podsIn,
  queue,
  queued,
  reclaimedIn,
  reclaiming,
  running,
  twoTasks,
  unfinishedIn,
  workloadIn,
  write,
} from "./queued-job.ts";

const it = itOnStand(options);

describe("a Volcano Job with Kueue's queue label", () => {
  it("has no group and no pod before its Workload is admitted, runs on the flavor's nodes, and finishes the Workload", async (stand) => {
    await opened(stand);
    await queued(stand, labelled("job", { runMs: 20_000 }));
    await stand.turn(60_000);
    assert.equal(podsIn(stand).length + stand.all("PodGroup").length, 0);
    assert.equal(phaseOf(stand), "Pending");
    assert.match(messageOf(stand), /waits until Kueue admits Workload job-job-\w{5} in LocalQueue team-a/);
    const workload = workloadIn(stand);
    assert.match(workload?.metadata.name ?? "", /^job-job-[0-9a-f]{5}$/);
    assert.equal(within(workload, "spec", "queueName"), "team-a");
    assert.deepEqual(within(workload, "metadata", "ownerReferences"), [
      {
        ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "job" },
        ...{ uid: stand.get("Job", "job")?.metadata.uid, controller: true, blockOwnerDeletion: true },
      },
    ]);
    await write(stand, (one, now) => reserved(one, "spot", now, false));
    await stand.turn(30_000);
    assert.equal(podsIn(stand).length, 0, "quota is reserved, but an admission check is open");
    await admit(stand);
    await stand.until("it runs", () => phaseOf(stand) === "Running");
    for (const pod of podsIn(stand)) {
      assert.deepEqual(within(pod, "spec", "nodeSelector"), { "cloud.example/flavour": "spot" });
      assert.match(JSON.stringify(within(pod, "spec", "tolerations")), /"key":"spot"/);
      assert.equal(pod.metadata.labels?.["kueue.x-k8s.io/queue-name"], undefined);
      assert.equal(pod.metadata.annotations?.["kueue.x-k8s.io/workload"], workload?.metadata.name);
    }
    await stand.until("its pods are ready", () => conditionOf(stand, "PodsReady")["status"] === "True");
    await stand.until("it is complete", () => phaseOf(stand) === "Completed");
    await stand.turn(5_000);
    const { status, reason } = conditionOf(stand, "Finished");
    assert.deepEqual([status, reason], ["True", "Succeeded"]);
  });

  it("ends its pods when Kueue evicts it, gives the quota back after they have ended, and runs again when it is admitted", async (stand) => {
    await opened(stand);
    await running(stand, labelled("job", { runMs: 60_000 }, { maxRetry: 1 }));
    const uids = podsIn(stand).map(({ metadata }) => metadata.uid);
    let releasedWithPods = false;
    stand.simulator.subscribe(({ object }) => {
      if (object.kind === "Workload" && within(object, "status", "admission") === undefined)
        releasedWithPods ||= unfinishedIn(stand).length > 0;
    });
    await evict(stand);
    await stand.until("its quota is released", () => conditionOf(stand, "QuotaReserved")["status"] === "False");
    assert.equal(releasedWithPods, false);
    assert.equal(within(workloadIn(stand), "status", "admission"), undefined);
    assert.equal(conditionOf(stand, "Admitted")["status"], "False");
    assert.equal(conditionOf(stand, "Requeued")["status"], "True");
    assert.equal(conditionOf(stand, "PodsReady")["status"], "False");
    await stand.turn(60_000);
    assert.equal(podsIn(stand).length, 0);
    assert.equal(phaseOf(stand), "Restarting");
    assert.match(messageOf(stand), /Kueue evicted it \(Preempted: .*\); waits until Kueue admits/);
    await admit(stand);
    await stand.until("it runs again", () => phaseOf(stand) === "Running");
    assert.ok(podsIn(stand).every(({ metadata }) => !uids.includes(metadata.uid)));
    assert.equal(within(stand.get("Job", "job"), "status", "retryCount"), undefined);
    await stand.until("it is complete", () => phaseOf(stand) === "Completed");
  });

  it("whose Workload is deleted ends its pods, and gets another Workload", async (stand) => {
    await opened(stand);
    await running(stand, labelled("job", { runMs: 600_000 }));
    const before = workloadIn(stand)?.metadata.uid;
    await stand.remove("Workload", workloadIn(stand)?.metadata.name ?? "");
    await stand.until("there is another", () => ![undefined, before].includes(workloadIn(stand)?.metadata.uid));
    assert.equal(unfinishedIn(stand).length, 0);
    await admit(stand);
    await stand.until("it runs again", () => phaseOf(stand) === "Running");
  });

  it("that is deactivated waits and says so, and has a Workload of other numbers after its replicas change", async (stand) => {
    await opened(stand);
    const job = labelled("job", { runMs: 600_000 });
    await queued(stand, job);
    const name = workloadIn(stand)?.metadata.name ?? "";
    await stand.patch("Workload", name, { spec: { active: false } });
    await stand.until("it says so", () => /spec.active is false/.test(messageOf(stand)));
    await stand.patch("Workload", name, { spec: { active: true } });
    await admit(stand);
    await stand.until("it runs", () => phaseOf(stand) === "Running");
    const [task] = Object(job["spec"])["tasks"];
    await stand.patch("Job", "job", { spec: { tasks: [{ ...task, replicas: 3 }], minAvailable: 3 } });
    const count = () => Object(within(workloadIn(stand), "spec", "podSets"))?.[0]?.count;
    await stand.until("its Workload asks for 3 pods", () => count() === 3);
    assert.equal(unfinishedIn(stand).length, 0);
    await admit(stand);
    await stand.until("it runs with 3", () => phaseOf(stand) === "Running" && podsIn(stand).length === 3);
  });

  it("that is aborted has no Workload, gets one when it is resumed, and its Workload is failed when it is terminated", async (stand) => {
    await opened(stand);
    await running(stand, labelled("job", { runMs: 600_000 }));
    const job = (): Stored => stand.get("Job", "job") ?? assert.fail("the job is gone");
    await stand.create(command("abort", "AbortJob", job()));
    await stand.until("it has no Workload", () => workloadIn(stand) === undefined && podsIn(stand).length === 0);
    assert.equal(phaseOf(stand), "Aborted");
    await stand.create(command("resume", "ResumeJob", job()));
    await stand.until("its Workload exists", () => workloadIn(stand) !== undefined);
    await admit(stand);
    await stand.until("it runs", () => phaseOf(stand) === "Running");
    await stand.create(command("terminate", "TerminateJob", job()));
    await stand.until("it is terminated", () => phaseOf(stand) === "Terminated");
    await stand.turn(5_000);
    assert.equal(conditionOf(stand, "Finished")["reason"], "Failed");
    await stand.remove("Job", "job");
    await stand.until("the Workload went with it", () => workloadIn(stand) === undefined);
  });

  it("gives the quota of succeeded pods back while others run, and is queued anew when a Command restarts it after that", async (stand) => {
    await reclaiming(stand);
    await stand.turn(10_000);
    assert.deepEqual(reclaimedIn(stand), [{ name: "short", count: 2 }]);
    assert.equal(phaseOf(stand), "Running");
    const before = workloadIn(stand)?.metadata.uid;
    const job = stand.get("Job", "job") ?? assert.fail("the job is gone");
    await stand.create(command("again", "RestartJob", job));
    await stand.until("there is another", () => ![undefined, before].includes(workloadIn(stand)?.metadata.uid));
    assert.equal(unfinishedIn(stand).length, 0);
    assert.match(messageOf(stand), /waits until Kueue admits/);
    await admit(stand);
    await stand.until("it is complete", () => phaseOf(stand) === "Completed");
  });

  it("begins without given back quota after an eviction, and gives none back where a policy creates finished pods again", async (stand) => {
    await reclaiming(stand);
    await evict(stand);
    await stand.until("its quota is released", () => conditionOf(stand, "QuotaReserved")["status"] === "False");
    assert.deepEqual(reclaimedIn(stand), []);
    await stand.remove("Job", "job");
    await stand.until("the Workload went with it", () => workloadIn(stand) === undefined);
    await stand.create(twoTasks({ policies: [{ event: "PodFailed", action: "RestartJob" }] }));
    await stand.until("its Workload exists", () => workloadIn(stand) !== undefined);
    await admit(stand);
    await stand.until("one task has ended", () => podsIn(stand).length - unfinishedIn(stand).length === 2);
    await stand.turn(20_000);
    assert.deepEqual([phaseOf(stand), reclaimedIn(stand)], ["Running", []]);
  });

  it("takes what admission checks ask for, its priority, and the gate of a topology to the pods", async (stand) => {
    await stand.create(flavorOf("spot"));
    const metadata = { name: "urgent" };
    await stand.create({ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "WorkloadPriorityClass", metadata, value: 70 });
    await stand.create(home);
    await stand.host();
    const labels = {
      ...queue,
      "kueue.x-k8s.io/priority-class": "urgent",
      "kueue.x-k8s.io/max-exec-time-seconds": "90",
    };
    await queued(stand, labelled("job", { runMs: 600_000 }, {}, { labels }));
    const { priority, priorityClassRef, maximumExecutionTimeSeconds } = Object(workloadIn(stand)?.["spec"]);
    assert.deepEqual([priority, maximumExecutionTimeSeconds], [70, 90]);
    assert.deepEqual(priorityClassRef, { group: "kueue.x-k8s.io", kind: "WorkloadPriorityClass", name: "urgent" });
    await write(stand, (one, now) => {
      const status = Object(reserved(one, "spot", now, true));
      const [assignment] = status.admission.podSetAssignments;
      const updates = [{ name: assignment.name, labels: { "check/a": "b" }, nodeSelector: { "check/pool": "new" } }];
      return {
        ...status,
        admission: {
          ...status.admission,
          podSetAssignments: [{ ...assignment, topologyAssignment: { levels: ["rack"], slices: [] } }],
        },
        admissionChecks: [{ name: "capacity", state: "Ready", message: "", podSetUpdates: updates }],
      };
    });
    await stand.until("its pods exist", () => podsIn(stand).length === 2);
    const [pod] = podsIn(stand);
    assert.deepEqual(within(pod, "spec", "nodeSelector"), { "cloud.example/flavour": "spot", "check/pool": "new" });
    assert.deepEqual(within(pod, "spec", "schedulingGates"), [{ name: "kueue.x-k8s.io/topology" }]);
    assert.equal(pod?.metadata.labels?.["check/a"], "b");
    assert.equal(pod?.metadata.annotations?.["kueue.x-k8s.io/podset-unconstrained-topology"], "true");
  });

  itOnStand({ ...options, crds })(
    "has no pods and says why where Kueue is not there, where it has too many tasks, and where a flavor is missing",
    async (stand) => {
      await stand.create(home);
      await stand.host();
      const job = labelled("job", { runMs: 1_000 });
      const [task] = Object(job["spec"])["tasks"];
      const tasks = Array.from({ length: 9 }, (_, at) => ({ ...task, name: `t${at}`, replicas: 1 }));
      await stand.create({ ...job, spec: { ...Object(job["spec"]), tasks, minAvailable: 9 } });
      await stand.until("it says so", () => /workloads .* does not serve this resource/.test(messageOf(stand)));
      assert.match(eventsOf(stand, "KueueError").join(), /needs a Workload of .* \(Kueue 0.15 or later\)/);
      assert.equal(podsIn(stand).length + stand.all("PodGroup").length, 0);
      for (const crd of kueueCrds) await stand.create(crd);
      await stand.until("it says so", () => /podSets.*8 items/.test(messageOf(stand)), 600_000);
      await stand.patch("Job", "job", { spec: { tasks: [task], minAvailable: 2 } });
      await stand.until("its Workload exists", () => workloadIn(stand) !== undefined, 600_000);
      await admit(stand);
      await stand.until("it says so", () => /ResourceFlavor spot is not found/.test(messageOf(stand)));
      assert.equal(podsIn(stand).length, 0);
      await stand.create(flavorOf("spot"));
      await stand.until("it is complete", () => phaseOf(stand) === "Completed", 600_000);
    },
  );

  it("keeps its pods while the API server does not serve Workloads for a moment", async (stand) => {
    await opened(stand);
    await running(stand, labelled("job", { runMs: 60_000 }));
    const uids = podsIn(stand).map(({ metadata }) => metadata.uid);
    stand.fault(({ path }) =>
      path.includes("/workloads") ? { status: 404, headers: {}, body: "404 page not found" } : undefined,
    );
    await stand.patch("Job", "job", { metadata: { annotations: { touched: "yes" } } });
    await stand.turn(30_000);
    assert.deepEqual(
      podsIn(stand).map(({ metadata }) => metadata.uid),
      uids,
    );
    stand.fault(undefined);
    await stand.until("it is complete", () => phaseOf(stand) === "Completed");
  });
});

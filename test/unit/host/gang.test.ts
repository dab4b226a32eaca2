/**
 * PodGroups under a host: it admits them where Volcano's scheduler is absent, and leaves them to that scheduler where
 * it is present.
 */

import assert from "node:assert/strict";
import { describe } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import { timeText } from "../../../shared/core/time.ts";
import { administrators, grantedEverywhere } from "../../support/beside.ts";
import { at, command, home, twoCores, volcanoJob } from "./objects.ts";
import { itOnStand, phaseOf, type Stand, said } from "./stand.ts";

const stateOf = (stand: Stand, name: string): unknown => at(stand.get("Queue", name, ""), "status", "state");

const queue = (name: string, spec: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name },
  spec,
});

/** Returns the lease that Volcano's scheduler holds. */
const lease = (stand: Stand, namespace = administrators): Obj => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "volcano", namespace },
  spec: {
    holderIdentity: "volcano-scheduler-0",
    leaseDurationSeconds: 3_600,
    renewTime: timeText(stand.simulator.clock.now()),
  },
});

const it = itOnStand();

describe("a host whose own namespace is missing", () => {
  it("reports the namespace to create, tries again more and more rarely, and continues when it exists", async (stand) => {
    await stand.create(queue("root", { weight: 1 }));
    await stand.host();
    await stand.create(volcanoJob("pair", { runMs: 5_000 }));
    const told = (): readonly Stored[] =>
      stand.all("Event").filter((one) => String(one["message"]).includes("kubectl create namespace rekindle"));
    await stand.until("it is told", () => told().length > 0, 120_000);
    await stand.turn(600_000);
    const before = stand.writes().length;
    await stand.turn(600_000);
    assert.ok(stand.writes().length - before < 30, `${stand.writes().length - before} writes in ten minutes`);
    assert.ok(told().length <= 3);
    await stand.create(home);
    await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 600_000);
  });
});

describe("a Volcano job without Volcano's scheduler", () => {
  it("is admitted, placed by the default scheduler, and completed, with no other object than its own", async (stand) => {
    await stand.create(home);
    await stand.host();
    await stand.create(volcanoJob("pair", { runMs: 5_000 }));
    await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 60_000);
    const [group] = stand.all("PodGroup");
    await stand.until("its group runs", () => at(stand.all("PodGroup")[0], "status", "phase") === "Running", 5_000);
    assert.equal(at(group, "metadata", "annotations", "rekindle.dev/scheduled-by"), "default-scheduler");
    assert.deepEqual(
      stand.all("Pod").map((pod) => at(pod, "spec", "schedulerName")),
      ["default-scheduler", "default-scheduler"],
    );
    await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 60_000);
    assert.deepEqual([stateOf(stand, "default"), stateOf(stand, "root")], ["Open", "Open"]);
    assert.match(
      said(stand, "GangAdmission").join(),
      /no lease of Volcano's scheduler .* Rekindle admits groups of pods/,
    );
    await stand.turn(30_000);
    const written = stand.writes().length;
    await stand.pass(0.5);
    assert.equal(stand.writes().length, written);
    assert.deepEqual(
      stand.lines.filter(({ level }) => level === "error" || level === "warn"),
      [],
    );
  });

  it("waits until its queue has room, reports that, and then is admitted", async (stand) => {
    await stand.create(home);
    await stand.host();
    await stand.create(queue("small", { capability: { cpu: "3" } }));
    await stand.create(twoCores("first", 10_000, { queue: "small" }));
    await stand.until("the first runs", () => phaseOf(stand, "first") === "Running", 60_000);
    await stand.create(twoCores("second", 1_000, { queue: "small" }));
    await stand.turn(3_000);
    const [waiting] = stand.all("PodGroup").filter(({ metadata }) => metadata.name.startsWith("second"));
    assert.equal(at(waiting, "status", "phase"), "Pending");
    assert.match(JSON.stringify(at(waiting, "status", "conditions")), /queue small has too little cpu left/);
    await stand.until("the second is complete", () => phaseOf(stand, "second") === "Completed", 120_000);
    assert.equal(phaseOf(stand, "first"), "Completed");
  });

  it("waits while its queue is closed, and the queue closes when it is empty", async (stand) => {
    await stand.create(home);
    await stand.host();
    await stand.create(queue("daily", {}));
    await stand.create(twoCores("first", 10_000, { queue: "daily" }));
    await stand.until("it runs", () => phaseOf(stand, "first") === "Running", 60_000);
    const daily = stand.get("Queue", "daily", "");
    assert.ok(daily !== undefined);
    assert.equal(at(daily, "spec", "parent"), "root");
    await stand.create(command("close", "CloseQueue", daily));
    await stand.until("it is closing", () => stateOf(stand, "daily") === "Closing", 10_000);
    await stand.until("it is closed", () => stateOf(stand, "daily") === "Closed", 60_000);
    await stand.create(twoCores("second", 1_000, { queue: "daily" }));
    await stand.turn(20_000);
    assert.equal(phaseOf(stand, "second"), "Pending");
    await stand.create(command("open", "OpenQueue", daily));
    await stand.until("it is complete", () => phaseOf(stand, "second") === "Completed", 60_000);
    assert.deepEqual(stand.all("Command"), []);
  });
});

describe("a Volcano job beside Volcano's scheduler", () => {
  it("is left to the scheduler until that has gone", async (stand) => {
    await stand.create(home);
    await stand.create(lease(stand));
    await stand.host();
    await stand.create(volcanoJob("pair", { runMs: 5_000 }));
    await stand.turn(60_000);
    assert.equal(at(stand.all("PodGroup")[0], "status", "phase"), undefined);
    assert.deepEqual(stand.all("Pod"), []);
    assert.match(said(stand, "GangAdmission").join(), /renews its lease kube-system\/volcano: groups of pods are left/);
    await stand.remove("Lease", "volcano", administrators);
    await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 120_000);
  });

  const scheduler = (labels: Readonly<Record<string, string>>, image: string, namespace = administrators): Obj => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "scheduler-0", namespace, labels },
    spec: { serviceAccountName: "controllers", containers: [{ name: "s", image }] },
  });
  const installed = async (stand: Stand, pod: Obj): Promise<void> => {
    const { namespace } = pod.metadata;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "controllers", namespace } };
    await request(stand.simulator.transport, "POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
    await stand.create(pod);
  };
  const chart = { app: "volcano-scheduler" };
  const image = "docker.io/volcanosh/vc-scheduler:v1.12.1";
  const kinds = [
    ["its chart's labels", administrators, scheduler(chart, "mirror/scheduler:1"), []],
    ["its image", administrators, scheduler({}, image), []],
    [
      "its image, in any namespace, and an account that may bind pods in all",
      "default",
      scheduler({}, image, "default"),
      grantedEverywhere("", "pods/binding", "default", "create"),
    ],
  ] as const;
  for (const [by, namespace, pod, rights] of kinds)
    it(`is left to a scheduler without a lease, known by a Ready pod with ${by}, and is taken over when that has gone`, async (stand) => {
      await stand.create(home);
      for (const one of rights) {
        const path = `/apis/rbac.authorization.k8s.io/v1/${one.kind.toLowerCase()}s`;
        await request(stand.simulator.transport, "POST", path, one);
      }
      await installed(stand, pod);
      await stand.turn(10_000);
      await stand.host();
      await stand.create(volcanoJob("pair", { runMs: 5_000 }));
      await stand.turn(60_000);
      assert.equal(at(stand.all("PodGroup")[0], "status", "phase"), undefined);
      assert.equal(stand.all("Pod").length, 1);
      const events = stand.all("Event").filter((event) => event["reason"] === "GangAdmission");
      assert.deepEqual(events.map((event) => event["type"]).sort(), ["Normal", "Warning"]);
      assert.match(said(stand, "GangAdmission").join("\n"), /pod (default|kube-system)\/scheduler-0 .* left to it/);
      assert.match(said(stand, "GangAdmission").join("\n"), /has written nothing of PodGroup default\/pair/);
      await stand.remove("Pod", "scheduler-0", namespace);
      await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 180_000);
    });

  const forged: Readonly<Record<string, (stand: Stand) => Promise<unknown>>> = {
    "its lease": (stand) => stand.create(lease(stand, "default")),
    "a pod with its labels": (stand) => installed(stand, scheduler(chart, "busybox", "default")),
    "a pod of its image": (stand) => installed(stand, scheduler({}, image, "default")),
    "a pod of its image with its labels": (stand) => installed(stand, scheduler(chart, image, "default")),
    "a PodGroup with its writes": async (stand) => {
      const group = { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" };
      const made = { ...group, metadata: { name: "forged", namespace: "default" }, spec: { minMember: 1 } };
      const headers = { "content-type": "application/json", "user-agent": "vc-scheduler/v1.12.1" };
      const path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
      await stand.simulator.transport.send({
        ...{ method: "POST", path, headers, body: JSON.stringify(made), timeoutMs: 1_000 },
      });
    },
  };
  for (const [what, forge] of Object.entries(forged))
    itOnStand({ managedFields: true })(`is not left to a tenant that forges ${what}`, async (stand) => {
      await stand.create(home);
      await forge(stand);
      await stand.turn(10_000);
      await stand.host();
      await stand.create(volcanoJob("pair", { runMs: 5_000 }));
      await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 60_000);
    });

  itOnStand({ managedFields: true })(
    "is left to a scheduler that runs as a process, known by its writes",
    async (stand) => {
      await stand.create(home);
      const { transport } = stand.simulator;
      const write = async (path: string, status: object): Promise<void> => {
        const headers = { "content-type": "application/merge-patch+json", "user-agent": "vc-scheduler/v1.12.1" };
        const answer = await transport.send({
          ...{ method: "PATCH", path: `/apis/scheduling.volcano.sh/v1beta1/${path}`, headers },
          ...{ body: JSON.stringify({ status }), timeoutMs: 1_000 },
        });
        assert.equal(answer.status, 200);
      };
      await stand.create(queue("default", { weight: 1 }));
      await write("queues/default/status", { allocated: { cpu: "0" } });
      await stand.host();
      await stand.create(volcanoJob("pair", { runMs: 5_000 }));
      await stand.turn(20_000);
      const [group] = stand.all("PodGroup");
      assert.equal(at(group, "status", "phase"), undefined);
      assert.match(said(stand, "GangAdmission").join(), /vc-scheduler wrote Queue default within 2 minutes/);
      await write(`namespaces/default/podgroups/${group?.metadata.name}`, { phase: "Pending" });
      await stand.host({ gang: "none" });
      await stand.turn(20_000);
      assert.equal(at(stand.all("PodGroup")[0], "status", "phase"), "Pending");
    },
  );

  itOnStand({ schedulers: ["volcano"] })(
    "shares the queues with pods without a group, which get a group and no record",
    async (stand) => {
      await stand.create(home);
      await stand.host({ gang: "none" });
      await stand.create({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "bare", namespace: "default" },
        spec: { schedulerName: "volcano", containers: [{ name: "main", image: "busybox" }] },
      });
      const grouped = (): unknown => stand.get("Pod", "bare")?.metadata.annotations?.["scheduling.k8s.io/group-name"];
      await stand.until("it is in a group", () => grouped() !== undefined, 10_000);
      const [group] = stand.all("PodGroup");
      assert.deepEqual([group?.metadata.name, at(group, "spec", "minMember")], [grouped(), 1]);
      await stand.create(queue("any", {}));
      await stand.until("it is let in", () => at(stand.all("PodGroup")[0], "status", "phase") === "Inqueue", 60_000);
      const records = stand.all("Checkpoint").map(({ metadata }) => metadata.name);
      assert.deepEqual(
        records.filter((name) => name.startsWith("pod.")),
        [],
      );
    },
  );

  it("is admitted nevertheless if the setting excludes a scheduler", async (stand) => {
    await stand.create(home);
    await stand.create(lease(stand));
    await stand.host({ gang: "none" });
    await stand.create(volcanoJob("pair", { runMs: 5_000 }));
    await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 60_000);
  });
});

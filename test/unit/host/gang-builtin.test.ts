/** Volcano jobs under a host with gang: builtin: their groups enter with plans, and are taken back if these fail. */

import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";

import { at, home, twoCores } from "./objects.ts";
import { itOnStand, phaseOf, said } from "./stand.ts";
import { answer, podsAway } from "./way.ts";

const it = itOnStand({
  nodes: [
    { name: "a", cpu: "2" },
    { name: "b", cpu: "4" },
  ],
});

describe("a Volcano job with gang: builtin", () => {
  const oneNode = { nodes: [{ name: "small", cpu: "3" }] };

  itOnStand(oneNode)(
    "waits as a whole while another has its place, reports the lacking resources by node, and then runs",
    async (stand) => {
      await stand.create(home);
      await stand.host({ gang: "builtin" });
      await stand.create(twoCores("first", 20_000));
      await stand.create(twoCores("second", 1_000));
      await stand.until("the first runs", () => phaseOf(stand, "first") === "Running", 60_000);
      await stand.turn(5_000);
      const [waiting] = stand.all("PodGroup").filter(({ metadata }) => metadata.name.startsWith("second"));
      assert.equal(at(waiting, "status", "phase"), "Pending");
      const why = /needs 2 × 1 cpu; 1 place on 1 of 1 node/;
      assert.match(JSON.stringify(at(waiting, "status", "conditions")), why);
      assert.match(said(stand, "PodGroupPending").join(), why);
      assert.deepEqual(
        stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith("second")),
        [],
      );
      await stand.until("the second is complete", () => phaseOf(stand, "second") === "Completed", 120_000);
      assert.equal(phaseOf(stand, "first"), "Completed");
    },
  );

  itOnStand(oneNode)("reports that it would not fit into the empty cluster", async (stand) => {
    await stand.create(home);
    await stand.host({ gang: "builtin" });
    const [task] = Object(twoCores("wide", 1_000)["spec"])["tasks"];
    await stand.create(twoCores("wide", 1_000, { minAvailable: 4, tasks: [{ ...task, replicas: 4 }] }));
    await stand.turn(10_000);
    assert.match(
      said(stand, "PodGroupPending").join(),
      /would not fit the empty cluster: needs 4 × 1 cpu; 3 places on 1 of 1 node/,
    );
    assert.deepEqual(stand.all("Pod"), []);
  });

  const planOf = (group: Stored | undefined): unknown => at(group, "metadata", "annotations", "rekindle.dev/plan");

  it("gets a plan at its admission, pins its pods to it, and starts the pods beyond its minimum afterwards", async (stand) => {
    await stand.create(home);
    await stand.host({ gang: "builtin" });
    const [task] = Object(twoCores("wide", 20_000)["spec"])["tasks"];
    await stand.create(
      twoCores("wide", 20_000, { minAvailable: 2, tasks: [{ ...task, minAvailable: 2, replicas: 3 }] }),
    );
    await stand.until("it has a plan", () => planOf(stand.all("PodGroup")[0]) !== undefined, 30_000);
    const [group] = stand.all("PodGroup");
    assert.deepEqual(JSON.parse(String(planOf(group))).places, { worker: { a: 2 } });
    assert.equal(at(group, "status", "phase"), "Inqueue");
    await stand.until("its pods exist", () => stand.all("Pod").length > 0, 30_000);
    for (const pod of stand.all("Pod"))
      assert.match(
        JSON.stringify(at(pod, "spec", "affinity")),
        /"matchFields":\[\{"key":"metadata.name","operator":"In","values":\["a"\]\}\]/,
      );
    await stand.until("all run", () => stand.all("Pod").length === 3, 60_000);
    assert.equal(planOf(stand.all("PodGroup")[0]), undefined);
    assert.equal(at(stand.get("Pod", "wide-worker-2"), "spec", "affinity"), undefined);
  });

  itOnStand({ nodes: [{ name: "a", cpu: "4" }] })(
    "costs six writes beside its pods until they have nodes, and reads no job after the first",
    async (stand) => {
      await stand.create(home);
      await stand.host({ gang: "builtin" });
      const placed = async (name: string): Promise<void> => {
        await stand.create(twoCores(name, 600_000));
        const groupOf = (): Stored | undefined =>
          stand.all("PodGroup").find(({ metadata }) => metadata.name.startsWith(name));
        await stand.until(`${name} has a plan`, () => planOf(groupOf()) !== undefined, 30_000);
        await stand.until(`the plan of ${name} has ended`, () => planOf(groupOf()) === undefined, 30_000);
      };
      await placed("first");
      await stand.turn(30_000);
      const [writes, asked] = [stand.writes().length, stand.asked.length];
      await placed("second");
      const others = /\/(pods|events)\b|queue\./;
      const own = stand.writes().slice(writes);
      assert.equal(own.filter((request) => /^POST .*\/pods$/.test(request)).length, 2);
      assert.equal(own.filter((request) => !others.test(request)).length, 6, own.join("\n"));
      const reads = stand.asked.slice(asked).filter((request) => /^GET .*\/jobs\/second/.test(request));
      assert.deepEqual(reads, []);
    },
  );

  itOnStand({ nodes: [{ name: "a", cpu: "2" }] })(
    "whose place another pod has taken is withdrawn as a whole, without a failure, and runs afterwards",
    async (stand) => {
      await stand.create(home);
      await stand.host({ gang: "builtin" });
      const thief: Obj = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "thief", namespace: "default" },
        spec: {
          nodeName: "a",
          containers: [{ name: "main", image: "busybox", resources: { requests: { cpu: "1" } } }],
        },
      };
      const policies = [{ events: ["PodEvicted", "PodFailed"], action: "AbortJob" }];
      stand.fault(podsAway);
      await stand.create(twoCores("pair", 200_000, { policies }));
      await stand.until("it has a plan", () => planOf(stand.all("PodGroup")[0]) !== undefined, 30_000);
      stand.fault(undefined);
      await stand.create(thief);
      await stand.until("it is taken back", () => /GangNotBound/.test(JSON.stringify(stand.all("PodGroup"))), 90_000);
      await stand.turn(10_000);
      const [group] = stand.all("PodGroup");
      assert.equal(at(group, "status", "phase"), "Pending");
      assert.equal(planOf(group), undefined);
      assert.match(
        said(stand, "PodGroupPending").join(),
        /1 of 2 pods did not get their places within 60 s: a, taken by pod default\/thief/,
      );
      assert.deepEqual(
        stand.all("Pod").map(({ metadata }) => metadata.name),
        ["thief"],
      );
      await stand.turn(60_000);
      assert.equal(stand.all("Pod").length, 1);
      await stand.remove("Pod", "thief");
      await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 500_000);
      assert.equal(at(stand.get("Job", "pair"), "status", "retryCount") ?? 0, 0);
    },
  );

  itOnStand(oneNode)(
    "waits if its host may not list nodes, and its queue names the feature that grants this",
    async (stand) => {
      await stand.create(home);
      stand.fault(({ method, path }) =>
        method === "GET" && path.startsWith("/api/v1/nodes")
          ? answer(403, "Forbidden", 'nodes is forbidden: User "x" cannot list resource "nodes" in API group ""')
          : undefined,
      );
      await stand.host({ gang: "builtin" });
      await stand.create(twoCores("first", 1_000));
      await stand.turn(10_000);
      assert.match(
        JSON.stringify(stand.lines.filter(({ level }) => level === "warn")),
        /rekindle manifests --features gang grants this/,
      );
      assert.deepEqual(stand.all("Pod"), []);
    },
  );
});

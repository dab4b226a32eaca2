/** PodGroups of pods without one: created where upstream creates them, the same by every step of any of their pods. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Plan } from "../../../../shared/core/plan.ts";
import { volcanoPod } from "../../../../shared/volcano/ungrouped-pods/decide.ts";
import { resultOf } from "../../../support/decisions.ts";
import { does } from "../../../support/plans.ts";

const key = { cluster: "here", kind: "Pod", namespace: "ns", name: "p" };

const containers = [{ name: "c", image: "x", resources: { requests: { cpu: "500m" } } }];

const pod = (metadata: object = {}, spec: object = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "ns", uid: "uid-p", resourceVersion: "7", ...metadata },
  spec: { schedulerName: "volcano", containers, ...spec },
});

const owner = (kind: string, apiVersion = "apps/v1") => ({
  apiVersion,
  kind,
  name: "web",
  uid: "uid-web",
  controller: true,
});

/** Returns the plan for a pod; its controller, if it is read, has these annotations. */
const planned = (object: Stored, annotations?: Readonly<Record<string, string>>): Plan<unknown> => {
  const view = { object, uid: object.metadata.uid, memory: undefined, now: 0, refused: [] };
  const metadata = { name: "web", uid: "uid-web", resourceVersion: "1", annotations };
  const value = annotations === undefined ? undefined : { apiVersion: "apps/v1", kind: "ReplicaSet", metadata };
  return resultOf(volcanoPod.decide(key, view), { objects: () => [], probe: () => ({ heard: true, value }) });
};

const made = (plan: Plan<unknown>) => {
  const [group] = plan.stages.flat().flatMap((effect) => (effect.do === "create" ? [effect.object] : []));
  assert.ok(group !== undefined);
  return group;
};

describe("a pod of Volcano's scheduler without a group", () => {
  test("gets a PodGroup of its own, and the annotation with the group's name", () => {
    const plan = planned(
      pod({ annotations: { "scheduling.volcano.sh/queue-name": "q", "volcano.sh/preemptable": "true" } }),
    );
    const { metadata, spec, status } = made(plan);
    assert.deepEqual([metadata.name, metadata.annotations], ["podgroup-uid-p", { "volcano.sh/preemptable": "true" }]);
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
      [["Pod", "uid-p"]],
    );
    assert.deepEqual([Object(spec).queue, Object(spec).minMember, Object(spec).minResources.cpu], ["q", 1, "500m"]);
    assert.deepEqual(status, { phase: "Pending" });
    const [patch] = plan.stages[1] ?? [];
    assert.deepEqual(patch?.do === "patch" && [patch.uid, patch.resourceVersion, patch.patch], [
      "uid-p",
      "7",
      { metadata: { annotations: { "scheduling.k8s.io/group-name": "podgroup-uid-p" } } },
    ]);
  });

  test("shares the PodGroup of its controller, whose annotation gives minMember", () => {
    const annotations = { "scheduling.volcano.sh/group-min-member": "3", "volcano.sh/a": "b", other: "c" };
    const { metadata, spec } = made(planned(pod({ ownerReferences: [owner("ReplicaSet")] }), annotations));
    assert.deepEqual([metadata.name, metadata.annotations], ["podgroup-uid-web", { "volcano.sh/a": "b" }]);
    assert.deepEqual([Object(spec).minMember, Object(spec).minResources.cpu], [3, "1500m"]);
    assert.equal(metadata.ownerReferences?.[0]?.uid, "uid-web");
  });

  const least = [
    ["of a controller without an annotation", owner("StatefulSet"), {}, 1],
    [
      "of a controller with an invalid annotation",
      owner("ReplicaSet"),
      { "scheduling.volcano.sh/group-min-member": "-2" },
      1,
    ],
    [
      "of a controller of an unknown kind",
      owner("Web", "example.com/v1"),
      { "scheduling.volcano.sh/group-min-member": "3" },
      1,
    ],
  ] as const;
  for (const [what, by, annotations, wanted] of least)
    test(`${what} gets a PodGroup with minMember 1`, () => {
      const { spec } = made(planned(pod({ ownerReferences: [by] }), annotations));
      assert.equal(Object(spec).minMember, wanted);
    });

  test("passes its network topology annotations to the PodGroup", () => {
    const annotations = { "volcano.sh/network-topology-mode": "Soft", "volcano.sh/network-topology-highest-tier": "2" };
    const { spec } = made(planned(pod({ annotations })));
    assert.deepEqual(Object(spec).networkTopology, { mode: "soft", highestTierAllowed: 2 });
  });
});

describe("a step has no effects and forgets the key of", () => {
  const idle = [
    ["a pod that has a group", pod({ annotations: { "scheduling.k8s.io/group-name": "g" } })],
    ["a pod of another scheduler", pod({}, { schedulerName: "default-scheduler" })],
    ["a pod that is being deleted", pod({ deletionTimestamp: "2026-11-02T08:00:00Z" })],
  ] as const;
  for (const [what, object] of idle)
    test(what, () => {
      const plan = planned(object);
      const [stages, forget] = [plan.stages, does(plan, "forget")];
      assert.deepEqual([stages, forget], [[], true]);
    });

  test("a pod with a group, for which neither watch nor resync sends a key", () => {
    const grouped = pod({ annotations: { "scheduling.k8s.io/group-name": "g" } });
    assert.equal(volcanoPod.watches[0]?.ownerName(grouped), undefined);
    assert.deepEqual([volcanoPod.settled?.(grouped.metadata), volcanoPod.settled?.(pod().metadata)], [true, false]);
  });
});

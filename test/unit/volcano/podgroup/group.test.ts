/** The PodGroup of a job, and the fields that follow the job. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { groupPatch, podGroup } from "../../../../shared/volcano/podgroup/group.ts";
import { claimName, isMadeClaim } from "../../../../shared/volcano/pods/names.ts";
import type { JobSpec } from "../../../../shared/volcano/schema/spec.ts";

const owner = { name: "train", namespace: "default", uid: "u1" };
const group = (spec: JobSpec) =>
  podGroup(
    { owner, spec, labels: {}, annotations: {}, version: 0, retryCount: 0, forwarding: false },
    new Map([["high", 10]]),
  );

const cpu = (amount: string) => ({
  spec: { containers: [{ name: "c", image: "x", resources: { requests: { cpu: amount } } }] },
});

describe("the PodGroup of a job", () => {
  const spec: JobSpec = {
    minAvailable: 1,
    queue: "q",
    tasks: [
      { name: "a", replicas: 1, minAvailable: 1, template: cpu("1") },
      { name: "b", replicas: 1, minAvailable: 1, template: { spec: { ...cpu("2").spec, priorityClassName: "high" } } },
    ],
  };

  test("counts tasks of the highest priority first in minResources", () => {
    const { minResources } = Object(group(spec)["spec"]);
    assert.deepEqual(minResources, { pods: "1", "count/pods": "1", cpu: "2", "requests.cpu": "2" });
  });

  test("follows the job's sizes, and keeps its queue", () => {
    const wanted = group(spec);
    const there = {
      ...wanted,
      metadata: { ...wanted.metadata, uid: "g1", resourceVersion: "1" },
      spec: { ...Object(wanted["spec"]), queue: "moved", minMember: 5 },
    };
    assert.deepEqual(groupPatch(there, wanted), { spec: { minMember: 1 } });
    const settled = { ...there, spec: { ...there.spec, minMember: 1 } };
    assert.equal(groupPatch(settled, wanted), undefined);
  });
});

test("a claim has one name, which identifies a generated claim", () => {
  const name = claimName(owner, 0);
  assert.equal(name, claimName(owner, 0));
  assert.notEqual(name, claimName(owner, 1));
  assert.ok(isMadeClaim("train", name));
  assert.ok(!isMadeClaim("train", "train-pvc-mine"));
});

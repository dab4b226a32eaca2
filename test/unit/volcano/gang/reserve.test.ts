/** Places of nominated groups: reserved while the pods that are evicted for them still have them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { admissionOf } from "../../../../shared/volcano/gang/admission.ts";
import { openGround } from "../../../../shared/volcano/gang/ground.ts";
import type { Nomination } from "../../../../shared/volcano/gang/state/memory.ts";
import { eight, groupOf, job, node, podOf, queue } from "./round.ts";

const nomination: Nomination = {
  ...{ uid: "PodGroup big", group: "ns/big", at: eight },
  way: "preempt",
  places: [{ task: "w", node: "n", count: 4 }],
  victims: { "PodGroup low": { whole: true, pods: { "Pod low-0": "low-0", "Pod low-1": "low-1" } } },
};

const jobs = [
  job("big", { cpu: 1, replicas: 4 }),
  job("small", { cpu: 1, replicas: 1 }),
  job("low", { cpu: 1, replicas: 2 }),
];

const marks = { "rekindle.dev/evicted": JSON.stringify({ at: timeText(eight - 60_000), by: "ns/big" }) };

/** Returns the verdicts on a node of four cores: a plan of a group that enters, else why it waits. */
const verdicts = (pods: readonly Stored[], nominations: readonly Nomination[] = [nomination]) => {
  const groups = [groupOf("big"), groupOf("small", { age: 900 }), groupOf("low", { annotations: marks })];
  const ground = openGround({
    ...{ nodes: [node("n", 4)], pods, jobs, groups, nominations },
    ...{ priorities: new Map(), now: eight },
  });
  const nominated = new Set(nominations.map(({ uid }) => uid));
  const all = admissionOf({ queues: [queue], groups, priorities: new Map(), ground, nominated }).verdicts;
  return Object.fromEntries(all.map((one) => [one.group.metadata.name, one.enters ? "enters" : one.why]));
};

describe("the places of a nominated group", () => {
  const evicted = [podOf("low-0", "low"), podOf("low-1", "low")];

  test("are open to no other group while pods are evicted, and the nominated group says what it waits for", () => {
    const { big, small } = verdicts(evicted);
    assert.equal(big, "waits until pods of ns/low that are evicted for it have ended");
    assert.match(small ?? "", /needs 1 × 1 cpu; 0 places/);
    assert.equal(verdicts(evicted, [])["small"], "enters");
  });

  test("are taken by the group as soon as the pods have ended", () => assert.equal(verdicts([])["big"], "enters"));

  test("are not given to the evicted group, which is not planned while any of its pods is left", () => {
    assert.equal(verdicts([podOf("low-0", "low")], [])["low"], "its earlier pods have not ended yet");
    assert.match(verdicts([])["low"] ?? "", /its pods were evicted for group ns\/big/);
  });
});

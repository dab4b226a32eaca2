/** Nodes to avoid, for how long, and their form in an executor's pod. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Loss } from "../../../../shared/spark/executors/ledger.ts";
import { avoidedNodes, closingNodes, goingAt, placedElsewhere } from "../../../../shared/spark/executors/nodes.ts";
import { at } from "../../../support/at.ts";
import { executor } from "./pods.ts";

const now = Date.UTC(2026, 10, 2, 8);

const lost = (node: string, count: number, more: Partial<Loss> = {}): readonly Loss[] =>
  Array.from({ length: count }, (_, id) => ({
    id,
    uid: `u-${id}`,
    node,
    reason: "failed" as const,
    at: now - 1_000,
    ...more,
  }));

describe("a node is avoided", () => {
  const rows: readonly (readonly [why: string, losses: readonly Loss[], nodes: readonly string[]])[] = [
    ["not for two losses", lost("a", 2), []],
    ["for three", lost("a", 3), ["a"]],
    [
      "for one executor that was deleted because of a notice",
      lost("a", 1, { reason: "node", why: goingAt(now) }),
      ["a"],
    ],
    ["not for one executor that was lost with it", lost("a", 1, { reason: "node", why: "its node is gone" }), []],
    ["not for losses on several nodes", [...lost("a", 2), ...lost("b", 2)], []],
    ["the worst first", [...lost("a", 3), ...lost("b", 5)], ["b", "a"]],
    ["for ten minutes", lost("a", 3, { at: now - 600_000 }), []],
    ["until ten minutes are over", lost("a", 3, { at: now - 599_000 }), ["a"]],
    ["not for what others did there", lost("a", 9, { reason: "preempted" }), []],
    ["not for losses without a node", lost("a", 3).map(({ node: _, ...rest }) => rest), []],
    [
      "among eight at most",
      Array.from({ length: 9 }, (_, index) => lost(`n${index}`, 3)).flat(),
      [..."01234567"].map((n) => `n${n}`),
    ],
  ];
  for (const [why, losses, nodes] of rows) test(why, () => assert.deepEqual(avoidedNodes(losses, now), nodes));
});

describe("a node takes no new executor", () => {
  const inAMinute = { reason: "node", why: goingAt(now + 60_000) } as const;
  const moved = lost("a", 1, inAMinute);
  const leaving = (node: string, when: number) => executor({ id: 1, node, leaving: new Date(when).toISOString() });
  const rows: readonly (readonly [
    why: string,
    pods: Parameters<typeof closingNodes>[0],
    losses: readonly Loss[],
    nodes: readonly string[],
  ])[] = [
    ["where a notice is on a pod", [leaving("a", now + 60_000)], [], ["a"]],
    ["where an executor was moved from, until the node goes", [], moved, ["a"]],
    ["for a minute after its end", [leaving("a", now - 59_000)], [], ["a"]],
    ["for no longer", [leaving("a", now - 60_000)], lost("a", 1, { reason: "node", why: goingAt(now - 60_000) }), []],
    ["not where executors run without a notice: it was taken back", [executor({ id: 2, node: "a" })], moved, []],
    [
      "where one has the notice and one that is new has none",
      [executor({ id: 2, node: "a" }), leaving("a", now)],
      moved,
      ["a"],
    ],
    [
      "where only one that ends has no notice",
      [executor({ id: 2, node: "a", deletion: "2026-11-02T08:00:20Z" })],
      moved,
      ["a"],
    ],
    ["not for losses of another reason", [], lost("a", 3, { why: "its node is gone", reason: "node" }), []],
    ["not by a text that is no time", [], lost("a", 1, { reason: "node", why: "its node goes at noon" }), []],
    [
      "the next to go first",
      [leaving("b", now + 9_000), leaving("a", now + 60_000)],
      lost("c", 1, inAMinute),
      ["b", "a", "c"],
    ],
  ];
  for (const [why, pods, losses, nodes] of rows)
    test(why, () => assert.deepEqual(closingNodes(pods, losses, now), nodes));

  test("among 64 at most, those that go first", () => {
    const pods = Array.from({ length: 70 }, (_, index) => leaving(`n${index}`, now + (70 - index) * 1_000));
    const nodes = closingNodes(pods, [], now);
    assert.deepEqual([nodes.length, nodes[0], nodes[63]], [64, "n69", "n6"]);
  });
});

describe("an executor's pod", () => {
  const affinity = "spec.affinity.nodeAffinity";
  const preferences = `${affinity}.preferredDuringSchedulingIgnoredDuringExecution`;
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const pod = (spec: object) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "e" }, spec });
  const not = (node: string) => ({ key: "metadata.name", operator: "NotIn", values: [node] });

  test("is not changed while no node is avoided or about to go", () => {
    const made = pod({ affinity: {} });
    assert.equal(placedElsewhere(made, { closing: [], avoided: [] }), made);
  });

  test("prefers other nodes, beside the preferences of its template", () => {
    const own = { weight: 1, preference: {} };
    const made = placedElsewhere(
      pod({
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [own] }, podAffinity: { x: 1 } },
      }),
      { closing: [], avoided: ["a", "b"] },
    );
    assert.deepEqual(at(made, `${preferences}.0`), own);
    assert.deepEqual(at(made, `${preferences}.1.preference.matchFields`), [not("a"), not("b")]);
    assert.deepEqual(at(made, "spec.affinity.podAffinity"), { x: 1 });
  });

  test("must have another node than one that is about to go, and prefers others than one that is avoided", () => {
    const made = placedElsewhere(pod({}), { closing: ["a"], avoided: ["a", "b"] });
    assert.deepEqual(at(made, `${affinity}.${required}`), { nodeSelectorTerms: [{ matchFields: [not("a")] }] });
    assert.deepEqual(at(made, `${preferences}.0.preference.matchFields`), [not("b")]);
  });

  test("keeps what its template requires: each term gets the requirement", () => {
    const terms = [
      { matchExpressions: [{ key: "zone", operator: "In", values: ["x"] }] },
      { matchFields: [not("z")], matchExpressions: [] },
    ];
    const spec = { affinity: { nodeAffinity: { [required]: { nodeSelectorTerms: terms } } } };
    const made = placedElsewhere(pod(spec), { closing: ["a", "b"], avoided: [] });
    assert.deepEqual(at(made, `${affinity}.${required}.nodeSelectorTerms`), [
      { ...terms[0], matchFields: [not("a"), not("b")] },
      { ...terms[1], matchFields: [not("z"), not("a"), not("b")] },
    ]);
    assert.equal(at(made, preferences), undefined);
  });
});

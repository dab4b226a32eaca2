/** Nodes to avoid, for how long, and their form in an executor's pod. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Loss } from "../../../../shared/spark/executors/ledger.ts";
import { avoidedNodes, goingAt, placedElsewhere } from "../../../../shared/spark/executors/nodes.ts";
import { at } from "../../../support/at.ts";

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

describe("an executor's pod", () => {
  const preferences = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";
  const pod = (spec: object) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "e" }, spec });

  test("is not changed while no node is avoided", () => {
    const made = pod({ affinity: {} });
    assert.equal(placedElsewhere(made, []), made);
  });

  test("prefers other nodes, beside the preferences of its template", () => {
    const own = { weight: 1, preference: {} };
    const made = placedElsewhere(
      pod({
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [own] }, podAffinity: { x: 1 } },
      }),
      ["a", "b"],
    );
    assert.deepEqual(at(made, `${preferences}.0`), own);
    assert.deepEqual(at(made, `${preferences}.1.preference.matchFields`), [
      { key: "metadata.name", operator: "NotIn", values: ["a"] },
      { key: "metadata.name", operator: "NotIn", values: ["b"] },
    ]);
    assert.deepEqual(at(made, "spec.affinity.podAffinity"), { x: 1 });
  });
});

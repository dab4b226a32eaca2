/** The nodes that pods of a started group keep to: reading the annotation, and the affinity that it adds to a pod. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { type GangTopology, keptTo, topologyKey, topologyOf } from "../../../shared/kube/gang-topology.ts";

const group = (text?: string): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
  metadata: {
    name: "g",
    uid: "g",
    resourceVersion: "1",
    ...(text === undefined ? {} : { annotations: { [topologyKey]: text } }),
  },
});

const topology: GangTopology = { lists: [["a", "b"], ["b"]], within: { "": 0 }, near: { "w/1": 1 } };

const among = (...values: readonly string[]) => ({ key: "kubernetes.io/hostname", operator: "In", values });

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const affinityIn = (spec: Readonly<Record<string, unknown>>) => Object(spec["affinity"])["nodeAffinity"];

describe("the topology of a group", () => {
  test("is read as it was written", () => assert.deepEqual(topologyOf(group(JSON.stringify(topology))), topology));

  for (const text of [undefined, "", "{}", "[]", '{"lists":[1],"within":{},"near":{}}', `"${"x".repeat(40_000)}"`])
    test(`is ignored if its text is ${text?.slice(0, 20)}`, () => assert.equal(topologyOf(group(text)), undefined));
});

describe("a pod that keeps to nodes", () => {
  test("has them in each required term of its affinity, and its own terms stay", () => {
    const zone = { key: "zone", operator: "Exists" };
    const own = { nodeSelectorTerms: [{ matchExpressions: [zone] }, {}, { matchFields: [zone] }] };
    const spec = keptTo({ affinity: { podAffinity: {}, nodeAffinity: { [required]: own } } }, topology, "w", "0");
    assert.deepEqual(affinityIn(spec), {
      [required]: {
        nodeSelectorTerms: [
          { matchExpressions: [zone, among("a", "b")] },
          { matchFields: [zone], matchExpressions: [among("a", "b")] },
        ],
      },
    });
  });

  test("prefers nodes beside those that it prefers by itself", () => {
    const wish = { weight: 1, preference: { matchExpressions: [] } };
    const spec = keptTo({ affinity: { nodeAffinity: { [preferred]: [wish] } } }, topology, "w", "1");
    assert.deepEqual(affinityIn(spec)[preferred], [
      wish,
      { weight: 100, preference: { matchExpressions: [among("b")] } },
    ]);
  });

  test("stays as it is where nothing is said of it", () => {
    const spec = { containers: [] };
    const none = { ...topology, within: { "v/0": 0, "w/3": 9 } };
    assert.equal(keptTo(spec, none, "w", "3"), spec);
    assert.equal(keptTo(spec, none, "w", undefined), spec);
  });
});

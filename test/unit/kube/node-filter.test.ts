/** Nodes that a pod's spec excludes: the rows of kube-scheduler's filters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { nodeFilter } from "../../../shared/kube/nodes.ts";

type Fields = Readonly<Record<string, unknown>>;

const node = (spec: Fields = {}): Stored => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n1", uid: "n1", resourceVersion: "1", labels: { zone: "a", size: "8" } },
  spec,
});

const tainted = (effect: string, value = ""): Fields => ({ taints: [{ key: "gpu", value, effect }] });

const tolerating = (...tolerations: readonly Fields[]): Fields => ({ tolerations });

const affine = (...nodeSelectorTerms: readonly Fields[]): Fields => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

const requires = (operator: string, key: string, ...values: readonly string[]): Fields => ({
  matchExpressions: [{ key, operator, values }],
});

const taint = "has taint gpu";
const outside = "is outside its node affinity";

const rows: readonly (readonly [string, Fields, Fields, string | undefined])[] = [
  ["a plain pod and a plain node", {}, {}, undefined],
  ["a taint NoSchedule", {}, tainted("NoSchedule"), taint],
  ["a taint NoExecute", {}, tainted("NoExecute"), taint],
  ["a taint PreferNoSchedule", {}, tainted("PreferNoSchedule"), undefined],
  ["a toleration of any value", tolerating({ key: "gpu", operator: "Exists" }), tainted("NoSchedule", "x"), undefined],
  ["a toleration of this value", tolerating({ key: "gpu", value: "x" }), tainted("NoSchedule", "x"), undefined],
  ["a toleration of another value", tolerating({ key: "gpu", value: "y" }), tainted("NoSchedule", "x"), taint],
  [
    "a toleration of another effect",
    tolerating({ key: "gpu", operator: "Exists", effect: "NoExecute" }),
    tainted("NoSchedule"),
    taint,
  ],
  ["a toleration of everything", tolerating({ operator: "Exists" }), tainted("NoExecute"), undefined],
  ["a toleration without key that names a value", tolerating({ value: "" }), tainted("NoSchedule"), taint],
  [
    "a toleration by an operator of the future",
    tolerating({ key: "gpu", operator: "Gt", value: "1" }),
    tainted("NoSchedule", "2"),
    taint,
  ],
  ["a cordoned node", {}, { unschedulable: true }, "is cordoned"],
  [
    "a cordoned node that is tolerated",
    tolerating({ key: "node.kubernetes.io/unschedulable", operator: "Exists" }),
    { unschedulable: true },
    undefined,
  ],
  ["a node selector that matches", { nodeSelector: { zone: "a" } }, {}, undefined],
  ["a node selector that does not", { nodeSelector: { zone: "b" } }, {}, "is outside its node selector"],
  ["a label that every object has", { nodeSelector: { constructor: "a" } }, {}, "is outside its node selector"],
  ["the name of another node", { nodeName: "n2" }, {}, "is not the node that it names"],
  ["one of two terms", affine(requires("In", "zone", "b"), requires("In", "zone", "a")), {}, undefined],
  ["NotIn", affine(requires("NotIn", "zone", "a")), {}, outside],
  ["DoesNotExist", affine(requires("DoesNotExist", "rack")), {}, undefined],
  ["Gt", affine(requires("Gt", "size", "7")), {}, undefined],
  ["Gt of an equal", affine(requires("Gt", "size", "8")), {}, outside],
  ["Lt", affine(requires("Lt", "size", "9")), {}, undefined],
  ["Lt of a text", affine(requires("Lt", "zone", "9")), {}, outside],
  ["an unknown operator", affine(requires("Like", "zone", "a")), {}, outside],
  [
    "the node's name as a field",
    affine({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }),
    {},
    undefined,
  ],
  ["a term without requirements", affine({}), {}, outside],
  ["no terms", affine(), {}, outside],
];

for (const [what, spec, ofNode, why] of rows)
  test(`${what}: ${why ?? "fits"}`, () => assert.equal(nodeFilter(spec)(node(ofNode)), why));

/** Pins: the node affinity of a pod that only one node may take, and the node that such a pod names. And exclusions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { excluding, nodeFilter, pinned, pinOf } from "../../../shared/kube/nodes.ts";

type Fields = Readonly<Record<string, unknown>>;

const node = (name: string, zone: string): Stored => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name, resourceVersion: "1", labels: { zone } },
});

const requiring = (...nodeSelectorTerms: readonly Fields[]): Fields => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

const inZone = (zone: string): Fields => ({ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] });

const nodes = [node("m", "a"), node("n", "a"), node("o", "b")];

const takers = (spec: Fields): readonly string[] =>
  nodes.filter((one) => nodeFilter(spec)(one) === undefined).map(({ metadata }) => metadata.name);

const rows: readonly (readonly [string, Fields, readonly string[]])[] = [
  ["a pod without affinity", {}, ["n"]],
  ["one with two terms: each names the node", requiring(inZone("a"), inZone("b")), ["n"]],
  ["one whose terms exclude the node", requiring(inZone("b")), []],
  ["one with an empty term, which matches no node", requiring({}, inZone("b")), []],
];

describe("pinned to n", () => {
  for (const [what, spec, wanted] of rows) test(what, () => assert.deepEqual(takers(pinned(spec, "n")), wanted));

  test("a pod keeps its other affinity", () => {
    const podAntiAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    assert.deepEqual(
      Object(pinned({ affinity: { podAntiAffinity } }, "n")["affinity"])["podAntiAffinity"],
      podAntiAffinity,
    );
  });

  test("a pod that names its node stays as it is", () =>
    assert.deepEqual(pinned({ nodeName: "x" }, "n"), { nodeName: "x" }));

  test("a pod's node is read from its spec", () => {
    assert.equal(pinOf(pinned(requiring(inZone("a"), inZone("b")), "n")), "n");
    assert.equal(pinOf(requiring(inZone("a"))), undefined);
    assert.equal(pinOf({}), undefined);
    const [one] = [pinned({}, "n")];
    const terms = Object(one)["affinity"].nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
    assert.equal(pinOf(requiring(...terms, inZone("a"))), undefined);
  });
});

const excluded: readonly (readonly [string, Fields, readonly string[]])[] = [
  ["a pod without affinity", {}, ["m"]],
  ["one with two terms", requiring(inZone("a"), inZone("b")), ["m"]],
  ["one whose terms need an excluded node", requiring(inZone("b")), []],
  ["one with an empty term, which matches no node", requiring({}, inZone("a")), ["m"]],
  ["one with nothing but an empty term", requiring({}), []],
  ["one with an affinity that is null", { affinity: null }, ["m"]],
];

describe("excluded from n and o", () => {
  for (const [what, spec, wanted] of excluded)
    test(what, () => assert.deepEqual(takers(excluding(spec, ["n", "o"])), wanted));

  test("a pod that names its node, or whose terms nobody can meet, stays as it is", () => {
    for (const spec of [{ nodeName: "n" }, requiring({}), requiring()]) assert.equal(excluding(spec, ["n"]), spec);
  });

  test("a pod stays as it is while no node is excluded", () => {
    const spec = requiring(inZone("a"));
    assert.equal(excluding(spec, []), spec);
  });
});

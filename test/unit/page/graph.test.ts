/** The places of a JobFlow's jobs in its drawing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { drawingOf, mostDrawn } from "../../../shared/page/graph.ts";
import type { FlowNode } from "../../../shared/page/wire.ts";

const node = (name: string, ...dependsOn: readonly string[]): FlowNode => ({
  ...{ name, job: `Job/a/${name}`, state: "", group: "waiting", dependsOn, waits: "" },
});

const spotsOf = (...nodes: readonly FlowNode[]) =>
  Object.fromEntries(drawingOf(nodes).spots.map(({ node: { name }, column, line }) => [name, [column, line]]));

describe("the drawing of a flow", () => {
  test("has each job to the right of all its dependencies, in every order of the list", () => {
    const spots = spotsOf(node("eval", "train", "extract"), node("train", "extract"), node("extract"));
    assert.deepEqual(spots, { extract: [0, 0], train: [1, 0], eval: [2, 0] });
  });

  test("has the jobs of one column in the order of their dependencies, so that edges do not cross", () => {
    const spots = spotsOf(node("a"), node("b"), node("after-b", "b"), node("after-a", "a"));
    assert.deepEqual(
      [spots["after-a"], spots["after-b"]],
      [
        [1, 0],
        [1, 1],
      ],
    );
  });

  test("has all jobs even with a cycle and an unknown dependency", () => {
    const { spots, edges } = drawingOf([node("a", "b"), node("b", "a"), node("c", "nowhere")]);
    assert.deepEqual([spots.length, edges.length], [3, 2]);
  });

  test("has the first jobs of a large flow", () => {
    const { spots } = drawingOf(Array.from({ length: 500 }, (_, at) => node(`job-${at}`)));
    assert.equal(spots.length, mostDrawn);
  });
});

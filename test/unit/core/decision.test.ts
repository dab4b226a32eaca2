/** Decisions as generators: reads side by side, each with its own answers, and no read where none is needed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Answer,
  all,
  firstOf,
  get,
  list,
  type Reads,
  settled,
  withoutReading,
} from "../../../shared/core/decision.ts";
import type { Query } from "../../../shared/core/plan.ts";
import { pods } from "../../../shared/kube/resources.ts";

const named = (name: string) => ({ do: "get", ref: { resource: pods, namespace: "ns", name } }) as const;

const nameOf = (query: Query): string => (query.do === "get" ? query.ref.name : query.do);

/** Returns the rounds in which queries were yielded, and the result; a get finds its object. */
const run = <Result>(reads: Reads<Result>): { readonly rounds: readonly string[][]; readonly result: Result } => {
  const rounds: string[][] = [];
  const answer = (query: Query): Answer => {
    const metadata = { name: nameOf(query), uid: "u", resourceVersion: "1" };
    return { objects: [{ apiVersion: "v1", kind: "Pod", metadata }] };
  };
  let state = reads.next();
  while (state.done !== true) {
    rounds.push(state.value.map(nameOf));
    state = reads.next(state.value.map(answer));
  }
  return { rounds, result: state.value };
};

/** Gets these names one after the other, and returns the names of the objects found. */
function* chain(...names: readonly string[]): Reads<string> {
  const found: string[] = [];
  for (const name of names) found.push((yield* get(named(name)))?.metadata.name ?? "none");
  return found.join();
}

describe("several reads side by side", () => {
  test("ask together, round by round, and each takes its own answers", () => {
    const { rounds, result } = run(all([chain("a", "b", "c"), settled("nothing"), chain("d"), chain("e", "f")]));
    assert.deepEqual(rounds, [["a", "d", "e"], ["b", "f"], ["c"]]);
    assert.deepEqual(result, ["a,b,c", "nothing", "d", "e,f"]);
  });

  test("of which none needs a read ask for nothing", () => {
    assert.deepEqual(run(all([settled(1), settled(2)])), { rounds: [], result: [1, 2] });
  });

  test("may stand within each other", () => {
    const { rounds, result } = run(all([all([chain("a"), chain("b", "c")]), chain("d", "e")]));
    assert.deepEqual(rounds, [
      ["a", "b", "d"],
      ["c", "e"],
    ]);
    assert.deepEqual(result, [["a", "b,c"], "d,e"]);
  });
});

describe("the first result that is wanted", () => {
  test("ends the reads of all others", () => {
    const { rounds, result } = run(firstOf([chain("a", "b"), chain("c")], (found) => found === "c"));
    assert.deepEqual([rounds, result], [[["a", "c"]], "c"]);
  });

  test("needs no read where it is there already, and is undefined where none comes to it", () => {
    assert.deepEqual(run(firstOf([chain("a"), settled("x")], (found) => found === "x")), { rounds: [], result: "x" });
    assert.equal(run(firstOf([chain("a"), chain("b", "c")], (found) => found === "x")).result, undefined);
  });
});

test("a result that needs no read is had without one, and no other is", () => {
  assert.deepEqual([withoutReading(settled(7)), withoutReading(chain("a"))], [7, undefined]);
});

test("an answer of another form than its query is a fault", () => {
  const reads = list(named("a"));
  reads.next();
  assert.throws(() => reads.next([{ probe: { heard: true, value: 1 } }]), /no answer to its get/);
});

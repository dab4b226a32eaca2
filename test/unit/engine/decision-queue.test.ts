/** Decisions share the event loop: they run in slices, namespaces take turns, and one watchdog guards a slice. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openDecisionQueue, slicesOf } from "../../../shared/engine/quarantine.ts";

/** A queue whose parts take 2 ms each, in slices of 5 ms; `turn` is one turn of the event loop. */
const opened = () => {
  const time = { now: 0 };
  const due: (() => void)[] = [];
  const slices: { readonly ms: number; readonly ran: string[] }[] = [];
  const stopped: string[] = [];
  let bomb: string | undefined;
  const queue = openDecisionQueue({
    slices: slicesOf(
      (ms, work) => {
        slices.push({ ms, ran: [] });
        return work();
      },
      (begin) => due.push(begin),
    ),
    sliceMs: 5,
    clock: () => time.now,
  });
  const add = (namespace: string, name: string, budgetMs = 100): void =>
    queue.add({
      namespace,
      budgetMs: () => budgetMs,
      run: () => {
        if (name === bomb) throw new Error("stopped");
        slices.at(-1)?.ran.push(name);
        time.now += 2;
      },
      stopped: () => stopped.push(name),
    });
  const turn = (): void => {
    const [work] = due.splice(0, 1);
    work?.();
  };
  return { add, turn, slices, stopped, stops: (name: string) => (bomb = name), waits: () => due.length };
};

describe("a queue of decisions", () => {
  test("begins nothing before the event loop has turned, and lets it turn after every slice", () => {
    const { add, turn, slices, waits } = opened();
    for (const name of ["a", "b", "c", "d", "e"]) add("large", name);
    assert.deepEqual([slices.length, waits()], [0, 1]);
    turn();
    assert.deepEqual(
      slices.map(({ ran }) => ran),
      [["a", "b", "c"]],
    );
    turn();
    assert.deepEqual(
      slices.map(({ ran }) => ran),
      [
        ["a", "b", "c"],
        ["d", "e"],
      ],
    );
    assert.equal(waits(), 0);
  });

  test("lets namespaces take turns: a decision waits for at most one decision of each other namespace", () => {
    const { add, turn, slices } = opened();
    for (const name of ["a", "b", "c", "d"]) add("large", name);
    add("small", "mine");
    turn();
    assert.deepEqual(slices[0]?.ran, ["a", "mine", "b"]);
  });

  test("guards a slice for its parts' limit plus its own length; parts of another limit get their own slice", () => {
    const { add, turn, slices } = opened();
    add("stopped", "a", 50);
    add("good", "b", 100);
    turn();
    turn();
    assert.deepEqual(slices, [
      { ms: 55, ran: ["a"] },
      { ms: 105, ran: ["b"] },
    ]);
  });

  test("reports the part that was running when a slice was stopped, and continues with the other parts", () => {
    const { add, turn, slices, stopped, stops } = opened();
    for (const name of ["a", "bomb", "c"]) add("large", name);
    stops("bomb");
    turn();
    turn();
    assert.deepEqual(stopped, ["bomb"]);
    assert.deepEqual(
      slices.map(({ ran }) => ran),
      [["a"], ["c"]],
    );
  });
});

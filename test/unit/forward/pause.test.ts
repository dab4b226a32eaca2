/**
 * Long work yields to the event loop: work of 1 ms for each object never blocks it for more than ten objects. Work that is
 * done again and again ends with its round.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Resource } from "../../../shared/core/object.ts";
import { resync } from "../../../shared/deployments/resync/sweep.ts";
import { list, openWatchState } from "../../../shared/forward/listwatch.ts";
import { openBreather, startRounds } from "../../../shared/forward/pause.ts";
import { trim } from "../../../shared/kube/trim.ts";

const many = 200;
const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod" };
const objects = Array.from({ length: many }, (_, at) => ({
  metadata: { name: `pod-${at}`, namespace: "ns", uid: `uid-${at}`, resourceVersion: `${at + 1}`, generation: 1 },
}));

/** Answers a list with one page of all objects, and a list of Checkpoints with none. */
const transport = {
  send: async ({ path }: { readonly path: string }) => {
    const items = path.includes("checkpoints") ? [] : objects;
    return { status: 200, headers: {}, body: JSON.stringify({ metadata: { resourceVersion: "1000" }, items }) };
  },
  stream: () => Promise.reject(new Error("nothing is watched here")),
};

/** Returns the longest row of objects without a turn of the event loop; `work` reports each object. */
const longestRow = async (work: (told: () => void, now: () => number) => Promise<unknown>): Promise<number> => {
  let [row, longest, now, over] = [0, 0, 0, false];
  const turn = (): void => {
    row = 0;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    const told = (): void => {
      now += 1;
      row += 1;
      longest = Math.max(longest, row);
    };
    await work(told, () => now);
  } finally {
    over = true;
  }
  return longest;
};

describe("the event loop turns", () => {
  test("while a page of a list is processed", async () => {
    let seen = 0;
    const longest = await longestRow(async (told, now) => {
      const over = new AbortController();
      const changed = (): void => {
        seen += 1;
        told();
      };
      const around = {
        transport,
        resource: pods,
        namespace: undefined,
        selector: undefined,
        trim,
        signal: over.signal,
      };
      const rest = { now, random: () => 0, pause: async () => {}, synced: () => {}, troubled: () => {} };
      await list({ ...around, ...rest, changed }, openWatchState(trim));
    });
    assert.equal(seen, many);
    assert.ok(longest <= 10, `${longest} objects in a row`);
  });

  test("while a resync sends the due keys", async () => {
    let sent = 0;
    const longest = await longestRow(async (told, now) => {
      const queue = {
        send: async () => {
          sent += 1;
          told();
        },
      };
      const operators = [{ kind: "Pod", resource: pods }];
      await resync(
        {
          cluster: "here",
          namespaces: [],
          selector: undefined,
          transport,
          queue,
          operators,
          breathe: openBreather(now),
        },
        "s1",
      );
    });
    assert.equal(sent, many);
    assert.ok(longest <= 50, `${longest} messages in a row`);
  });
});

describe("rounds of work", () => {
  test("follow each other after the ms that each returns, until they are stopped, which waits for the one in flight", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const ends: (() => void)[] = [];
    const ended = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const stop = startRounds(() => ended().then(() => 100), 10);
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(9);
    assert.equal(ends.length, 0);
    t.mock.timers.tick(1);
    assert.equal(ends.length, 1);
    ends[0]?.();
    await settled();
    t.mock.timers.tick(99);
    assert.equal(ends.length, 1);
    t.mock.timers.tick(1);
    assert.equal(ends.length, 2);
    let isOver = false;
    const over = stop().then(() => {
      isOver = true;
    });
    await settled();
    assert.equal(isOver, false);
    ends[1]?.();
    await over;
    t.mock.timers.tick(1_000);
    assert.equal(ends.length, 2);
  });

  test("begin at once without a first wait, and not at all after they are stopped", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let rounds = 0;
    const count = async (): Promise<number> => {
      rounds += 1;
      return 100;
    };
    await startRounds(count)();
    await startRounds(count, 10)();
    t.mock.timers.tick(1_000);
    assert.equal(rounds, 1);
  });
});

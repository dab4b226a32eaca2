/**
 * Batches: ten messages at most, groups in order, several requests at once, and a result for each sender's own message.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openBatches } from "../../../../shared/adapters/sqs/queue.ts";

type Posted = { readonly texts: readonly string[]; readonly end: (wrong?: readonly (Error | undefined)[]) => void };

/** Opens batches whose requests end when the test says so. */
const open = () => {
  const posted: Posted[] = [];
  const batches = openBatches<string>(
    (texts) =>
      new Promise((resolve) => {
        posted.push({ texts, end: (wrong = []) => resolve(wrong) });
      }),
  );
  const add = (text: string): Promise<void> => batches.add({ group: text.slice(0, 1), fields: text });
  return { posted, add };
};

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const letters = "abcdefghijklmnopqrstuvwxyz".split("");

describe("batches", () => {
  test("hold ten messages at most, and are sent at once", async () => {
    const { posted, add } = open();
    for (const letter of letters) void add(`${letter}1`);
    await settled();
    assert.deepEqual(
      posted.map(({ texts }) => texts.length),
      [10, 10, 6],
    );
  });

  test("of one group are sent one after the other, and block no other group", async () => {
    const { posted, add } = open();
    void add("a1");
    await settled();
    for (const text of ["a2", "b1", "a3"]) void add(text);
    await settled();
    assert.deepEqual(
      posted.map(({ texts }) => texts),
      [["a1"], ["b1"]],
    );
    posted[0]?.end();
    await settled();
    assert.deepEqual(posted[2]?.texts, ["a2", "a3"]);
  });

  test("are sent eight at a time at most", async () => {
    const { posted, add } = open();
    for (let number = 0; number < 9; number += 1) {
      void add(`${letters[number]}1`);
      await settled();
    }
    assert.equal(posted.length, 8);
    posted[0]?.end();
    await settled();
    assert.equal(posted.length, 9);
  });

  test("report to each sender the result of its own message", async () => {
    const { posted, add } = open();
    const adds = ["a1", "b1", "c1"].map(add);
    await settled();
    posted[0]?.end([undefined, new Error("not b")]);
    const ends = await Promise.allSettled(adds);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
  });

  test("that cannot be sent report the error to every sender, and the group continues", async () => {
    let away = true;
    const batches = openBatches<string>(async () => {
      if (away) throw new Error("away");
      return [];
    });
    const adds = ["a1", "b1"].map((fields) => batches.add({ group: "g", fields }));
    assert.equal((await Promise.allSettled(adds)).filter(({ status }) => status === "rejected").length, 2);
    away = false;
    await batches.add({ group: "g", fields: "a2" });
  });
});

/** The next update of a stream, by its outbox and its delivery's progress. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { appended } from "../../../shared/core/updates.ts";
import { acknowledged, dueOf, readCursor, retryMs } from "../../../shared/updates/cursor.ts";
import { openStreet } from "./street.ts";

const to = "https://listener.example/";
const word = (state: string) => ({ state, attempt: 1, terminal: false });
const at = { uid: "u", now: 1_000, to, begins: { stream: "new" } };
const outbox = appended(appended(undefined, word("A"), at), word("B"), at);

describe("the progress of a delivery", () => {
  test("on another stream does not count for this one, whatever its number", () => {
    const old = { stream: "old", acknowledged: 7, closed: true };
    const due = dueOf(outbox, old, to, 2_000);
    assert.ok(due.do === "send");
    assert.deepEqual([due.update.state, due.cursor.stream, due.cursor.acknowledged], ["A", "new", 0]);
    assert.equal(acknowledged(outbox, old, { stream: "new", sequence: 1 }), "unexpected");
    assert.equal(acknowledged(outbox, undefined, { stream: "new", sequence: 1 }), "unexpected");
  });

  test("is undefined if it cannot be parsed", () => {
    for (const stored of [null, {}, { stream: "s", acknowledged: -1, closed: false }, { stream: "", acknowledged: 0 }])
      assert.equal(readCursor(stored), undefined);
  });

  test("allows the next try after 10 s, and at most after 10 min", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 100].map(retryMs);
    assert.deepEqual(
      waits,
      [10, 20, 40, 80, 160, 320, 600, 600, 600].map((seconds) => seconds * 1_000),
    );
  });
});

test("a delivery that is held up after its claim sends nothing, because another one may have begun", async () => {
  const street = openStreet();
  let slow = true;
  street.fixture.after = (call) => {
    if (!slow || call !== "save 1" || street.fixture.record() === undefined) return;
    slow = street.fixture.calls.filter((one) => one === "save 1").length < 2;
    if (!slow) street.fixture.time.now += 6_000;
  };
  await street.enter("RUNNING");
  assert.deepEqual([street.heard.length, slow], [0, false]);
  await street.pass(20_000);
  assert.equal(street.heard.length, 1);
});

/**
 * The line about status updates: the waiting updates, since when, the listener's last answer; and no secret of its
 * address.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { updatesOf, updatesText } from "../../../shared/inspection/record.ts";

/** 2026-11-02T08:00:00Z. */
const eight = Date.UTC(2026, 10, 2, 8);
const entry = (sequence: number, state: string) => ({
  ...{ sequence, state, attempt: 1, terminal: false, uid: "u", at: eight + sequence * 60_000 },
});
const record = {
  ...{ schema: 1, uid: "u", saves: 3, memory: {} },
  outbox: {
    stream: "s",
    to: "https://listener.example/?token=hush",
    entries: [entry(1, "SUBMITTED"), entry(2, "RUNNING")],
  },
};
const delivery = (memory: Readonly<Record<string, unknown>>) => ({ schema: 1, uid: "u", saves: 1, memory });
const outstanding = { sequence: 1, to: "x", tries: 4, since: eight, nextAt: eight + 600_000, error: "it answered 500" };

describe("status updates on the command line", () => {
  test("are not printed without a listener, or when none wait", () => {
    assert.equal(updatesOf({ schema: 1, uid: "u", saves: 1, memory: {} }, undefined), undefined);
    const done = updatesOf(record, delivery({ stream: "s", acknowledged: 2, closed: false }));
    assert.deepEqual([done?.waiting, updatesText(done, eight)], [0, ""]);
  });

  test("are printed with their number, since when, and why", () => {
    const late = updatesOf(record, delivery({ stream: "s", acknowledged: 0, closed: false, outstanding }));
    const text = updatesText(late, eight + 300_000);
    assert.match(text, /^2 not acknowledged since .*; after 4 tries: it answered 500; next try /);
    assert.doesNotMatch(JSON.stringify(late) + text, /hush/);
  });

  test("of another stream, or unreadable, do not count", () => {
    for (const memory of [{ stream: "other", acknowledged: 2, closed: true }, { stream: 1 }])
      assert.deepEqual(updatesOf(record, delivery(memory))?.waiting, 2);
  });
});

/** Locks of groups: each change is conditional on the sequence that it replaces. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Refused } from "../../../../shared/adapters/nats/connection.ts";
import { openLocks } from "../../../../shared/adapters/nats/locks.ts";
import { namesOf } from "../../../../shared/adapters/nats/streams.ts";
import { type Asked, recordedNats } from "../../../support/nats.ts";

const names = namesOf("q");
const anothers = new Refused({ err_code: 10_071, description: "wrong last sequence" });
const stored = (seq: number, holder: string) => ({ message: { seq, data: Buffer.from(holder).toString("base64") } });

const open = (answer: (asked: Asked) => unknown) => {
  const nats = recordedNats(answer);
  return { nats, locks: openLocks(nats, names, "me") };
};

describe("locks of groups:", () => {
  test("a lock is taken if there is none, for whole seconds", async () => {
    const { nats, locks } = open(() => ({ seq: 7 }));
    assert.equal((await locks.take("a", 1_500, undefined))?.sequence, 7);
    assert.deepEqual(nats.asked, [
      {
        subject: "q.l.a",
        payload: "me",
        headers: { "Nats-Expected-Last-Subject-Sequence": "0", "Nats-TTL": "2" },
      },
    ]);
  });

  test("a lock that another worker has is not taken", async () => {
    const { locks } = open(() => anothers);
    assert.equal(await locks.take("a", 1_000, undefined), undefined);
  });

  test("a lock is extended only in place of itself", async () => {
    const { nats, locks } = open(() => ({ seq: 7 }));
    const lock = await locks.take("a", 10_000, undefined);
    assert.ok(lock !== undefined);
    await locks.move(lock, 10_000);
    assert.equal(nats.asked[1]?.headers["Nats-Expected-Last-Subject-Sequence"], "7");
  });

  test("a lock that has expired is neither extended nor released", async () => {
    const { nats, locks } = open(() => ({ seq: 7 }));
    const lock = await locks.take("a", 0, undefined);
    assert.ok(lock !== undefined);
    assert.deepEqual([await locks.move(lock, 1_000), await locks.release(lock)], [undefined, false]);
    assert.equal(nats.asked.length, 1);
  });

  test("after a new connection a lock is released only if the server still has it for this worker", async () => {
    for (const [holder, expected] of [
      ["me", true],
      ["another", false],
    ] as const) {
      const { nats, locks } = open(({ subject }) => (subject.includes("MSG.GET") ? stored(7, holder) : { seq: 7 }));
      const lock = await locks.take("a", 10_000, undefined);
      assert.ok(lock !== undefined);
      nats.reconnect();
      assert.equal(await locks.release(lock), expected);
    }
  });

  test("the end of a lock is published to the other workers, even if it had expired at the server", async () => {
    const { nats, locks } = open(({ subject }) =>
      subject.includes("MSG.DELETE") ? new Refused({ err_code: 10_043, description: "gone" }) : { seq: 7 },
    );
    const lock = await locks.take("a", 10_000, undefined);
    assert.ok(lock !== undefined);
    assert.equal(await locks.release(lock), false);
    const last = nats.asked.at(-1);
    assert.deepEqual([last?.subject, last?.payload], ["q.free", "a"]);
  });
});

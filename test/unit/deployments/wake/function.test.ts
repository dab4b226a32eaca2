/**
 * The wake function: a due timer becomes a key under its own id, and only a message that could not be sent comes again.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Message } from "../../../../shared/core/key.ts";
import { wake } from "../../../../shared/deployments/wake/function.ts";

const message: Message = { cluster: "c", kind: "Toy", namespace: "ns", name: "a", reason: "timer", tries: 2 };
const of = (id: string, body: unknown) => ({ id, received: 1, body: JSON.stringify(body) });

const run = async (bodies: readonly { id: string; body: string; received: number }[], broken = false) => {
  const sent: (readonly [Message, string])[] = [];
  const lines: string[] = [];
  const send = async (given: Message, id: string): Promise<void> => {
    if (broken) throw new Error("no permission");
    sent.push([given, id]);
  };
  const failed = await wake(send, (level, text) => lines.push(`${level} ${text}`), bodies);
  return { sent, lines, failed };
};

describe("a timer", () => {
  test("becomes a key under the id that it was armed with", async () => {
    const { sent, failed } = await run([of("m1", { message, id: "timer-1" }), of("m2", { message, id: "timer-2" })]);
    assert.deepEqual(
      [sent, failed],
      [
        [
          [message, "timer-1"],
          [message, "timer-2"],
        ],
        [],
      ],
    );
  });

  test("of a later version is left for that version", async () => {
    const later = { ...message, schema: 2, tries: "in another form" };
    const { sent, failed, lines } = await run([of("m1", { message: later, id: "t" }), of("m2", { message, id: "t" })]);
    assert.deepEqual([sent, failed], [[[message, "t"]], ["m1"]]);
    assert.deepEqual(lines, ["warn left a timer for the newer Rekindle that sent it"]);
  });

  test("that cannot be sent is delivered again, and one line has the reason", async () => {
    const { failed, lines } = await run([of("m1", { message, id: "timer-1" })], true);
    assert.deepEqual([failed, lines], [["m1"], ["warn cannot send a due timer on; it is delivered again"]]);
  });

  const poison = [
    { name: "a key without its envelope", body: message },
    { name: "an envelope without an id", body: { message } },
    { name: "an envelope with too long an id", body: { message, id: "x".repeat(129) } },
    { name: "an envelope around something else", body: { message: { hello: 1 }, id: "t" } },
    { name: "a number", body: 5 },
  ];
  for (const { name, body } of poison) {
    test(`that is ${name} is logged and dropped`, async () => {
      const { sent, failed, lines } = await run([of("m1", body)]);
      assert.deepEqual([sent, failed, lines], [[], [], ["error dropped a timer that is not Rekindle's"]]);
    });
  }
});

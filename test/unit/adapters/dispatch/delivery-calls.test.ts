/**
 * Calls of a function by the queue's workers: a message is acknowledged only by an answer, and what a function asks for
 * can neither lose messages nor make the dispatcher call without a wait.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { type Called, openAgents, openCall, takingBy } from "../../../../shared/adapters/dispatch/call.ts";
import { openQueue } from "../../../../shared/adapters/embedded/queue.ts";
import { startWorkers } from "../../../../shared/adapters/embedded/workers.ts";
import { messageOf } from "../../../real/queue/counter.ts";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const delivery = { group: "g", namespace: "ns", receipt: 1, messages: [messageOf("a", "1")], received: [1] };

/** Returns the waits after three calls that one function's server ends with this status, header and failed ids. */
const waitsAfter = async (
  status: number,
  retry: string,
  failed: readonly string[],
): Promise<readonly (readonly [string, number])[]> => {
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      const batchItemFailures = failed.map((itemIdentifier) => ({ itemIdentifier }));
      response.writeHead(status, { "retry-after": retry }).end(JSON.stringify({ batchItemFailures }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const agents = await openAgents({}, 1);
  const url = `http://127.0.0.1:${address.port}/`;
  const time = { now: 0 };
  const call = openCall({ url, limitMs: 20_000, leastAgainMs: 1_000, prove: undefined, agents, now: Date.now });
  const take = takingBy({ call, put: async () => {}, report: () => {}, now: () => time.now, random: () => 0 });
  const waits: [string, number][] = [];
  try {
    for (let round = 0; round < 3; round += 1) {
      const outcome = await take(delivery);
      if (outcome === "done") throw new Error("the delivery counts as done");
      waits.push([outcome.begun === false ? "uncounted" : "counted", outcome.againMs]);
      time.now += outcome.againMs;
    }
  } finally {
    agents.close();
    server.close();
  }
  return waits;
};

describe("a call of a function", () => {
  test("acknowledges no message before its answer, so that a broken call loses none", async (t) => {
    const time = { now: 1_000 };
    const queue = openQueue({ now: () => time.now, visibilityMs: 60_000, mostMessages: 10 });
    const calls: { readonly text: string; readonly end: (called: Called) => void }[] = [];
    const take = takingBy({
      call: ({ messages, received }) =>
        new Promise((end) => void calls.push({ text: `${messages[0]?.name}×${received[0]}`, end })),
      ...{ put: async () => {}, report: () => {}, now: () => time.now, random: () => 0 },
    });
    const workers = startWorkers({ queue, take, parallel: 2, againMs: 1_000, now: () => time.now });
    t.after(() => workers.stop(0));
    await queue.send(messageOf("a", "1"), "a1");
    await turns();
    assert.deepEqual([calls.length, queue.depth().ready], [1, 1]);
    calls[0]?.end({ did: "broke", why: "the process died" });
    await turns();
    assert.equal(queue.depth().ready, 1);
    time.now += 1_000;
    await queue.send(messageOf("b", "1"), "b1");
    await turns();
    assert.deepEqual(calls.map(({ text }) => text).sort(), ["a×1", "a×2", "b×1"]);
    for (const { end } of calls) end({ did: "answered", failed: [], carried: [] });
    await turns();
    assert.equal(queue.depth().ready, 0);
  });

  test("sends the messages of the answer to the queue before it acknowledges", async () => {
    const take = takingBy({
      call: async () => ({ did: "answered", failed: [], carried: [{ body: "{}", id: "later", delayMs: 5 }] }),
      put: () => Promise.reject(new Error("the queue takes nothing")),
      ...{ report: () => {}, now: () => 0, random: () => 0 },
    });
    await assert.rejects(take(delivery), /the queue takes nothing/);
  });

  for (const { what, status, failed, counted } of [
    { what: "an answer with failures", status: 200, failed: ["1.0"], counted: "counted" },
    { what: "a 429", status: 429, failed: [], counted: "uncounted" },
    { what: "a 503", status: 503, failed: [], counted: "uncounted" },
    { what: "a 500", status: 500, failed: [], counted: "counted" },
  ])
    test(`waits 1 s, 2 s and 4 s after ${what} without a wait`, async () => {
      assert.deepEqual(await waitsAfter(status, "0", failed), [
        [counted, 1_000],
        [counted, 2_000],
        [counted, 4_000],
      ]);
    });

  test("waits as long as an answer requests", async () => {
    assert.deepEqual(await waitsAfter(200, "7", ["1.0"]), [
      ["counted", 7_000],
      ["counted", 7_000],
      ["counted", 7_000],
    ]);
  });
});

/** The depths of queues that resync reads: dead messages and messages that no function receives are problems. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { openSqs } from "../../../../shared/adapters/sqs/client.ts";
import { openDepths } from "../../../../shared/deployments/resync/depths.ts";
import { sweepOnce } from "../../../../shared/deployments/resync/function.ts";
import { openFake } from "../../adapters/sqs/fake.ts";

/** Counts by the name of a queue: visible and received messages. */
type Counts = Readonly<Record<string, readonly [visible: number, received: number]>>;

const [dead, keys] = ["dead-keys.fifo", "keys.fifo"];

const open = async (counts: Counts) => {
  let present = counts;
  const set = (next: Counts): void => {
    present = next;
  };
  const lines: string[] = [];
  const requests: string[] = [];
  const fake = await openFake(({ action, input }) => {
    const queue = String(input["QueueUrl"]).split("/").at(-1) ?? "";
    requests.push(`${action} ${queue}`);
    const found = present[queue];
    if (found === undefined) return { error: "AccessDenied" };
    const [visible, received] = found.map(String);
    const policy = { deadLetterTargetArn: "arn:aws:sqs:eu-central-1:1:dead-keys.fifo", maxReceiveCount: 10 };
    return {
      body: {
        Attributes: {
          ApproximateNumberOfMessages: visible,
          ApproximateNumberOfMessagesNotVisible: received,
          ...(queue === dead ? {} : { RedrivePolicy: JSON.stringify(policy) }),
        },
      },
    };
  });
  after(fake.close);
  const report = (level: string, text: string): void => void lines.push(`${level} ${text}`);
  const read = openDepths([`${fake.url}/1/${keys}`], openSqs(), report);
  return { read, lines, requests, set };
};

describe("the depths of queues", () => {
  test("are read once for each queue, and empty queues are no problem", async () => {
    const { read, requests, lines } = await open({ [dead]: [0, 0], [keys]: [0, 0] });
    assert.deepEqual(await read(), []);
    assert.deepEqual(requests, ["GetQueueAttributes keys.fifo", "GetQueueAttributes dead-keys.fifo"]);
    assert.deepEqual(lines, []);
  });

  test("a dead message is a problem at once, and until it is gone", async () => {
    const { read, lines, set } = await open({ [dead]: [2, 1], [keys]: [0, 0] });
    assert.deepEqual(await read(), ["dead messages in dead-keys.fifo: 3"]);
    assert.deepEqual(await read(), ["dead messages in dead-keys.fifo: 3"]);
    assert.deepEqual(lines[0], "error resync: dead messages in dead-keys.fifo: 3");
    set({ [dead]: [0, 0], [keys]: [0, 0] });
    assert.deepEqual(await read(), []);
  });

  test("messages that wait while none is received are a problem at the second reading in a row", async () => {
    const { read, set } = await open({ [dead]: [0, 0], [keys]: [7, 0] });
    assert.deepEqual(await read(), []);
    assert.deepEqual(await read(), ["messages in keys.fifo that no function receives: 7"]);
    set({ [dead]: [0, 0], [keys]: [7, 1] });
    assert.deepEqual(await read(), []);
    set({ [dead]: [0, 0], [keys]: [9, 0] });
    assert.deepEqual(await read(), []);
    assert.deepEqual(await read(), ["messages in keys.fifo that no function receives: 9"]);
  });

  test("a queue that cannot be read is a warning, and the others are still read", async () => {
    const { read, lines } = await open({ [keys]: [3, 0] });
    await read();
    assert.deepEqual(await read(), ["messages in keys.fifo that no function receives: 3"]);
    assert.deepEqual(lines, [
      "warn resync: the depth of a queue is unknown",
      "warn resync: the depth of a queue is unknown",
      "error resync: messages in keys.fifo that no function receives: 3",
    ]);
  });

  test("are read before a resync sends, and returned with its result", async () => {
    const order: string[] = [];
    const scope = {
      ...{ cluster: "c1", namespaces: ["default"], selector: undefined, operators: [] },
      transport: { send: () => Promise.reject(new Error("unused")), stream: () => Promise.reject(new Error("unused")) },
      hints: async () => {
        order.push("hints");
        return [];
      },
      queue: { send: async () => {} },
    };
    const cursors = { load: async () => undefined, save: async () => {} };
    const depths = async (): Promise<readonly string[]> => {
      order.push("depths");
      return ["dead messages in a: 1"];
    };
    const swept = await sweepOnce({ scope, cursors, report: () => {}, depths }, "run-1", () => false);
    assert.deepEqual([swept.problems, swept.sent, order], [["dead messages in a: 1"], 0, ["depths", "hints"]]);
  });
});

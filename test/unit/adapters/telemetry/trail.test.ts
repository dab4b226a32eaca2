/** Requests, sends and log lines carry the trace of their message, however many messages are under way at once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openTelemetry } from "../../../../shared/adapters/telemetry/tracing.ts";
import type { HttpRequest, Transport } from "../../../../shared/core/http.ts";
import { begun, idOf, type Message, traceForm } from "../../../../shared/core/key.ts";
import { readMessage } from "../../../../shared/engine/message.ts";
import type { Queue } from "../../../../shared/engine/ports.ts";

const message = (name: string, trace?: string): Message => ({
  ...{ cluster: "c", kind: "Toy", namespace: "ns", name, reason: "test" },
  ...(trace === undefined ? {} : { trace }),
});

const open = () => {
  const lines: (readonly [string, unknown])[] = [];
  const requests: HttpRequest[] = [];
  const sent: Message[] = [];
  const trail = openTelemetry({
    report: (_, text, fields) => void lines.push([text, fields?.["trace"]]),
    level: "info",
    spans: undefined,
  });
  const transport = trail.transport({
    send: async (asked) => {
      requests.push(asked);
      return { status: 200, headers: {}, body: "" };
    },
    stream: () => Promise.reject(new Error("not here")),
  } satisfies Transport);
  const queue = trail.queue({
    send: async (one) => void sent.push(one),
    sendLater: async (one) => void sent.push(one),
  } satisfies Queue);
  const ask = () => transport.send({ method: "GET", path: "/", headers: { a: "b" }, timeoutMs: 1 });
  return { trail, lines, requests, sent, queue, ask };
};

const [one, two] = [begun("one"), begun("two")];

describe("a trace", () => {
  test("begins with a sent message, and is the same for copies of one event", async () => {
    const { queue, sent, lines } = open();
    await queue.send(message("a"), "x");
    await queue.send(message("a"), "x");
    await queue.sendLater(message("a"), "y", 5.5);
    const traces = sent.map(({ trace = "" }) => trace);
    assert.ok(traces.every((trace) => traceForm.test(trace)));
    assert.deepEqual([traces[0] === traces[1], traces[1] === traces[2]], [true, false]);
    assert.deepEqual(
      lines,
      traces.map((trace) => ["sent", idOf(trace)]),
    );
  });

  test("continues in the log lines, requests and messages of its message's step", async () => {
    const { trail, queue, sent, lines, requests, ask } = open();
    await trail.within(message("a", one), async () => {
      trail.report("info", "at work");
      await ask();
      await ask();
      await queue.sendLater(message("b"), "z", 1_000);
    });
    assert.deepEqual(lines, [
      ["at work", idOf(one)],
      ["sent", idOf(one)],
    ]);
    assert.deepEqual(
      sent.map(({ trace }) => trace),
      [one],
    );
    assert.deepEqual(
      requests.map(({ headers: { a, traceparent } }) => [a, traceparent]),
      [
        ["b", one],
        ["b", one],
      ],
    );
    const ids = requests.map(({ headers }) => headers["audit-id"] ?? "");
    assert.ok(ids.every((id) => id.startsWith(`${idOf(one)}-`) && id.length <= 64));
    assert.equal(new Set(ids).size, 2);
  });

  test("belongs to one message, however many steps run at once", async () => {
    const { trail, lines, ask, requests } = open();
    const work = (name: string) => async (): Promise<void> => {
      await turn();
      trail.report("info", name);
      await ask();
    };
    await Promise.all([trail.within(message("a", one), work("1")), trail.within(message("b", two), work("2"))]);
    assert.deepEqual(lines, [
      ["1", idOf(one)],
      ["2", idOf(two)],
    ]);
    assert.deepEqual(
      requests.map(({ headers }) => headers["traceparent"]),
      [one, two],
    );
  });

  test("is absent from work without a message", async () => {
    const { trail, lines, ask, requests } = open();
    trail.report("info", "serving");
    await ask();
    assert.deepEqual(lines, [["serving", undefined]]);
    assert.deepEqual(requests[0]?.headers, { a: "b" });
  });

  const rows: readonly (readonly [given: unknown, read: string | undefined])[] = [
    [one, one],
    [undefined, undefined],
    [`00-${"0".repeat(32)}-${"b".repeat(16)}-01`, undefined],
    ["nonsense", undefined],
    [{ a: 1 }, undefined],
  ];
  for (const [given, read] of rows) {
    test(`is ${read === undefined ? "not " : ""}read from ${JSON.stringify(given)}, and the message is valid`, () => {
      const got = readMessage(JSON.stringify({ ...message("a"), trace: given }));
      assert.deepEqual([got?.name, got?.trace], ["a", read]);
    });
  }
});

/** The size limit of an answer, against a server in this process. */
import assert from "node:assert/strict";
import http, { type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { openBodies } from "../../../../shared/adapters/kubernetes/bodies.ts";
import { httpsTransport } from "../../../../shared/adapters/kubernetes/https.ts";

/** Opens a transport to a server of this process; both are closed after the test. */
const opened = async (context: TestContext, answer: http.RequestListener) => {
  const server = http.createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const transport = httpsTransport({ server: `http://127.0.0.1:${port}` });
  context.after(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });
  return transport;
};

test("an endless answer fails after 16 MiB by default", async (context) => {
  let sent = 0;
  const chunk = Buffer.alloc(65_536, "x");
  const transport = await opened(context, (_, answer) => {
    const more = (): void => {
      do sent += chunk.length;
      while (!answer.destroyed && answer.write(chunk));
      if (!answer.destroyed) answer.once("drain", more);
    };
    more();
  });
  const asked = transport.send({ method: "GET", path: "/", headers: {}, timeoutMs: 20_000 });
  await assert.rejects(asked, { name: "ApiError", status: 0, reason: "TooLong" });
  assert.ok(sent < 64e6, `${sent} bytes were sent`);
});

test("an answer longer than its limit fails, and one within its limit is returned", async (context) => {
  const transport = await opened(context, (_, answer) => void answer.end("x".repeat(100_000)));
  const limited = (limitBytes: number) =>
    transport.send({ method: "GET", path: "/", headers: {}, timeoutMs: 2_000, limitBytes });
  await assert.rejects(limited(99_999), { name: "ApiError", status: 0, reason: "TooLong" });
  assert.equal((await limited(100_000)).body.length, 100_000);
});

test("a compressed answer is unpacked, and fails if its text is longer than the limit or broken", async (context) => {
  const packed = gzipSync("ü".repeat(50_000));
  const asked: unknown[] = [];
  const transport = await opened(context, (incoming, answer) => {
    asked.push(incoming.headers["accept-encoding"]);
    answer.writeHead(200, { "content-encoding": "gzip" });
    answer.end(incoming.url === "/broken" ? packed.subarray(0, 50) : packed);
  });
  const read = (path: string, limitBytes: number) =>
    transport.send({ method: "GET", path, headers: {}, timeoutMs: 2_000, limitBytes });
  assert.ok(packed.length < 1_000);
  assert.equal((await read("/", 100_000)).body, "ü".repeat(50_000));
  await assert.rejects(read("/", 99_999), { name: "ApiError", status: 0, reason: "TooLong" });
  await assert.rejects(read("/broken", 100_000), { name: "ApiError", status: 0, reason: "Unreachable" });
  assert.deepEqual(asked, ["gzip", "gzip", "gzip"]);
});

test("long simultaneous answers leave a turn of the event loop between each two", async (context) => {
  const transport = await opened(context, (_, answer) => void answer.end("x".repeat(300_000)));
  let turns = 0;
  let open = true;
  const count = (): void => {
    turns += 1;
    if (open) setImmediate(count);
  };
  setImmediate(count);
  context.after(() => {
    open = false;
  });
  const parsedAt = await Promise.all(
    Array.from({ length: 24 }, async () => {
      await transport.send({ method: "GET", path: "/", headers: {}, timeoutMs: 5_000 });
      return turns;
    }),
  );
  assert.equal(new Set(parsedAt).size, 24, `answers were given at turns ${parsedAt.join(", ")}`);
});

test("of answers without a usual length four are read at a time, and the others wait", async () => {
  const read = openBodies();
  const opened = Array.from({ length: 6 }, () => Object.assign(new PassThrough(), { headers: {} }));
  const texts = opened.map((one) =>
    read({ method: "GET", path: "/", headers: {}, timeoutMs: 5_000 }, one as unknown as IncomingMessage),
  );
  const waiting = async (): Promise<readonly number[]> => {
    for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    return opened.flatMap((one, at) => (one.isPaused() ? [at] : []));
  };
  const usual = Buffer.alloc(7 * 1_024 * 1_024, "x");
  for (const one of opened) one.write(usual);
  assert.deepEqual(await waiting(), [], "each has the length of a page");
  for (const one of opened) one.write(usual);
  assert.deepEqual(await waiting(), [4, 5]);
  opened[0]?.end();
  assert.equal((await texts[0])?.length, 2 * usual.length);
  assert.deepEqual(await waiting(), [5]);
  opened[1]?.destroy(new Error("the connection is cut"));
  await assert.rejects(texts[1] ?? Promise.resolve());
  assert.deepEqual(await waiting(), []);
  for (const one of opened.slice(2)) one.end();
  for (const text of texts.slice(2)) assert.equal((await text).length, 2 * usual.length);
});

/** The bounds of a port: crowds of connections and of unfinished bodies, and an honest request among them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { requestListener } from "../../../../shared/deployments/http/process.ts";
import { limitBody } from "../../../../shared/deployments/http/request-body.ts";
import { type Answering, listenAt, openPort } from "../../../../shared/deployments/http/server.ts";

const mebibyte = 1_048_576;

const echo: Answering = (_, response, receive) =>
  void receive().then((body) => body !== undefined && response.end(String(body.length)));

/** An app whose callers prove themselves by a header. `open`: requests whose bodies it reads. */
const guarded = () => {
  let open = 0;
  const app = new Hono();
  app.use(limitBody(mebibyte));
  app.post("/", async (c) => {
    if (c.req.header("authorization") === undefined) return c.text("who?", 401);
    open += 1;
    try {
      return c.text(String((await c.req.text()).length));
    } finally {
      open -= 1;
    }
  });
  return { answer: requestListener(app.fetch), open: () => open };
};

describe("a port", () => {
  let server: Server | undefined;
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server?.closeAllConnections();
    server?.close();
  });

  const opened = async (answer: Answering, longest?: number): Promise<number> => {
    server = openPort(answer, longest);
    return await listenAt(server, { hostname: "127.0.0.1", port: 0 });
  };

  /** Node's own limits of time, which a slow machine would reach, do not end a connection. */
  const withoutNodesLimits = (): void => void Object.assign(server ?? {}, { headersTimeout: 0, requestTimeout: 0 });

  /** Connects and sends a text; the connection stays as it is. */
  const held = async (port: number, text: string, from = "127.0.0.1"): Promise<Socket> => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    socket.on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    if (text !== "") socket.write(text);
    return socket;
  };

  /** Collects what the server tells these connections. */
  const heardBy = (all: readonly Socket[]): readonly string[] => {
    const heard: string[] = [];
    for (const socket of all)
      socket.on("data", (chunk: Buffer) => {
        heard.push(chunk.toString());
      });
    return heard;
  };

  const unfinished = (bytes: number, sent: number): string =>
    `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n${"x".repeat(sent)}`;

  /** Posts a whole body; returns status and answer, or the error. */
  const post = (port: number, bytes: number, from = "127.0.0.1", { path = "/", headers = {} } = {}): Promise<string> =>
    new Promise((resolve) => {
      const options = {
        port,
        host: "127.0.0.1",
        path,
        headers,
        method: "POST",
        localAddress: from,
        agent: false,
        timeout: 3_000,
      };
      const sent = request(options, (answer) => {
        let text = "";
        answer.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.once("end", () => resolve(`${answer.statusCode} ${text}`));
      });
      sent.once("timeout", () => sent.destroy(new Error("no answer within 3 s")));
      sent.once("error", ({ message }) => resolve(message));
      sent.end("x".repeat(bytes));
    });

  test("ends a connection that sends requests before it has the answers, and answers those that wait for them", async () => {
    let asked = 0;
    const port = await opened((_, response) => {
      asked += 1;
      response.end("ok");
    });
    const get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    const hasty = await held(port, get.repeat(100));
    hasty.resume();
    await once(hasty, "close");
    assert.equal(asked, 1);
    const patient = await held(port, "");
    for (let nth = 0; nth < 3; nth += 1) {
      patient.write(get);
      const [answer] = await once(patient, "data");
      assert.match(String(answer), /^HTTP\/1\.1 200 /);
    }
    assert.equal(asked, 4);
  });

  test("answers a client that has its answer before Node knows that it has left, as over TLS", async () => {
    const port = await opened((_, response) => {
      Object.defineProperty(response, "writableFinished", { value: false });
      response.end("ok");
    });
    const prompt = await held(port, "");
    for (let nth = 0; nth < 3; nth += 1) {
      prompt.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      const [answer] = await once(prompt, "data");
      assert.match(String(answer), /^HTTP\/1\.1 200 /);
    }
  });

  test("holds 32 MiB of unfinished bodies at most, and answers a small request at once", async (t) => {
    // The look at slow senders stands still, so an answer that waited for it would never come.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const port = await opened(echo, 8 * mebibyte);
    withoutNodesLimits();
    const served: Socket[] = [];
    server?.on("connection", (socket) => served.push(socket));
    const crowd = Array.from({ length: 40 }, () => held(port, unfinished(8 * mebibyte, 4 * mebibyte)));
    const heard = heardBy(await Promise.all(crowd));
    assert.equal(await post(port, 5_000), "200 5000");
    assert.deepEqual(heard, [], "the small request waited for a slow sender");
    t.mock.timers.reset();
    await sleep(200);
    const taken = served.reduce((sum, { bytesRead }) => sum + bytesRead, 0) / mebibyte;
    assert.ok(taken < 34, `the port has taken ${Math.round(taken)} MiB`);
  });

  test("dismisses slow senders of a caller for its own large body", async () => {
    const port = await opened(echo, 8 * mebibyte);
    const crowd = Array.from({ length: 10 }, () => held(port, unfinished(8 * mebibyte, 100_000)));
    await Promise.all(crowd);
    await sleep(100);
    assert.equal(await post(port, 3 * mebibyte), `200 ${3 * mebibyte}`);
  });

  test("gives a caller room for a large body at once, whatever another one sends", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const port = await opened(echo, 8 * mebibyte);
    withoutNodesLimits();
    const sizes = [8, 4, 2, 1, 0.5, 0.25].map((size) => size * mebibyte);
    const crowd: Socket[] = [];
    for (const size of sizes) crowd.push(await held(port, unfinished(size, 10_000), "127.0.0.2"));
    const heard = heardBy(crowd);
    for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await post(port, 3 * mebibyte), `200 ${3 * mebibyte}`);
    assert.deepEqual(heard, [], "it waited for a sender of another caller");
  });

  test("tells a slow sender why its request ends", async () => {
    const port = await opened(echo, mebibyte);
    const crowd = Array.from({ length: 40 }, () => held(port, unfinished(mebibyte, 10)));
    const heard = heardBy(await Promise.all(crowd));
    await sleep(1_200);
    assert.match(heard[0] ?? "", /^HTTP\/1.1 408 [\s\S]*came too slowly while other requests waited/);
  });

  test("ends idle connections of the caller that has most of them, and answers a new one", async () => {
    const going = Promise.withResolvers<void>();
    const port = await opened(async (_, response, receive) => {
      const isLate = (await receive())?.length === 3;
      if (isLate) await going.promise;
      response.end(isLate ? "late" : "now");
    });
    const worked = post(port, 3);
    const other = await held(port, "", "127.0.0.3");
    let hasEnded = false;
    other.once("close", () => {
      hasEnded = true;
    });
    for (let batch = 0; batch < 6; batch += 1) await Promise.all(Array.from({ length: 100 }, () => held(port, "")));
    assert.equal(await post(port, 10), "200 now");
    const count = await new Promise<number>((resolve) => server?.getConnections((_, found) => resolve(found)));
    assert.ok(count <= 513, `${count} connections are open`);
    going.resolve();
    assert.equal(await worked, "200 late", "the connection that the port worked for has ended");
    assert.equal(hasEnded, false, "the connection of a caller with only one has ended");
  });

  test("answers a slow sender at once whose body it does not need, and gives it no room", async () => {
    const port = await opened((incoming, response, receive) => {
      if (incoming.url === "/proven") return echo(incoming, response, receive);
      response.writeHead(401).end("who are you");
    }, mebibyte);
    const crowd = Array.from({ length: 40 }, () => held(port, unfinished(mebibyte, 10)));
    const heard = heardBy(await Promise.all(crowd));
    const began = performance.now();
    while (heard.length < 40 && performance.now() - began < 2_000) await sleep(10);
    assert.equal(heard.filter((text) => text.startsWith("HTTP/1.1 401 ")).length, 40);
    assert.equal(await post(port, mebibyte, "127.0.0.1", { path: "/proven" }), `200 ${mebibyte}`);
  });

  test("gives the room of an answered request back", async () => {
    const port = await opened(echo, 8 * mebibyte);
    for (let nth = 0; nth < 12; nth += 1) assert.equal(await post(port, 8 * mebibyte), `200 ${8 * mebibyte}`);
  });

  const proof = { authorization: "a" };

  for (const [form, head] of [
    ["declared", `content-length: ${mebibyte / 2}`],
    ["chunked", "transfer-encoding: chunked"],
  ])
    test(`answers slow senders without proof before their ${form} bodies arrive, and keeps no room for them`, async (t) => {
      const port = await opened(guarded().answer, mebibyte);
      // No answer may come from a deadline, or from the look at slow senders.
      t.mock.timers.enable({ apis: ["setTimeout"] });
      const text = `POST / HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n`;
      const heard = heardBy(await Promise.all(Array.from({ length: 64 }, () => held(port, text))));
      assert.equal(await post(port, mebibyte, "127.0.0.1", { headers: proof }), `200 ${mebibyte}`);
      for (let turns = 0; turns < 200 && heard.length < 64; turns += 1) {
        t.mock.timers.tick(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const answers = heard.map((answer) => answer.slice(0, 12));
      assert.deepEqual(answers, Array(64).fill("HTTP/1.1 401"));
    });

  test("tells a slow sender why its request ends, and the app that it has ended", async () => {
    const { answer, open } = guarded();
    const port = await opened(answer, mebibyte);
    const text = `POST / HTTP/1.1\r\nhost: a\r\nauthorization: a\r\ncontent-length: ${mebibyte}\r\n\r\nx`;
    const crowd = await Promise.all(Array.from({ length: 40 }, () => held(port, text)));
    const heard = heardBy(crowd);
    await sleep(1_200);
    assert.match(heard[0] ?? "", /^HTTP\/1.1 408 [\s\S]*came too slowly while other requests waited"}\r\n0\r\n\r\n$/);
    for (const socket of crowd) socket.destroy();
    for (let tries = 0; tries < 100 && open() > 0; tries += 1) await sleep(10);
    assert.equal(open(), 0, "the app still waits for bodies of requests that have ended");
  });

  test("refuses a chunked body that is longer than its path allows", async () => {
    const port = await opened(guarded().answer, 2 * mebibyte);
    const headers = { ...proof, "transfer-encoding": "chunked" };
    assert.equal(await post(port, 1.5 * mebibyte, "127.0.0.1", { headers }), '413 {"error":"body too large"}');
    assert.equal(await post(port, 10, "127.0.0.1", { headers }), "200 10");
  });
});

/**
 * The HTTPS transport to an API server: deadlines, typed failures, keep-alive and streams, against a server in this
 * process.
 */
import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import type { Credential } from "../../../../shared/adapters/kubernetes/credentials.ts";
import { type Endpoint, httpsTransport } from "../../../../shared/adapters/kubernetes/https.ts";
import { ApiError, type HttpRequest } from "../../../../shared/core/http.ts";

type Handler = (incoming: http.IncomingMessage, answer: http.ServerResponse) => void;

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

/** Opens a server on a free port of 127.0.0.1 and a transport to it. */
const serve = async (handler: Handler, endpoint: Partial<Endpoint> = {}) => {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = httpsTransport({ server: `http://127.0.0.1:${port}`, ...endpoint });
  closers.push(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });
  return { transport, server, port };
};

const get = (path: string, timeoutMs = 2_000): HttpRequest => ({ method: "GET", path, headers: {}, timeoutMs });

const bodyOf = async (incoming: http.IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe("a request", () => {
  it("sends method, path, headers and body, and returns status, headers and body", async () => {
    const { transport } = await serve(async (incoming, answer) => {
      const body = await bodyOf(incoming);
      const { method, url, headers } = incoming;
      answer.writeHead(201, { "X-Seen": `${method} ${url} ${headers["content-type"]} ${headers["content-length"]}` });
      answer.end(`→ ${body}`);
    });
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      const answer = await transport.send({
        method,
        path: "/a?b=c",
        headers: { "content-type": "application/json" },
        body: '{"ü":1}',
        timeoutMs: 2_000,
      });
      assert.equal(answer.status, 201);
      assert.equal(answer.headers["x-seen"], `${method} /a?b=c application/json 8`);
      assert.equal(answer.body, '→ {"ü":1}');
    }
  });

  it("keeps the path of the server's URL and sends the endpoint's own headers", async () => {
    const { transport, port } = await serve((incoming, answer) =>
      answer.end(`${incoming.url} ${incoming.headers["x-a"]}`),
    );
    transport.close();
    const behind = httpsTransport({ server: `http://127.0.0.1:${port}/k8s/c-1/`, headers: { "x-a": "b" } });
    closers.push(behind.close);
    assert.equal((await behind.send(get("/api"))).body, "/k8s/c-1/api b");
  });

  it("uses one kept connection for requests one after the other", async () => {
    const { transport, server } = await serve((_, answer) => answer.end("{}"));
    let connections = 0;
    server.on("connection", () => {
      connections += 1;
    });
    for (let i = 0; i < 5; i += 1) await transport.send(get("/"));
    assert.equal(connections, 1);
  });

  const hanging: Record<string, Handler> = {
    "no head": () => {},
    "half a body": (_, answer) => {
      answer.write("{");
    },
  };
  for (const [name, handler] of Object.entries(hanging)) {
    it(`fails when its time limit ends: ${name}`, async () => {
      const { transport } = await serve(handler);
      await assert.rejects(transport.send(get("/slow?x=1", 60)), (error) => {
        assert.ok(error instanceof ApiError);
        assert.deepEqual([error.status, error.reason], [0, "Timeout"]);
        assert.equal(error.message, "GET /slow: no answer within 60 ms");
        return true;
      });
    });
  }

  it("counts the wait for a free connection towards its time limit", async () => {
    const { transport } = await serve(() => {}, { maxSockets: 1 });
    const both = await Promise.allSettled([transport.send(get("/1", 60)), transport.send(get("/2", 60))]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["rejected", "rejected"],
    );
  });

  const broken: Record<string, { handler: Handler; method: "GET" | "POST" }> = {
    "a reset before the head": { handler: (incoming) => incoming.socket.destroy(), method: "POST" },
    "a reset within the body": {
      handler: (incoming, answer) => {
        answer.writeHead(200, { "content-length": "10" });
        answer.write("12345", () => incoming.socket.destroy());
      },
      method: "GET",
    },
  };
  for (const [name, { handler, method }] of Object.entries(broken)) {
    it(`is Unreachable after ${name}`, async () => {
      const { transport } = await serve(handler);
      await assert.rejects(transport.send({ ...get("/"), method }), {
        name: "ApiError",
        status: 0,
        reason: "Unreachable",
      });
    });
  }

  for (const server of ["http://127.0.0.1:1", "https://127.0.0.1:1", "http://no-such-host.invalid"]) {
    it(`is Unreachable, with a message, if no server listens: ${server}`, async () => {
      const transport = httpsTransport({ server });
      await assert.rejects(transport.send(get("/api")), (error) => {
        assert.ok(error instanceof ApiError);
        assert.deepEqual([error.status, error.reason], [0, "Unreachable"]);
        assert.match(error.message, /^GET \/api: .*(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)/);
        return true;
      });
    });
  }

  it("repeats a read over a connection that the server had closed, and never repeats a write", async () => {
    let seen = 0;
    const { transport } = await serve((incoming, answer) => {
      seen += 1;
      if (seen % 2 === 0) incoming.socket.destroy();
      else answer.end("{}");
    });
    await transport.send(get("/1"));
    assert.equal((await transport.send(get("/2"))).status, 200);
    assert.equal(seen, 3);
    await assert.rejects(transport.send({ ...get("/3"), method: "POST" }), { reason: "Unreachable" });
    assert.equal(seen, 4);
  });
});

describe("credentials", () => {
  const guarded =
    (good: string): Handler =>
    (incoming, answer) => {
      answer.statusCode = incoming.headers.authorization === `Bearer ${good}` ? 200 : 401;
      answer.end("{}");
    };

  it("that are fixed are sent, and a 401 is returned", async () => {
    const { transport } = await serve(guarded("t2"), { auth: { token: "t1" } });
    assert.equal((await transport.send(get("/"))).status, 401);
  });

  it("are fetched once for all requests, kept, and renewed once after a 401", async () => {
    let fetched = 0;
    const provider = async () => {
      fetched += 1;
      return { token: `t${fetched}` };
    };
    const { transport } = await serve(guarded("t2"), { auth: { provider } });
    const answers = await Promise.all([1, 2, 3].map(() => transport.send(get("/"))));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(fetched, 2);
    assert.equal((await transport.send(get("/"))).status, 200);
    assert.equal(fetched, 2);
  });

  it("that stay refused are fetched once more for each request", async () => {
    let fetched = 0;
    const provider = async () => {
      fetched += 1;
      return { token: "bad" };
    };
    const { transport } = await serve(guarded("good"), { auth: { provider } });
    assert.equal((await transport.send(get("/"))).status, 401);
    assert.equal(fetched, 2);
  });

  const failing: Record<string, { provider: () => Promise<Credential>; status: number; message: RegExp }> = {
    "cannot be fetched": { provider: () => Promise.reject(new Error("no plugin")), status: 401, message: /no plugin/ },
    "throw synchronously": {
      provider: () => {
        throw new Error("broken plugin");
      },
      status: 401,
      message: /broken plugin/,
    },
    "are never fetched": { provider: () => new Promise(() => {}), status: 0, message: /within 50 ms/ },
  };
  for (const [name, { provider, status, message }] of Object.entries(failing)) {
    it(`that ${name} make every request fail with one line`, async () => {
      const { transport } = await serve(() => {}, { auth: { provider } });
      await assert.rejects(transport.send(get("/", 50)), { name: "ApiError", status, message });
      await assert.rejects(transport.send(get("/", 50)), { name: "ApiError", status, message });
    });
  }
});

describe("a stream", () => {
  const collect = async (lines: AsyncIterable<string>): Promise<string[]> => {
    const seen: string[] = [];
    for await (const line of lines) seen.push(line);
    return seen;
  };

  it("returns whole lines, however the bytes were cut, and splits at newlines only", async () => {
    const text = ['{"a":"grün 🐘"}', '{"b":"line\u2028separator\u0085next\u000b"}', '{"c":3}'].join("\n");
    const bytes = Buffer.from(`${text}\n\n{"half":`);
    const { transport } = await serve((_, answer) => {
      const next = (at: number): void => {
        if (at >= bytes.length) answer.end();
        else answer.write(bytes.subarray(at, at + 1), () => next(at + 1));
      };
      next(0);
    });
    const stream = await transport.stream(get("/watch"));
    assert.deepEqual(await collect(stream.lines), text.split("\n"));
  });

  it("with a status other than 200 returns its body as one line", async () => {
    const { transport } = await serve((_, answer) => {
      answer.statusCode = 410;
      answer.end('{"kind":\n"Status"}');
    });
    const stream = await transport.stream(get("/watch"));
    assert.equal(stream.status, 410);
    assert.deepEqual(await collect(stream.lines), ['{"kind":\n"Status"}']);
  });

  it("takes no connection from requests", async () => {
    const { transport } = await serve(
      (incoming, answer) => {
        if (incoming.url === "/watch") answer.write("1\n");
        else answer.end("here");
      },
      { maxSockets: 1 },
    );
    const streams = [await transport.stream(get("/watch")), await transport.stream(get("/watch"))];
    assert.equal((await transport.send(get("/"))).body, "here");
    for (const { close } of streams) close();
  });

  it("has no deadline after its head, and fails when it is silent for too long", async () => {
    const { transport } = await serve((_, answer) => answer.write("1\n"), { stallMs: 80 });
    const stream = await transport.stream(get("/watch", 1_000));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const line of stream.lines) seen.push(line);
    })();
    await assert.rejects(reading, {
      name: "ApiError",
      status: 0,
      reason: "Timeout",
      message: "GET /watch: no data for 80 ms",
    });
    assert.deepEqual(seen, ["1"]);
  });

  it("ends without an error when the reader closes or leaves it", async () => {
    const { transport } = await serve((_, answer) => answer.write("1\n2\n"));
    const closed = await transport.stream(get("/watch"));
    setImmediate(closed.close);
    await collect(closed.lines);
    const left = await transport.stream(get("/watch"));
    for await (const line of left.lines) {
      assert.equal(line, "1");
      break;
    }
  });

  it("that breaks is Unreachable", async () => {
    const { transport } = await serve((incoming, answer) => {
      answer.write("1\n", () => setTimeout(() => incoming.socket.destroy(), 10));
    });
    const stream = await transport.stream(get("/watch"));
    await assert.rejects(collect(stream.lines), { status: 0, reason: "Unreachable" });
  });

  it("that ends leaves its connection to the next stream", async () => {
    const { transport, server } = await serve((_, answer) => answer.end("1\n"));
    let connections = 0;
    server.on("connection", () => {
      connections += 1;
    });
    for (let i = 0; i < 12; i += 1) {
      const stream = await transport.stream(get("/watch"));
      assert.deepEqual(await collect(stream.lines), ["1"]);
    }
    assert.equal(connections, 1);
  });
});

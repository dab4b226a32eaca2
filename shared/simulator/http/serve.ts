/**
 * Serves a simulator over HTTP on a port of loopback, for kubectl: admission webhooks are called, and a kubeconfig is
 * made for it. Long answers are streams: watches over WebSockets (RFC 6455) as Spark's client opens them, and followed
 * logs as `kubectl logs -f` asks for them.
 */
import { createHash } from "node:crypto";
import { type IncomingMessage, request as plain, type Server } from "node:http";
import { request as secure } from "node:https";
import type { Duplex } from "node:stream";
import { serve as listen } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import type { Answer } from "../api/answer.ts";
import type { ApiAccess } from "../api/handler.ts";
import type { Feed, OpenWatch } from "../api/watch.ts";
import { mainExit } from "../nodes/pod-status.ts";
import type { Simulator } from "../open.ts";
import { jsonOfProtobuf, protobufType } from "../schema/protobuf.ts";
import { drive, type Pace } from "../storage/clock.ts";
import { fieldsAt, withAt } from "../storage/json.ts";
import { keyOf } from "../storage/store.ts";
import { Unanswered } from "../verbs/admission.ts";
import { type ApiRequest, ownToken } from "../verbs/request.ts";
import type { Admit, Webhook } from "../verbs/webhooks.ts";

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const text = 0x1;
const close = 0x8;
const ping = 0x9;
const pong = 0xa;

const frame = (code: number, payload: Buffer): Buffer => {
  const { length } = payload;
  const head = [0x80 | code];
  if (length < 126) return Buffer.concat([Buffer.from([...head, length]), payload]);
  const size = Buffer.alloc(length < 65_536 ? 2 : 8);
  if (length < 65_536) size.writeUInt16BE(length);
  else size.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Buffer.from([...head, length < 65_536 ? 126 : 127]), size, payload]);
};

type Frame = { readonly code: number; readonly payload: Buffer; readonly size: number };

const shortHead = 2;

/** The first frame of the received data; undefined until it is complete. */
const readFrame = (data: Buffer): Frame | undefined => {
  if (data.length < shortHead) return undefined;
  const [first = 0, second = 0] = data;
  const short = second & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const masked = (second & 0x80) !== 0;
  const start = shortHead + extra + (masked ? 4 : 0);
  if (data.length < start) return undefined;
  const length =
    extra === 0 ? short : extra === 2 ? data.readUInt16BE(shortHead) : Number(data.readBigUInt64BE(shortHead));
  if (data.length < start + length) return undefined;
  const mask = data.subarray(start - 4, start);
  const payload = Buffer.from(data.subarray(start, start + length));
  if (masked) for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0);
  return { code: first & 0x0f, payload, size: start + length };
};

const accept = (key: string): string =>
  createHash("sha1")
    .update(key + magic)
    .digest("base64");

const greet = (request: IncomingMessage): string => {
  const key = request.headers["sec-websocket-key"] ?? "";
  const [protocol] = (request.headers["sec-websocket-protocol"] ?? "").split(",");
  return [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept(key)}`,
    ...(protocol === undefined || protocol === "" ? [] : [`Sec-WebSocket-Protocol: ${protocol.trim()}`]),
    "",
    "",
  ].join("\r\n");
};

/** Answers pings, and ends when the other side closes. */
const readFrames = (socket: Duplex, end: () => void): void => {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (let next = readFrame(waiting); next !== undefined; next = readFrame(waiting)) {
      waiting = waiting.subarray(next.size);
      if (next.code === ping) socket.write(frame(pong, next.payload));
      if (next.code === close) end();
    }
  });
  socket.on("close", end);
  socket.on("error", end);
};

const upgradeRequestOf = ({ url = "/", headers }: IncomingMessage): ApiRequest => ({
  method: "GET",
  path: url,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? "")])),
});

const normal = Buffer.from([0x03, 0xe8]);

/** Takes over a connection that asks for a WebSocket: opens a watch, or answers with the refusal as plain HTTP. */
const upgrade = (access: ApiAccess, request: IncomingMessage, socket: Duplex): void => {
  const lines: string[] = [];
  let send = (line: string): void => void lines.push(line);
  let finish = (): void => {};
  const opened = access.watch(upgradeRequestOf(request), { line: (line) => send(line), end: () => finish() });
  if ("status" in opened) {
    const head = Object.entries(opened.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const size = `content-length: ${Buffer.byteLength(opened.body)}\r\nconnection: close\r\n\r\n`;
    socket.end(`HTTP/1.1 ${opened.status} Refused\r\n${head.join("")}${size}${opened.body}`);
    return;
  }
  socket.write(greet(request));
  send = (line) => void socket.write(frame(text, Buffer.from(line)));
  for (const line of lines) send(line);
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    opened.close();
    socket.end(frame(close, normal));
  };
  finish = end;
  readFrames(socket, end);
};

const logPath = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log\?(?:.*&)?follow=(?:true|1)(?:&|$)/;

const isFollow = ({ method, path }: ApiRequest): boolean => method === "GET" && logPath.test(path);

/** Sends each line once: the simulated log grows, but not always at its end. */
const followLog = ({ handle, store, subscribe }: Simulator, request: ApiRequest, feed: Feed): OpenWatch | Answer => {
  const [, namespace = "", name = ""] = logPath.exec(request.path) ?? [];
  const first = handle(request);
  if (first.status !== 200) return first;
  const sent = new Set<string>();
  const tell = ({ status, body }: Answer): void => {
    if (status !== 200) return;
    for (const line of body.split("\n").filter((text) => text !== "" && !sent.has(text))) {
      sent.add(line);
      feed.line(line);
    }
  };
  const isOver = (): boolean => {
    const pod = store.get("pods", keyOf(decodeURIComponent(namespace), decodeURIComponent(name)));
    return pod === undefined || mainExit(pod) !== undefined;
  };
  tell(first);
  if (isOver()) {
    feed.end();
    return { close: () => {} };
  }
  const close = subscribe(() => {
    tell(handle(request));
    if (!isOver()) return;
    close();
    feed.end();
  });
  return { close };
};

const headersOf = (request: Request): Record<string, string> => Object.fromEntries(request.headers);

/** The API reads JSON only. A body that cannot be translated to JSON keeps its type, for which the API refuses it. */
const bodyOf = async (request: Request): Promise<Pick<ApiRequest, "headers" | "body">> => {
  const headers = headersOf(request);
  if (request.method === "GET" || request.method === "HEAD") return { headers };
  if (headers["content-type"] !== protobufType) return { headers, body: await request.text() };
  const body = jsonOfProtobuf(Buffer.from(await request.arrayBuffer()));
  return body === undefined
    ? { headers, body: "" }
    : { headers: { ...headers, "content-type": "application/json" }, body };
};

const apiRequestOf = async (request: Request): Promise<ApiRequest> => {
  const url = new URL(request.url);
  return { method: request.method, path: url.pathname + url.search, ...(await bodyOf(request)) };
};

const isWatch = ({ method, path }: ApiRequest): boolean => method === "GET" && /[?&]watch=(true|1)(&|$)/.test(path);

const respond = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers: { ...headers } });

/** The most text of one write of a stream, characters; a longer line is written alone. */
const chunkLength = 64 * 1_024;

/** Removes the first lines of a stream, as many as one write takes, and returns their text. */
const chunkOf = (lines: string[]): string => {
  let text = "";
  let count = 0;
  for (const line of lines) {
    if (count > 0 && text.length + line.length > chunkLength) break;
    text += `${line}\n`;
    count += 1;
  }
  lines.splice(0, count);
  return text;
};

const streamed = (simulator: Simulator, context: Context, ask: ApiRequest): Response => {
  const lines: string[] = [];
  let ended = false;
  let wake = (): void => {};
  const feed = {
    line: (text: string) => {
      lines.push(text);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
  };
  const isLog = isFollow(ask);
  const opened: OpenWatch | Answer = isLog ? followLog(simulator, ask, feed) : simulator.door.watch(ask, feed);
  if ("status" in opened) return respond(opened);
  context.header("content-type", isLog ? "text/plain" : "application/json");
  return stream(context, async (out) => {
    out.onAbort(() => {
      opened.close();
      feed.end();
    });
    while (!ended || lines.length > 0) {
      for (let text = chunkOf(lines); text !== ""; text = chunkOf(lines)) await out.write(text);
      if (!ended)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    opened.close();
  });
};

type Run = (act: () => Answer) => Promise<Answer>;

/** `run` runs requests that may call webhooks. `before` precedes every request, to turn a clock in real time. */
const simulatorApp = (simulator: Simulator, before: () => void = () => {}, run: Run = async (act) => act()): Hono => {
  const app = new Hono();
  app.all("*", async (context) => {
    const ask = await apiRequestOf(context.req.raw);
    before();
    return isWatch(ask) || isFollow(ask)
      ? streamed(simulator, context, ask)
      : respond(await run(() => simulator.handle(ask)));
  });
  return app;
};

export type Caller = {
  readonly admit: Admit;
  /** Runs `act`, which may call webhooks, as often as needed. An `act` that throws `Unanswered` has changed nothing. */
  readonly run: <T>(act: () => T) => Promise<T>;
};

type Known = { readonly answer: unknown } | { readonly failure: string };

const post = ({ url, caBundle, timeoutSeconds }: Webhook, review: unknown): Promise<Known> =>
  new Promise((resolve) => {
    const where = new URL(url);
    const call = `Post "${url}?timeout=${timeoutSeconds}s": `;
    const fail = (why: string): void => resolve({ failure: `${call}${why}` });
    const options = {
      method: "POST",
      headers: { "content-type": "application/json" },
      timeout: timeoutSeconds * 1000,
      ...(caBundle !== undefined && { ca: Buffer.from(caBundle, "base64") }),
    };
    const sent = (where.protocol === "http:" ? plain : secure)(where, options, async (answer) => {
      const text = (await answer.setEncoding("utf8").toArray()).join("");
      try {
        resolve({ answer: JSON.parse(text) });
      } catch {
        fail(`${answer.statusCode} without an AdmissionReview`);
      }
    });
    sent.on("timeout", () => sent.destroy(new Error("context deadline exceeded")));
    sent.on("error", (cause: NodeJS.ErrnoException) =>
      fail(cause.code === "ECONNREFUSED" ? `dial tcp ${where.host}: connect: connection refused` : cause.message),
    );
    sent.end(JSON.stringify(review));
  });

/** The identity of a review, independent of its UID. */
const reviewKey = ({ url }: Webhook, review: unknown): string =>
  `${url} ${JSON.stringify(withAt(fieldsAt(review), ["request", "uid"], undefined))}`;

const mostRounds = 50;

export const openCaller = (): Caller => {
  let known = new Map<string, Known>();
  return {
    admit: (webhook, review) => {
      const found = known.get(reviewKey(webhook, review));
      if (found === undefined) throw new Unanswered(webhook, review);
      if ("failure" in found) throw new Error(found.failure);
      return found.answer;
    },
    run: async (act) => {
      const own = new Map<string, Known>();
      for (let round = 0; ; round++) {
        known = own;
        try {
          return act();
        } catch (error) {
          if (!(error instanceof Unanswered) || round === mostRounds) throw error;
          own.set(reviewKey(error.webhook, error.review), await post(error.webhook, error.review));
        }
      }
    },
  };
};

export type Served = {
  readonly url: string;
  /** A kubeconfig, as JSON, which is YAML too. */
  readonly kubeconfig: string;
  close(): Promise<void>;
};

export const kubeconfigFor = (url: string): string =>
  `${JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "simulator", cluster: { server: url } }],
      users: [{ name: "simulator", user: { token: ownToken } }],
      contexts: [{ name: "simulator", context: { cluster: "simulator", user: "simulator", namespace: "default" } }],
      "current-context": "simulator",
    },
    undefined,
    2,
  )}\n`;

const portOf = (server: { address(): ReturnType<Server["address"]> }): number => {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

/** Serves on 127.0.0.1; port 0 takes a free one. `caller` is that of the simulator. The clock follows real time. */
export const serveSimulator = async (
  simulator: Simulator,
  options: Pace & { readonly port?: number; readonly caller?: Caller } = {},
): Promise<Served> => {
  const { catchUp, stop } = drive(simulator.clock, options);
  const app = simulatorApp(simulator, catchUp, options.caller?.run);
  const server = await new Promise<ReturnType<typeof listen>>((resolve, reject) => {
    const opened = listen({ fetch: app.fetch, hostname: "127.0.0.1", port: options.port ?? 0 }, () => resolve(opened));
    opened.once("error", reject);
  }).catch((cause) => {
    stop();
    throw cause;
  });
  const sockets = new Set<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    socket.unshift(head);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    catchUp();
    upgrade(simulator.door, request, socket);
  });
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    url,
    kubeconfig: kubeconfigFor(url),
    close: () =>
      new Promise((resolve) => {
        stop();
        for (const socket of sockets) socket.destroy();
        if ("closeAllConnections" in server) server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

/** Long answers: watches over WebSockets (RFC 6455) as Spark's client opens them, and followed logs as `kubectl logs -f` asks for
 * them. */

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Answer } from "../api/answer.ts";
import type { ApiAccess } from "../api/handler.ts";
import type { Feed, OpenWatch } from "../api/watch.ts";
import { mainExit } from "../nodes/pod-status.ts";
import type { Simulator } from "../open.ts";
import { keyOf } from "../storage/store.ts";
import type { ApiRequest } from "../verbs/request.ts";

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
const listen = (socket: Duplex, end: () => void): void => {
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

const askOf = ({ url = "/", headers }: IncomingMessage): ApiRequest => ({
  method: "GET",
  path: url,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? "")])),
});

const normal = Buffer.from([0x03, 0xe8]);

/** Takes over a connection that asks for a WebSocket: opens a watch, or answers with the refusal as plain HTTP. */
export const upgrade = (access: ApiAccess, request: IncomingMessage, socket: Duplex): void => {
  const lines: string[] = [];
  let send = (line: string): void => void lines.push(line);
  let finish = (): void => {};
  const opened = access.watch(askOf(request), { line: (line) => send(line), end: () => finish() });
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
  listen(socket, end);
};

const logPath = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log\?(?:.*&)?follow=(?:true|1)(?:&|$)/;

export const isFollow = ({ method, path }: ApiRequest): boolean => method === "GET" && logPath.test(path);

/** Sends each line once: the simulated log grows, but not always at its end. */
export const followLog = (
  { handle, store, subscribe }: Simulator,
  request: ApiRequest,
  feed: Feed,
): OpenWatch | Answer => {
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

/** Requests to an HTTP trigger: signed, with a token, endless, or slower than the server waits. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { proofWith } from "../../../support/proof.ts";
import { secrets } from "./fixture.ts";

export type Knock = {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The headers that carry a CloudEvent in binary mode. */
const saying = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("ce-")));

type How = { readonly key?: string; readonly age?: number; readonly signs?: Readonly<Record<string, string>> };

/**
 * Returns the headers that prove a request; `age` in seconds, `signs` the headers that are signed (absent: those of an
 * event).
 */
export const proof = (
  { path, body = "", headers = {} }: Knock,
  { key = secrets.fresh, age = 0, signs = saying(headers) }: How = {},
): Readonly<Record<string, string>> => proofWith(key, { path, body, headers: signs }, age);

export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

export const post = (door: string, { path, body = "", headers = {} }: Knock): Promise<Response> =>
  fetch(`${door}${path}`, { method: "POST", headers, body });

/** Sends a signed request. */
export const signed = (door: string, knock: Knock, how?: Parameters<typeof proof>[1]): Promise<Response> =>
  post(door, { ...knock, headers: { ...knock.headers, ...proof(knock, how) } });

/** A request whose head is sent; `status` is that of the answer, "closed" if the connection ends without one. */
const opened = (
  door: string,
  path: string,
  sent: Readonly<Record<string, string>>,
): { readonly socket: Socket; readonly closed: Promise<{ readonly ms: number; readonly status: string }> } => {
  const began = performance.now();
  const { hostname, port } = new URL(door);
  const lines = Object.entries({ host: "door", ...sent }).map(([name, value]) => `${name}: ${value}\r\n`);
  let heard = "";
  const socket = connect(Number(port), hostname);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
  });
  socket.on("error", () => {});
  const closed = new Promise<{ ms: number; status: string }>((resolve) => {
    socket.on("close", () => resolve({ ms: performance.now() - began, status: heard.split(" ")[1] ?? "closed" }));
  });
  return { socket, closed };
};

/**
 * Sends a request whose body does not end. Returns the status of the answer once the door closes the connection; 0 if it
 * closes without one, 200 if it still reads after a minute.
 */
export const endless = async (door: string, { path, headers = {} }: Knock): Promise<number> => {
  const { socket, closed } = opened(door, path, { "transfer-encoding": "chunked", ...headers });
  const chunk = `4000\r\n${"x".repeat(16_384)}\r\n`;
  const writeOn = (): void => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on("drain", writeOn);
  writeOn();
  const patience = new AbortController();
  const { status } = await Promise.race([closed, sleep(60_000, { status: "200" }, { signal: patience.signal })]);
  patience.abort();
  socket.destroy();
  return status === "closed" ? 0 : Number(status);
};

/**
 * Sends one character of its body every half second. Returns the milliseconds until the door closes the connection, and
 * the status of its answer.
 */
export const slow = async (
  door: string,
  { path, headers = {} }: Knock,
): Promise<{ readonly ms: number; readonly status: string }> => {
  const { socket, closed } = opened(door, path, { "content-length": "1000", ...headers });
  const letters = setInterval(() => socket.write("x"), 500);
  const outcome = await closed;
  clearInterval(letters);
  return outcome;
};

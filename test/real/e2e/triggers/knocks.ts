/** Requests to an HTTP trigger: signed, with a token, endless, or slower than the server waits. */
import { connect } from "node:net";
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

/** Sends a request whose body does not end. Returns its status; 0 when the connection is closed instead. */
export const endless = async (door: string, path: string): Promise<number> => {
  const body = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(16_384)) });
  return await fetch(`${door}${path}`, { method: "POST", body, duplex: "half" }).then(
    ({ status }) => status,
    () => 0,
  );
};

/**
 * Sends one character of its body every half second. Returns the milliseconds until the door closes the connection, and
 * the status of its answer.
 */
export const slow = (
  door: string,
  { path, headers = {} }: Knock,
): Promise<{ readonly ms: number; readonly status: string }> =>
  new Promise((resolve) => {
    const began = performance.now();
    const { hostname, port } = new URL(door);
    const sent = Object.entries({ host: "door", "content-length": "1000", ...headers });
    let heard = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST ${path} HTTP/1.1\r\n${sent.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    });
    const letters = setInterval(() => socket.write("x"), 500);
    socket.on("data", (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(letters);
      resolve({ ms: performance.now() - began, status: heard.split(" ")[1] ?? "closed" });
    });
  });

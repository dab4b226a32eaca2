/**
 * The transport to a real API server over node:http(s): kept-alive connections, a deadline for every request, typed
 * errors for missing answers, and watch streams split into lines.
 */
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../core/errors.ts";
import type { HttpRequest, HttpStream, Transport } from "../../core/http.ts";
import { connect, type Endpoint, failure, timeout } from "./connection.ts";
import { linesOf } from "./lines.ts";

export type { Auth } from "./credentials.ts";
export type { Endpoint };

export type ClosableTransport = Transport & { close(): void };

/** Returns the headers, each with one text as its value. */
const headersOf = (incoming: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ");
  }
  return headers;
};

/**
 * Longest answer if the request sets no limit, bytes: ten times the largest object that an API server stores. Lists ask
 * for pages that fit.
 */
const longestBytes = 16 * 1_024 * 1_024;

const tooLong = ({ method, path }: HttpRequest, limitBytes: number): ApiError =>
  new ApiError({ status: 0, reason: "TooLong", message: `${method} ${path}: longer than ${limitBytes} bytes` });

const bodyOf = (request: HttpRequest, incoming: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const limitBytes = request.limitBytes ?? longestBytes;
    let left = limitBytes;
    incoming.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) chunks.push(chunk);
      else incoming.destroy(tooLong(request, limitBytes));
    });
    incoming.on("end", () =>
      resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString("utf8") ?? ""),
    );
    incoming.on("error", reject);
  });

async function* once(body: string): AsyncGenerator<string> {
  yield body;
}

/** Returns the lines of a streamed answer: `close` ends them; a broken or silent connection is an error. */
const endless = (request: HttpRequest, incoming: IncomingMessage, stallMs: number): Omit<HttpStream, "status"> => {
  let closed = false;
  const { socket } = incoming;
  const stalled = (): unknown => incoming.destroy(timeout(request, `silent for ${stallMs} ms`));
  socket.setTimeout(stallMs, stalled);
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* linesOf(incoming);
    } catch (cause) {
      if (!closed) throw failure(request, cause);
    } finally {
      socket.off("timeout", stalled);
      incoming.destroy();
    }
  }
  const close = (): void => {
    closed = true;
    incoming.destroy();
  };
  return { headers: headersOf(incoming), lines: lines(), close };
};

/** Opens the transport; nothing connects before the first request. `close` ends all requests in flight. */
export const httpsTransport = (endpoint: Endpoint): ClosableTransport => {
  const { exchange, close } = connect(endpoint);
  return {
    send: (request) =>
      exchange(request, async (incoming) => {
        const body = await bodyOf(request, incoming);
        return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body };
      }),
    stream: (request) =>
      exchange(request, async (incoming) => {
        const status = incoming.statusCode ?? 0;
        if (status === 200) return { status, ...endless(request, incoming, endpoint.stallMs ?? 90_000) };
        return { status, headers: headersOf(incoming), lines: once(await bodyOf(request, incoming)), close: () => {} };
      }),
    close,
  };
};

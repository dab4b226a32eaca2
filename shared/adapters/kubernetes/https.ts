/**
 * The door to a real API server over node:http(s): connections kept alive, a deadline on every request, failures to
 * answer as typed errors, and watch streams cut into lines by bytes.
 */
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../core/errors.ts";
import type { HttpRequest, HttpStream, Transport } from "../../core/http.ts";
import { connect, type Endpoint, failure, timeout } from "./connection.ts";
import { linesOf } from "./lines.ts";

export type { Auth } from "./credentials.ts";
export type { Endpoint };

export type ClosableTransport = Transport & { close(): void };

/** Header values as one text each. */
const headersOf = (incoming: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ");
  }
  return headers;
};

/** Of an answer whose asker sets no limit: ten times the largest object that an API server stores. Pages of a list are asked for so that they fit. */
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

/** The lines of an answer that goes on: closing ends them, breaking off and silence are errors. */
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

/** Opens the door; nothing is connected before the first request. `close` ends what is in flight. */
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

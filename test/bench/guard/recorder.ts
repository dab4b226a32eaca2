/**
 * A proxy between a host and an API server. It records each request with its answer, so that the same requests can be
 * sent again without the host, and counts them.
 */
import { createServer, request as requestOf } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

export type Exchange = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Text that was sent. */
  readonly body: string;
  readonly status: number;
  /** Text that was received; of a watch all that it has received so far. */
  readonly answer: () => string;
};

/** Requests whose answers the proxy withholds for a time, so that those in flight at once can be counted. */
export type Held = { readonly method: string; readonly path: RegExp; readonly ms: number };

export type Recorder = {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
  /** Time of the latest request or of the latest piece of an answer, by `performance.now()`. */
  readonly latest: () => number;
  /** The greatest number of held requests that were in flight at one time. */
  readonly mostHeld: () => number;
  stop(): Promise<void>;
};

/** Opens the proxy to the API server at `url`. */
export const openRecorder = async (url: string, held?: Held): Promise<Recorder> => {
  const exchanges: Exchange[] = [];
  let latest = performance.now();
  let [holding, mostHeld] = [0, 0];
  const hold = async (method: string, path: string): Promise<void> => {
    if (held === undefined || held.method !== method || !held.path.test(path)) return;
    holding += 1;
    mostHeld = Math.max(mostHeld, holding);
    await sleep(held.ms);
    holding -= 1;
  };
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, response) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    latest = performance.now();
    const onward = async (): Promise<void> => {
      const body = await buffer(incoming);
      await hold(method, path);
      const sent = requestOf({ hostname, port, method, path, headers }, (answer) => {
        const pieces: Buffer[] = [];
        const status = answer.statusCode ?? 502;
        exchanges.push({
          ...{ method, path, status, body: body.toString() },
          answer: () => Buffer.concat(pieces).toString(),
        });
        response.writeHead(status, answer.headers);
        answer.on("data", (piece: Buffer) => {
          latest = performance.now();
          pieces.push(piece);
          response.write(piece);
        });
        answer.once("end", () => response.end());
        answer.once("error", () => response.destroy());
      });
      response.once("close", () => sent.destroy());
      sent.once("error", () => response.destroy());
      sent.end(body);
    };
    onward().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${own}`, exchanges, latest: () => latest, mostHeld: () => mostHeld },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

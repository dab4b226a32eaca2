/** The Runtime API (2018-06-01) of one environment: it serves one invocation at a time and receives the answers. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { listening } from "../../support/port.ts";

export type Invocation = {
  readonly id: string;
  /** The event as JSON. */
  readonly event: string;
  /** Epoch ms of the function's timeout. */
  readonly deadline: number;
  readonly arn: string;
};

/** The JSON of the answer or of the error, as it was sent. */
export type Reply = { readonly did: "answer" | "error"; readonly body: string };

export type Runtime = {
  /** host:port, in the client's format. */
  readonly address: string;
  /** Resolves when the client waits for an invocation; rejects with its error when it could not start. */
  asking(): Promise<void>;
  /** Passes an invocation to the client, which must be waiting for one. */
  hand(invocation: Invocation): Promise<Reply>;
  close(): void;
};

const prefix = "/2018-06-01/runtime/";
const reply = /^invocation\/([^/]+)\/(response|error)$/;

const accept = (response: ServerResponse): void => {
  response.writeHead(202, { "content-type": "application/json" }).end('{"status":"OK"}');
};

const refuse = (response: ServerResponse, status: number, errorType: string, errorMessage: string): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ errorType, errorMessage }));
};

/** One promise at a time, recreated after use. */
type Asking = { readonly promise: Promise<void>; resolve(): void; reject(error: Error): void };

const newAsking = (): Asking => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {});
  return { promise, resolve, reject };
};

class Desk implements Runtime {
  address = "";
  #asking = newAsking();
  #next: ServerResponse | undefined;
  #busy: { readonly id: string; readonly resolve: (reply: Reply) => void } | undefined;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  async open(): Promise<this> {
    // A client may wait without limit for its next invocation.
    this.#server.requestTimeout = 0;
    this.#server.keepAliveTimeout = 0;
    this.address = `127.0.0.1:${await listening(this.#server)}`;
    return this;
  }

  asking(): Promise<void> {
    return this.#asking.promise;
  }

  hand({ id, event, deadline, arn }: Invocation): Promise<Reply> {
    const next = this.#next;
    if (next === undefined) throw new Error("the environment did not ask for an invocation");
    this.#next = undefined;
    this.#asking = newAsking();
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#busy = { id, resolve };
    next.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": id,
      "lambda-runtime-deadline-ms": String(deadline),
      "lambda-runtime-invoked-function-arn": arn,
      "lambda-runtime-trace-id": `Root=1-${Math.floor(Date.now() / 1_000).toString(16)}-${id.replaceAll("-", "").slice(0, 24)}`,
    });
    next.end(event);
    return promise;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").startsWith(prefix) ? (request.url ?? "").slice(prefix.length) : "";
    if (path === "invocation/next") {
      this.#next = response;
      return this.#asking.resolve();
    }
    const body = await textOf(request);
    if (path === "init/error") {
      accept(response);
      return this.#asking.reject(new Error(body));
    }
    const [, id, what] = reply.exec(path) ?? [];
    if (what === undefined) return refuse(response, 404, "InvalidPath", path);
    if (this.#busy?.id !== decodeURIComponent(id ?? "")) return refuse(response, 400, "InvalidRequestID", id ?? "");
    this.#busy.resolve({ did: what === "response" ? "answer" : "error", body });
    this.#busy = undefined;
    accept(response);
  }
}

/** Listens on a separate port, which identifies the environment. */
export const openRuntime = (): Promise<Runtime> => new Desk().open();

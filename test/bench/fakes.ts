/**
 * The services that a cloud function calls, on loopback: the simulator as its API server, and a queue that accepts
 * everything.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { HttpRequest } from "../../shared/core/http.ts";
import type { Simulator } from "../../shared/simulator/open.ts";

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
};

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const methodOf = (text: string | undefined): HttpRequest["method"] => methods.find((each) => each === text) ?? "GET";

const headersOf = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));

/** The simulator over HTTP, without watches, since a function opens none. */
const asApiServer =
  ({ transport }: Simulator) =>
  async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request);
    const answer = await transport.send({
      method: methodOf(request.method),
      path: request.url ?? "/",
      headers: headersOf(request),
      ...(body === "" ? {} : { body }),
      timeoutMs: 5_000,
    });
    response.writeHead(answer.status, { ...answer.headers }).end(answer.body);
  };

/** SQS with SendMessage only: the client checks the digest of its message. */
const asQueue = async (request: IncomingMessage, response: ServerResponse) => {
  const sent: unknown = JSON.parse(await bodyOf(request));
  const text = typeof sent === "object" && sent !== null && "MessageBody" in sent ? String(sent.MessageBody) : "";
  const digest = createHash("md5").update(text).digest("hex");
  response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
  response.end(JSON.stringify({ MessageId: "1", MD5OfMessageBody: digest, SequenceNumber: "1" }));
};

export type Listening = { readonly url: string; close(): void };

const listen = (serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Listening> =>
  new Promise((resolve, reject) => {
    const server: Server = createServer((request, response) => {
      serve(request, response).catch((cause: unknown) => response.writeHead(500).end(String(cause)));
    });
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      resolve({ url: `http://127.0.0.1:${port}`, close: () => server.close() });
    });
  });

export const apiServer = (simulator: Simulator): Promise<Listening> => listen(asApiServer(simulator));
export const queue = (): Promise<Listening> => listen(asQueue);

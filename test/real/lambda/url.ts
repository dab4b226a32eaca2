/** A function's URL: HTTP requests become events of payload version 2, and answers become responses. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod";
import { listening } from "../../support/port.ts";
import type { Outcome } from "./environment.ts";
import type { Lambda } from "./pool.ts";

export type FunctionUrl = { readonly url: string; close(): void };

const eventOf = async (request: IncomingMessage, routeKey: string): Promise<object> => {
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const method = request.method ?? "GET";
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const body = (await buffer(request)).toString("base64");
  const now = new Date();
  return {
    version: "2.0",
    routeKey,
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    requestContext: {
      accountId: "anonymous",
      apiId: "local",
      domainName: "local.lambda-url.eu-west-1.on.aws",
      domainPrefix: "local",
      http: { method, path: pathname, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: headers["user-agent"] },
      requestId: randomUUID(),
      routeKey,
      stage: "$default",
      time: now.toISOString(),
      timeEpoch: now.getTime(),
    },
    ...(body === "" ? {} : { body }),
    isBase64Encoded: body !== "",
  };
};

const answered = z.looseObject({
  statusCode: z.number(),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).default({}),
  cookies: z.array(z.string()).default([]),
  body: z.string().default(""),
  isBase64Encoded: z.boolean().default(false),
});

/** An answer without a statusCode is the body itself, as JSON. */
const respond = (response: ServerResponse, { ended, body }: Outcome): void => {
  if (ended !== "answered") {
    response.writeHead(502, { "content-type": "application/json" }).end('{"message":"Internal Server Error"}');
    return;
  }
  const given = answered.safeParse(JSON.parse(body));
  if (!given.success) {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
    return;
  }
  const { statusCode, headers, cookies, isBase64Encoded } = given.data;
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  response.writeHead(statusCode, headers).end(Buffer.from(given.data.body, isBase64Encoded ? "base64" : "utf8"));
};

/** Returns the function of a request and its route key; undefined if there is none. */
export type Routing = (method: string, path: string) => { readonly lambda: Lambda; readonly key: string } | undefined;

/** Opens one address for several functions. */
export const openDoor = async (routing: Routing): Promise<FunctionUrl> => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const found = routing(request.method ?? "GET", pathname);
    if (found !== undefined) return respond(response, await found.lambda.invoke(await eventOf(request, found.key)));
    response.writeHead(404, { "content-type": "application/json" }).end('{"message":"Not Found"}');
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, close: () => void server.close() };
};

/** Opens the address of one function, which receives all requests. */
export const openUrl = (lambda: Lambda): Promise<FunctionUrl> => openDoor(() => ({ lambda, key: "$default" }));

/** Serves a simulator over HTTP on a port of loopback, for kubectl: watches and logs are streams, admission webhooks are called,
 * and a kubeconfig is made for it. */

import { request as plain, type Server } from "node:http";
import { request as secure } from "node:https";
import type { Duplex } from "node:stream";
import { serve as listen } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import type { Answer } from "../api/answer.ts";
import type { OpenWatch } from "../api/watch.ts";
import type { Simulator } from "../open.ts";
import { jsonOfProtobuf, protobufType } from "../schema/protobuf.ts";
import { drive, type Pace } from "../storage/clock.ts";
import { fieldsAt, withAt } from "../storage/json.ts";
import { Unanswered } from "../verbs/admission.ts";
import { type ApiRequest, ownToken } from "../verbs/request.ts";
import type { Admit, Webhook } from "../verbs/webhooks.ts";
import { followLog, isFollow, upgrade } from "./streams.ts";

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

const askOf = async (request: Request): Promise<ApiRequest> => {
  const url = new URL(request.url);
  return { method: request.method, path: url.pathname + url.search, ...(await bodyOf(request)) };
};

const isWatch = ({ method, path }: ApiRequest): boolean => method === "GET" && /[?&]watch=(true|1)(&|$)/.test(path);

const respond = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers: { ...headers } });

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
      for (let line = lines.shift(); line !== undefined; line = lines.shift()) await out.write(`${line}\n`);
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
    const ask = await askOf(context.req.raw);
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
const keyOf = ({ url }: Webhook, review: unknown): string =>
  `${url} ${JSON.stringify(withAt(fieldsAt(review), ["request", "uid"], undefined))}`;

const mostRounds = 50;

export const openCaller = (): Caller => {
  let known = new Map<string, Known>();
  return {
    admit: (webhook, review) => {
      const found = known.get(keyOf(webhook, review));
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
          own.set(keyOf(error.webhook, error.review), await post(error.webhook, error.review));
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

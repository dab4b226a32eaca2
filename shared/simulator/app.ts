/** The simulator over real HTTP, for kubectl: a hono app in front of the door, with watches and logs as streams. */
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import type { Ask } from "./ask.ts";
import type { Answer } from "./call.ts";
import { followLog, isFollow } from "./follow.ts";
import type { Simulator } from "./open.ts";
import { jsonOfProtobuf, protobufType } from "./protobuf.ts";
import type { OpenWatch } from "./watch.ts";

const headersOf = (request: Request): Record<string, string> => Object.fromEntries(request.headers);

/** The door reads JSON only. A body that cannot be translated to JSON keeps its type, for which the door refuses it. */
const bodyOf = async (request: Request): Promise<Pick<Ask, "headers" | "body">> => {
  const headers = headersOf(request);
  if (request.method === "GET" || request.method === "HEAD") return { headers };
  if (headers["content-type"] !== protobufType) return { headers, body: await request.text() };
  const body = jsonOfProtobuf(Buffer.from(await request.arrayBuffer()));
  return body === undefined
    ? { headers, body: "" }
    : { headers: { ...headers, "content-type": "application/json" }, body };
};

const askOf = async (request: Request): Promise<Ask> => {
  const url = new URL(request.url);
  return { method: request.method, path: url.pathname + url.search, ...(await bodyOf(request)) };
};

const isWatch = ({ method, path }: Ask): boolean => method === "GET" && /[?&]watch=(true|1)(&|$)/.test(path);

const respond = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers: { ...headers } });

const streamed = (simulator: Simulator, context: Context, ask: Ask): Response => {
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
export const simulatorApp = (
  simulator: Simulator,
  before: () => void = () => {},
  run: Run = async (act) => act(),
): Hono => {
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

/**
 * The proxy between a controller and the API server: TLS on loopback with the API server's own certificate, HTTP/1.1 and
 * HTTP/2, the caller's token passed on. Bodies go through untouched; only where a fault strikes is an answer replaced.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Agent, request } from "node:https";
import { join } from "node:path";
import type { Fault } from "./faults.ts";
import type { Points } from "./points.ts";
import { patternOf, type Request, readRequest } from "./requests.ts";

type Moment = "before" | "done" | "after";

/** Strikes the process or its watches; the proxy itself deals with answers. `port`: of the sender's connection. */
export type Strike = (fault: Fault, moment: Moment, port: number) => void;

export type ProxyServer = {
  readonly url: string;
  readonly openWatches: () => number;
  readonly isHeld: () => boolean;
  /** Delays the events of all watches. */
  readonly hold: (ms: number) => void;
  readonly cut: () => void;
  /** Ends all watches, and answers each one that resumes within a second with 410. */
  readonly gone: () => void;
  /** Serves lists that accept an old state as of this resource version, for this time. */
  readonly serveStale: (resourceVersion: string, ms: number) => void;
  readonly close: () => void;
};

type Options = { readonly server: string; readonly pki: string; readonly points: Points; readonly strike: Strike };

const reasons: Readonly<Record<string, string>> = {
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  504: "Timeout",
};

/** Answers as an API server refuses. */
const refuse = (res: Http2ServerResponse, code: number): void => {
  const message = `injected: ${reasons[code]}`;
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: reasons[code],
    code,
    message,
  };
  res.writeHead(code, { "content-type": "application/json", ...(code === 429 ? { "retry-after": "1" } : {}) });
  res.end(JSON.stringify(status));
};

/** Ends a request without an answer: one stream of HTTP/2, or the connection of HTTP/1.1. */
const drop = (req: Http2ServerRequest): void => {
  if (req.httpVersionMajor === 2) req.stream.close(2);
  else req.socket.destroy();
};

const ofHop = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection", "host", "te"]);

const passedOn = (headers: IncomingHttpHeaders): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter((entry): entry is [string, string | string[]] => entry[1] !== undefined)
      .filter(([name]) => !name.startsWith(":") && !ofHop.has(name)),
  );

const collected = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

type Forward = (req: Http2ServerRequest, url: string, body: Buffer | undefined) => Promise<IncomingMessage>;

const openForward = (server: string, ca: Buffer): Forward => {
  const agent = new Agent({ keepAlive: true, ca });
  return async (req, url, body) => {
    const headers = passedOn(req.headers);
    if (body !== undefined) headers["content-length"] = String(body.length);
    const sent = request(new URL(url, server), { method: req.method, headers, agent });
    req.stream?.on("close", () => sent.destroy());
    req.on("close", () => sent.destroy());
    sent.end(body);
    const [answer] = await once(sent, "response");
    return answer;
  };
};

type Exchange = {
  readonly req: Http2ServerRequest;
  readonly res: Http2ServerResponse;
  readonly seen: Request;
  readonly body: Buffer | undefined;
};

/** Faults that answer in place of the API server, which sees no request. */
const refusals = new Set(["500", "429", "409"]);

/** Faults by which the process has gone before its request is forwarded, and before it is answered. */
const beforehand = new Set(["kill-before", "sender-before"]);
const unanswered = new Set(["lost", "kill-done", "sender-done"]);

type Watch = { readonly res: Http2ServerResponse; readonly answer: IncomingMessage };

type Stale = { readonly version: string; readonly untilMs: number };

export const openProxy = async ({ server, pki, points, strike }: Options): Promise<ProxyServer> => {
  const read = (name: string): Buffer => readFileSync(join(pki, name));
  const forward = openForward(server, read("ca.crt"));
  const watches = new Set<Watch>();
  let [heldUntil, goneUntil, nr] = [0, 0, 0];
  let stale: Stale = { version: "", untilMs: 0 };
  const isHeld = (): boolean => performance.now() < heldUntil;

  const answerWatch = async (req: Http2ServerRequest, res: Http2ServerResponse): Promise<void> => {
    if (performance.now() < goneUntil && /[?&]resourceVersion=[1-9]/.test(req.url)) return refuse(res, 410);
    const answer = await forward(req, req.url, undefined);
    const watch = { res, answer };
    watches.add(watch);
    const ended = (): void => {
      watches.delete(watch);
      answer.destroy();
      res.end();
    };
    for (const event of ["end", "error", "close"]) answer.on(event, ended);
    res.on("close", ended);
    res.writeHead(answer.statusCode ?? 502, passedOn(answer.headers));
    // Sends the head at once, before the first event.
    res.write("");
    answer.on("data", (chunk: Buffer) => res.write(chunk));
    if (isHeld()) answer.pause();
  };

  const staleUrl = (seen: Request, url: string): string => {
    if (!seen.isAnyList || performance.now() > stale.untilMs) return url;
    const { pathname, searchParams } = new URL(url, server);
    searchParams.set("resourceVersion", stale.version);
    searchParams.set("resourceVersionMatch", "Exact");
    return `${pathname}?${searchParams}`;
  };

  /** Carries a request out and answers it; a fault of the answer strikes here, any other is told to `strike` at its moments. */
  const carryOut = async (
    exchange: Exchange,
    fault: Fault | undefined,
    log: (result: string) => void,
  ): Promise<void> => {
    const { req, res, seen, body } = exchange;
    const told = (moment: Moment): void => {
      if (fault !== undefined) strike(fault, moment, req.socket.remotePort ?? 0);
    };
    told("before");
    if (fault !== undefined && beforehand.has(fault.kind)) {
      log("not forwarded: the process was killed");
      return drop(req);
    }
    const answer = await forward(req, staleUrl(seen, req.url), body);
    const content = await collected(answer);
    told("done");
    log(`${answer.statusCode} ${fault?.kind ?? ""}`);
    if (fault?.kind === "504") return refuse(res, 504);
    if (fault !== undefined && unanswered.has(fault.kind)) return drop(req);
    res.writeHead(answer.statusCode ?? 502, { ...passedOn(answer.headers), "content-length": String(content.length) });
    res.end(content, () => told("after"));
  };

  const answerOnce = async (req: Http2ServerRequest, res: Http2ServerResponse, seen: Request): Promise<void> => {
    const body = req.method === "GET" ? undefined : await collected(req);
    const fault = seen.isWrite ? points.pass(seen.namespace, patternOf(seen)) : undefined;
    nr += 1;
    const write = `${nr} ${patternOf(seen)} ${seen.name}`;
    const log = (result: string): void => {
      if (seen.isWrite) points.log(seen.namespace, `${write} ${result}`);
    };
    if (fault === undefined || !refusals.has(fault.kind)) return await carryOut({ req, res, seen, body }, fault, log);
    log(`refused with ${fault.kind}`);
    refuse(res, Number(fault.kind));
  };

  const listener = createSecureServer(
    { allowHTTP1: true, cert: read("apiserver.crt"), key: read("apiserver.key") },
    (req, res) => {
      const seen = readRequest(req.method, req.url);
      void (seen.isWatch ? answerWatch(req, res) : answerOnce(req, res, seen)).catch(() => drop(req));
    },
  );
  listener.on("sessionError", () => {});
  listener.on("tlsClientError", () => {});
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const cut = (): void => {
    points.log("", "all watches are cut");
    for (const { answer } of watches) answer.destroy();
  };
  return {
    url: `https://127.0.0.1:${port}`,
    openWatches: () => watches.size,
    isHeld,
    hold: (ms) => {
      points.log("", `all watches are held for ${ms / 1_000} s`);
      heldUntil = performance.now() + ms;
      for (const { answer } of watches) answer.pause();
      setTimeout(() => {
        // A later hold ends by its own timer.
        if (!isHeld()) for (const { answer } of watches) answer.resume();
      }, ms + 1).unref();
    },
    cut,
    gone: () => {
      goneUntil = performance.now() + 1_000;
      cut();
    },
    serveStale: (version, ms) => {
      stale = { version, untilMs: performance.now() + ms };
    },
    close: () => listener.close(),
  };
};

/**
 * The routes of the page: its document and files, rows, stream, changes, one application, health, and actions. An
 * answer with rows is made and compressed once per change, and shared by all viewers of the same namespaces.
 */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type Context, Hono } from "hono";
import { compress } from "hono/compress";
import { secureHeaders } from "hono/secure-headers";
import { isName, isNamespace } from "../../api/events.ts";
import { forgetOldest } from "../../core/cache.ts";
import { type Standing, standbyLines } from "../../forward/controller-detection.ts";
import { unheardLines } from "../../forward/unheard.ts";
import type { Health } from "../../page/health.ts";
import { type Batch, keyOf, type Lanes } from "../../page/wire.ts";
import { once } from "../common/once.ts";
import type { Access, Viewer } from "./access.ts";
import { serveActions } from "./action-route.ts";
import type { Actions } from "./actions.ts";
import type { Board } from "./board.ts";
import type { Details, ObjectName } from "./detail.ts";
import type { PageFiles } from "./files.ts";
import type { Logs } from "./logs.ts";
import type { Waiting } from "./queue-order.ts";
import { openStreams } from "./stream.ts";

/** A text as gzip: the only form that is kept. */
type Compressed = Uint8Array<ArrayBuffer>;

const [gzipped, gunzipped] = [promisify(gzip), promisify(gunzip)];

const compressed = async (text: string): Promise<Compressed> => Uint8Array.from(await gzipped(text));

/** Sends a text in the form that the client accepts. */
const sent = async (c: Context, text: Compressed, headers: Readonly<Record<string, string>>) => {
  const isAccepted = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
  return isAccepted
    ? c.body(text, 200, { ...headers, vary: "accept-encoding", "content-encoding": "gzip" })
    : c.body(Uint8Array.from(await gunzipped(text)), 200, { ...headers, vary: "accept-encoding" });
};

/** The most answers that are kept: of all rows, and of each filter, by namespaces. */
const mostAnswers = 16;
/** A filter of more characters is cut off. */
const longestFilter = 300;

type Answer = { readonly revision: number; readonly at: number; readonly made: Promise<Compressed> };

export type SharedRows = (c: Context, viewer: Viewer) => Promise<Response>;

/** Answers `/page/rows`: with `?part=first&filter=` the beginning of the list. */
const openSharedRows = (board: Board, isStreamed: boolean): SharedRows => {
  const answers = new Map<string, Answer>();
  const make = (key: string, value: () => object): Answer => {
    const made: Answer = { revision: board.revision(), at: Date.now(), made: compressed(JSON.stringify(value())) };
    answers.delete(key);
    answers.set(key, made);
    forgetOldest(answers, mostAnswers);
    return made;
  };
  const answerFor = (key: string, value: () => object): Answer => {
    const known = answers.get(key);
    return known?.revision === board.revision() ? known : make(key, value);
  };
  return async (c, { namespaces }) => {
    const filter = (c.req.query("filter") ?? "").slice(0, longestFilter);
    const isFirst = c.req.query("part") === "first";
    const all = (): Batch => ({ ...board.read(namespaces), ...(isStreamed ? {} : { isPolled: true }) });
    const key = JSON.stringify(isFirst ? [namespaces, filter] : [namespaces]);
    const { at, made } = answerFor(key, isFirst ? () => board.first(namespaces, filter) : all);
    const age = String(Math.floor((Date.now() - at) / 1_000));
    return sent(c, await made, { "content-type": "application/json", "cache-control": "no-store", age });
  };
};

/** The age at which sums are made again, ms. */
const sumsMs = 30_000;

/** Answers `/page/costs`, the same to all viewers of the same namespaces for half a minute. */
const openSharedCosts = (board: Board): SharedRows => {
  const answers = new Map<string, Answer>();
  return async (c, { namespaces }) => {
    const key = JSON.stringify(namespaces);
    const known = answers.get(key);
    const isFresh = known !== undefined && Date.now() - known.at < sumsMs;
    const made = isFresh ? known.made : compressed(JSON.stringify(board.costs(namespaces)));
    if (!isFresh) answers.set(key, { revision: 0, at: Date.now(), made });
    forgetOldest(answers, mostAnswers);
    return sent(c, await made, { "content-type": "application/json", "cache-control": "no-store" });
  };
};

/** The parts of the page. */
export type PageParts = {
  readonly board: Board;
  readonly details: Details;
  readonly logs: Logs;
  /** Absent: the groups that wait in queues are not shown. */
  readonly waiting?: Waiting | undefined;
  readonly files: () => Promise<PageFiles>;
  /** Name of the cluster, for the page's head. */
  readonly cluster: string;
  readonly ready: () => boolean;
  /** The other controllers beside which nothing is written; absent: this process does not know. */
  readonly standing?: (() => Promise<Standing>) | undefined;
  /** Changes that the last resync found and no message had told. */
  readonly unheard?: (() => Promise<number>) | undefined;
  readonly depth?: (() => Promise<Health["queue"]>) | undefined;
  /** Called when somebody looks: watches that only the page needs begin then. */
  readonly viewed?: (() => void) | undefined;
  /** Resolves when the board is as fresh as it may be; absent: watches keep it so. */
  readonly fresh?: (() => Promise<void>) | undefined;
  /** False: readers of the page poll. */
  readonly isStreamed: boolean;
  /** Absent: the page only reads. */
  readonly actions?: Actions | undefined;
};

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

type Made = { readonly html: string; readonly files: ReadonlyMap<string, readonly [type: string, text: Compressed]> };

const document = (script: string, style: string, parts: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Rekindle</title>
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/${style}">
${parts.map((part) => `<link rel="modulepreload" href="/page/${part}">\n`).join("")}<script type="module" src="/page/${script}"></script>
</head>
<body><div id="page"></div><noscript>The page needs JavaScript. rekindle list says the same in a terminal.</noscript></body>
</html>
`;

/** The mark of the page: a flame. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#e8590c" d="M12 2c1 4 5 6 5 11a5 5 0 0 1-10 0c0-2 1-3 2-4 0 2 1 3 2 3 1-3-1-6 1-10z"/></svg>\n`;

const scriptType = "text/javascript; charset=utf-8";

const make = async ({ script, style, parts }: PageFiles): Promise<Made> => {
  const [scriptName, styleName] = [`page-${digest(script)}.js`, `page-${digest(style)}.css`];
  return {
    html: document(
      scriptName,
      styleName,
      parts.flatMap(({ name, isLater }) => (isLater ? [] : [name])),
    ),
    files: new Map<string, readonly [string, Compressed]>([
      [scriptName, [scriptType, await compressed(script)]],
      [styleName, ["text/css; charset=utf-8", await compressed(style)]],
      ...(await Promise.all(
        parts.map(async ({ name, text }) => [name, [scriptType, await compressed(text)]] as const),
      )),
      ["icon.svg", ["image/svg+xml", await compressed(icon)]],
    ]),
  };
};

const self = ["'self'"];
const none = ["'none'"];

/** Only this server's own files run, and none of them can turn a text into markup. */
const headers = secureHeaders({
  contentSecurityPolicy: {
    ...{ defaultSrc: none, scriptSrc: self, styleSrc: self, imgSrc: self, connectSrc: self },
    ...{ baseUri: none, formAction: self, frameAncestors: none },
    ...{ requireTrustedTypesFor: ["'script'"], trustedTypes: none },
  },
  referrerPolicy: "no-referrer",
  xFrameOptions: "DENY",
});

const serveFiles = (app: Hono, { files }: PageParts): void => {
  const made = once(async () => make(await files()));
  app.get("/page", async (c) => c.html((await made()).html, 200, { "cache-control": "no-cache" }));
  for (const path of ["/page/:file{page-[-\\w]+\\.(?:js|css)}", "/page/:file{icon\\.svg}"])
    app.get(path, async (c) => {
      const file = (await made()).files.get(c.req.param("file") ?? "");
      if (file === undefined) return c.json({ error: "not found" }, 404);
      const [type, text] = file;
      return await sent(c, text, { "content-type": type, "cache-control": "public, max-age=31536000, immutable" });
    });
};

/**
 * Answers with the batch. A reader that shows the same rows already gets 304, also from another process, whose ids
 * differ: the tag is made of the rows alone.
 */
const changes = (c: Context, { board }: PageParts, { namespaces }: Viewer): Response => {
  const batch = board.read(namespaces, c.req.query("since"));
  const etag = `"${batch.print}"`;
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, { etag });
  return c.json(batch, 200, { etag, "cache-control": "no-store" });
};

type Params = { readonly kind: string; readonly namespace: string; readonly name: string };

/** Returns the application of a path; undefined where this viewer may not read it, or none can have this name. */
const namedBy = ({ kind, namespace, name }: Params, { namespaces }: Viewer): ObjectName | undefined => {
  const isTheirs = namespaces.length === 0 || namespaces.includes(namespace);
  return isTheirs && isNamespace(namespace) && isName(name) ? { kind, namespace, name } : undefined;
};

const found = (c: Context, value: object | undefined): Response =>
  value === undefined ? c.json({ error: "not found" }, 404) : c.json(value, 200, { "cache-control": "no-store" });

type Admit = (c: Context) => Promise<Viewer | Response>;

/** Serves one application: all of it, its pods alone, and a log. */
const serveApplication = (app: Hono, { board, details, logs }: PageParts, admit: Admit): void => {
  app.get("/page/app/:kind/:namespace/:name", compress(), async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    const named = namedBy(c.req.param(), viewer);
    return found(c, named === undefined ? undefined : await details(named));
  });
  app.get("/page/log/:kind/:namespace/:name", compress(), async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    const named = namedBy(c.req.param(), viewer);
    const { pod = "", attempt } = c.req.query();
    if (attempt !== undefined && !/^[1-9]\d{0,8}$/.test(attempt))
      return c.json({ error: "attempt is the number of an attempt, from 1 on" }, 400);
    const isRequested = named !== undefined && (pod === "" || isName(pod));
    const wanted = { pod, attempt: attempt === undefined ? undefined : Number(attempt) };
    return found(c, isRequested ? await logs(named, wanted) : undefined);
  });
  app.get("/page/lanes/:kind/:namespace/:name", async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    const named = namedBy(c.req.param(), viewer);
    const lanes: Lanes | undefined =
      named === undefined ? undefined : { lanes: board.lanes(keyOf(named)), lanesAt: Date.now() };
    return found(c, lanes);
  });
};

/** Serves what waits in a queue. */
const serveQueues = (app: Hono, { waiting }: PageParts, admit: Admit): void => {
  app.get("/page/queue/:name", compress(), async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    return found(c, await waiting?.(c.req.param("name"), viewer.namespaces));
  });
};

/** Serves what leads to a session, and ends it. */
const serveSessions = (
  app: Hono,
  { signIn, signOut, ways = { token: "Token", provider: "" }, provider }: Access,
): void => {
  app.get("/page/session", (c) => c.json(ways, 200, { "cache-control": "no-store" }));
  app.post("/page/session", signIn);
  if (signOut !== undefined) app.delete("/page/session", signOut);
  provider?.serve(app);
};

/** Returns the lines about what needs a look. What cannot be read is left out. */
const warningsOf = async ({ standing, unheard }: PageParts): Promise<Pick<Health, "standby" | "unheard">> => {
  const standby = standbyLines((await standing?.().catch(() => undefined)) ?? new Map());
  const changes = unheardLines((await unheard?.().catch(() => undefined)) ?? 0);
  return {
    ...(standby.length === 0 ? {} : { standby }),
    ...(changes.length === 0 ? {} : { unheard: changes }),
  };
};

/** Serves the page. `access` judges every request but those for the document and its files, which hold no data. */
export const servePage = (app: Hono, parts: PageParts, access: Access): void => {
  const { board, cluster, ready, depth, isStreamed } = parts;
  const streams = openStreams(board);
  const startedAt = Date.now();
  const admit: Admit = async (c) => {
    const viewer = await access.admit(c);
    if (!(viewer instanceof Response)) parts.viewed?.();
    return viewer;
  };
  app.use("/page", headers);
  app.use("/page/*", headers);
  serveFiles(app, parts);
  serveSessions(app, access);
  const rows = openSharedRows(board, isStreamed);
  app.get("/page/rows", async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    await parts.fresh?.();
    return await rows(c, viewer);
  });
  app.get("/page/changes", compress(), async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    await parts.fresh?.();
    return changes(c, parts, viewer);
  });
  app.get("/page/stream", async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    return isStreamed ? streams.open(c, viewer) : c.json({ error: "not streamed here: poll /page/changes" }, 501);
  });
  serveQueues(app, parts, admit);
  const costs = openSharedCosts(board);
  app.get("/page/costs", async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    await parts.fresh?.();
    return await costs(c, viewer);
  });
  serveApplication(app, parts, admit);
  serveActions(app, parts.actions, admit);
  app.get("/page/health", async (c) => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    const { namespaces, name: caller } = viewer;
    // A queue that cannot be reached is left out.
    const queue = namespaces.length > 0 ? undefined : await depth?.().catch(() => undefined);
    const rows = namespaces.length > 0 ? -1 : board.size();
    const warnings = await warningsOf(parts);
    const { actions } = parts;
    const health: Health = {
      may: viewer.grants.filter(({ ability }) => (ability === "act" ? actions : actions?.trigger) !== undefined),
      canLeave: access.signOut !== undefined,
      ...{ now: Date.now(), cluster, ready: ready(), startedAt, rows, streams: streams.count(), caller, namespaces },
      ...(queue === undefined ? {} : { queue }),
      ...warnings,
    };
    return c.json(health, 200, { "cache-control": "no-store" });
  });
};

/** The page alone, on this machine. `hosts`: the names under which it may be reached; others may be a rebound name. */
export const pageApp = (parts: PageParts, access: Access, hosts: () => readonly string[]): Hono => {
  const app = new Hono();
  app.use(async (c, next) => {
    if (!hosts().includes(c.req.header("host") ?? "")) return c.json({ error: "forbidden: unknown host name" }, 403);
    return await next();
  });
  app.get("/", (c) => c.redirect("/page"));
  servePage(app, parts, access);
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((cause, c) => c.json({ error: cause instanceof Error ? cause.message : "internal" }, 500));
  return app;
};

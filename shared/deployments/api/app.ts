/** The HTTP API: health, metrics, triggers, the read API and acknowledgements of updates. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { stepOf } from "../../api/intent.ts";
import { openRate } from "../../api/rate.ts";
import { type Gate, openGate, originOf, strangersPerMinute, wait } from "../authentication/access-check.ts";
import type { Acknowledging } from "../authentication/acknowledgements.ts";
import { once } from "../common/once.ts";
import type { DoorParts } from "../host/process.ts";
import { serveReads } from "./read-routes.ts";
import { serveTriggers } from "./trigger-routes.ts";

const serveHealth = (app: Hono, { ready }: DoorParts): void => {
  app.get("/healthz", (c) => c.text("ok"));
  app.get("/readyz", (c) => (ready() ? c.text("ok") : c.text("watches are not synced yet", 503)));
};

const serveFigures = (app: Hono, { scrape, guarded }: DoorParts, gate: Gate): void => {
  app.get("/metrics", async (c) => {
    if (guarded === true) {
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      if (admitted.caller.namespaces.length > 0)
        return c.json({ error: "metrics are of the whole cluster, and this caller is limited to namespaces" }, 403);
    }
    if (scrape === undefined)
      return c.json({ error: "no metrics without a cluster to read: configure REKINDLE_CLUSTER_RECORD" }, 404);
    const { text, type } = await scrape();
    return c.body(text, 200, { "content-type": type });
  });
};

/** Returns the URL at which the listener receives updates, as its request claims. */
const listenerIn = (c: Context): string => c.req.header("x-rekindle-listener") ?? "";

/**
 * Returns the refusal of an acknowledgement: too many failures from its address, or a wrong signature; undefined where
 * it is valid.
 */
type Refuses = (c: Context, body: string) => Promise<Response | undefined>;

/**
 * Opens the check of acknowledgements. Its rate limit is separate, so that requests here do not count against callers.
 */
const openListeners = (verify: Acknowledging["verify"]): Refuses => {
  const rate = openRate(() => performance.now());
  return async (c, body) => {
    const { address } = originOf(c.env);
    const blocked = rate(address, strangersPerMinute, 0);
    if (blocked > 0) return wait(c, blocked);
    const timestamp = c.req.header("x-rekindle-timestamp") ?? "";
    const given = c.req.header("x-rekindle-signature") ?? "";
    if (await verify(listenerIn(c), { timestamp, method: "POST", path: c.req.path, body }, given)) return undefined;
    const seconds = rate(address, strangersPerMinute);
    return seconds > 0 ? wait(c, seconds) : c.json({ error: "signature" }, 401);
  };
};

const serveAcknowledgements = (app: Hono, { acknowledging, kinds }: DoorParts): void => {
  const refuses = acknowledging === undefined ? undefined : openListeners(acknowledging.verify);
  app.use("/acknowledge/*", bodyLimit({ maxSize: 65_536, onError: (c) => c.json({ error: "body too large" }, 413) }));
  app.post("/acknowledge/:kind/:namespace/:name", async (c) => {
    if (acknowledging === undefined) return c.json({ error: "off: set updatesSecret" }, 404);
    const body = await c.req.text();
    const refusal = await refuses?.(c, body);
    if (refusal !== undefined) return refusal;
    const given = c.req.header("x-rekindle-signature") ?? "";
    const key = c.req.param();
    const asked = stepOf(key, kinds(), given);
    if (asked.do === "nothing") return c.json({ error: asked.why }, asked.why.startsWith("kind") ? 404 : 400);
    const acknowledged = { id: body.trim(), listener: listenerIn(c), event: given.replace(/^sha256=/, "") };
    const taken = await acknowledging.take(key, acknowledged);
    return taken ? c.json({ accepted: true }, 202) : c.json({ error: "the body must be an update's id" }, 400);
  });
};

/** Serves the page. Its code is loaded with the first request for it. */
const servePages = (app: Hono, { page }: DoorParts, gate: Gate): void => {
  if (page === undefined) return;
  const open = once(async (): Promise<Hono> => {
    const { callersPage } = await import("../page/callers.ts");
    return callersPage(await page(), gate);
  });
  for (const path of ["/page", "/page/*"]) app.all(path, async (c) => (await open()).fetch(c.req.raw, c.env));
};

/** Builds the hono app, the same for a host, a container and an HTTP function. */
export const apiApp = (parts: DoorParts): Hono => {
  const app = new Hono();
  const gate = openGate(parts.identify);
  serveHealth(app, parts);
  serveFigures(app, parts, gate);
  serveTriggers(app, parts, gate);
  serveReads(app, parts, gate);
  serveAcknowledgements(app, parts);
  servePages(app, parts, gate);
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal" }, 500));
  return app;
};

/** The HTTP door: health, and signed triggers that ask for a step of one key. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { DoorParts } from "./process.ts";

const name = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const namespace = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The hono app; the same behind a host, a container and an HTTP function. */
export const apiApp = ({ ready, kinds, trigger, verify, scrape }: DoorParts): Hono => {
  const app = new Hono();
  app.get("/healthz", (c) => c.text("ok"));
  app.get("/readyz", (c) => (ready() ? c.text("ok") : c.text("watches are not synced yet", 503)));
  app.get("/metrics", async (c) => {
    if (scrape === undefined) return c.json({ error: "this function keeps no figures" }, 404);
    const { text, type } = await scrape();
    return c.body(text, 200, { "content-type": type });
  });
  app.use("/reconcile/*", bodyLimit({ maxSize: 65_536, onError: (c) => c.json({ error: "body too large" }, 413) }));
  app.post("/reconcile/:kind/:namespace/:name", async (c) => {
    if (verify === undefined) return c.json({ error: "triggers are off: configure trigger-secret-file" }, 404);
    const timestamp = c.req.header("x-rekindle-timestamp") ?? "";
    const given = c.req.header("x-rekindle-signature") ?? "";
    const signed = { timestamp, method: "POST", path: c.req.path, body: await c.req.text() };
    if (!verify(signed, given)) return c.json({ error: "signature" }, 401);
    const key = c.req.param();
    if (!kinds().includes(key.kind)) return c.json({ error: `kind must be one of ${kinds().join(", ")}` }, 404);
    if (!namespace.test(key.namespace) || !name.test(key.name)) return c.json({ error: "not a Kubernetes name" }, 400);
    await trigger(key, given.replace(/^sha256=/, ""));
    return c.json({ accepted: true }, 202);
  });
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal" }, 500));
  return app;
};

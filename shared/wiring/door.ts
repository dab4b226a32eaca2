/** The HTTP door: health, and signed triggers that ask for a step of one key. */
import { Hono, type HonoRequest } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Signed } from "../core/signature.ts";
import type { DoorParts } from "./process.ts";

const name = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const namespace = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

type Named = { readonly kind: string; readonly namespace: string; readonly name: string };
type Wrong = { readonly error: string; readonly status: 400 | 404 };

/** What a request says, and the signature that it gives for it. */
const signedIn = async (request: HonoRequest): Promise<{ readonly signed: Signed; readonly given: string }> => {
  const timestamp = request.header("x-rekindle-timestamp") ?? "";
  const given = request.header("x-rekindle-signature") ?? "";
  return { signed: { timestamp, method: "POST", path: request.path, body: await request.text() }, given };
};

/** The hono app; the same behind a host, a container and an HTTP function. */
export const apiApp = ({ ready, kinds, trigger, verify, acknowledging, scrape }: DoorParts): Hono => {
  const app = new Hono();
  app.get("/healthz", (c) => c.text("ok"));
  app.get("/readyz", (c) => (ready() ? c.text("ok") : c.text("watches are not synced yet", 503)));
  app.get("/metrics", async (c) => {
    if (scrape === undefined) return c.json({ error: "this function keeps no figures" }, 404);
    const { text, type } = await scrape();
    return c.body(text, 200, { "content-type": type });
  });
  const limit = bodyLimit({ maxSize: 65_536, onError: (c) => c.json({ error: "body too large" }, 413) });
  const wrong = ({ kind, namespace: place, name: of }: Named): Wrong | undefined => {
    if (!kinds().includes(kind)) return { error: `kind must be one of ${kinds().join(", ")}`, status: 404 };
    return namespace.test(place) && name.test(of) ? undefined : { error: "not a Kubernetes name", status: 400 };
  };
  app.use("/reconcile/*", limit);
  app.post("/reconcile/:kind/:namespace/:name", async (c) => {
    if (verify === undefined) return c.json({ error: "triggers are off: configure trigger-secret-file" }, 404);
    const { signed, given } = await signedIn(c.req);
    if (!verify(signed, given)) return c.json({ error: "signature" }, 401);
    const key = c.req.param();
    const told = wrong(key);
    if (told !== undefined) return c.json({ error: told.error }, told.status);
    await trigger(key, given.replace(/^sha256=/, ""));
    return c.json({ accepted: true }, 202);
  });
  app.use("/acknowledge/*", limit);
  app.post("/acknowledge/:kind/:namespace/:name", async (c) => {
    if (acknowledging === undefined) return c.json({ error: "off: configure updates-secret-file" }, 404);
    const { signed, given } = await signedIn(c.req);
    if (!acknowledging.verify(signed, given)) return c.json({ error: "signature" }, 401);
    const key = c.req.param();
    const told = wrong(key);
    if (told !== undefined) return c.json({ error: told.error }, told.status);
    const taken = await acknowledging.take(key, signed.body.trim(), given.replace(/^sha256=/, ""));
    return taken ? c.json({ accepted: true }, 202) : c.json({ error: "the body must be an update's id" }, 400);
  });
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal" }, 500));
  return app;
};

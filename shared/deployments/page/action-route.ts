/**
 * The requests that change something: from the page alone, of viewers with the ability, in their namespaces. Another
 * site cannot send them: a browser names its origin, and lets no foreign page set their header.
 */
import type { Context, Hono } from "hono";
import * as z from "zod";
import { openRate } from "../../api/callers.ts";
import { isName, isNamespace } from "../../api/events.ts";
import { jsonOf } from "../../core/json.ts";
import { actionHeader, actionNames } from "../../page/wire.ts";
import { limitBody } from "../http/request-body.ts";
import { hasAbility, isOwn, type Viewer } from "./access.ts";
import type { Actions, Answer, RequestedAction } from "./actions.ts";

const text = z.string().min(1).max(64);

const body = z.strictObject({ action: z.enum(actionNames), uid: text, version: text });

/** Actions of one caller within a minute. */
const perMinute = 60;
const mostBytes = 4_096;

const forbidden = (c: Context, why: string): Response => c.json({ error: `forbidden: ${why}` }, 403);

/** Returns the action, or the answer that refuses its form. */
const wishIn = async (c: Context): Promise<RequestedAction | Response> => {
  if (!isOwn(c)) return forbidden(c, "the request comes from another site");
  if (c.req.header(actionHeader) !== "1") return forbidden(c, `the request has no header ${actionHeader}: 1`);
  if (!/^application\/json\b/.test(c.req.header("content-type") ?? ""))
    return c.json({ error: "application/json is needed" }, 415);
  const once = c.req.header("idempotency-key") ?? "";
  if (!/^[\w-]{8,64}$/.test(once)) return c.json({ error: "an Idempotency-Key of 8 to 64 characters is needed" }, 400);
  const { data } = body.safeParse(jsonOf(await c.req.text()));
  return data === undefined ? c.json({ error: "action, uid and version are needed" }, 400) : { ...data, once };
};

/** Returns the answer that refuses an action to this viewer; undefined: it may act there. */
const refusal = (c: Context, viewer: Viewer, place: string, { action }: RequestedAction) => {
  const ability = action === "reconcile" ? "trigger" : "act";
  if (hasAbility(viewer, ability, place)) return undefined;
  const { name, grants } = viewer;
  if (!grants.some((one) => one.ability === ability))
    return forbidden(c, `the caller ${name} has no ability ${ability}`);
  return forbidden(
    c,
    place === ""
      ? `the caller ${name} is limited to namespaces, and a queue has none`
      : `the caller ${name} has no access to namespace ${place}`,
  );
};

type Admit = (c: Context) => Promise<Viewer | Response>;
type Perform = (viewer: Viewer, wish: RequestedAction) => Promise<Answer> | Response;

/** Serves the actions. `actions` undefined: the page of this process only reads. */
export const serveActions = (app: Hono, actions: Actions | undefined, admit: Admit): void => {
  const rate = openRate(() => performance.now());
  const answer = async (c: Context, place: string, perform: Perform): Promise<Response> => {
    const viewer = await admit(c);
    if (viewer instanceof Response) return viewer;
    const wish = await wishIn(c);
    if (wish instanceof Response) return wish;
    const no = refusal(c, viewer, place, wish);
    if (no !== undefined) return no;
    const seconds = rate(viewer.name, perMinute);
    if (seconds > 0) return c.json({ error: "too many requests" }, 429, { "retry-after": String(seconds) });
    const found = await perform(viewer, wish);
    return found instanceof Response ? found : c.json(found.body, found.status, { "cache-control": "no-store" });
  };
  app.use("/page/action/*", limitBody(mostBytes));
  if (actions === undefined) {
    app.post("/page/action/*", (c) => forbidden(c, "the page of this process only reads"));
    return;
  }
  app.post("/page/action/Queue/:name", (c) => {
    const { name } = c.req.param();
    return answer(c, "", (viewer, wish) =>
      isName(name) ? actions.operate(viewer, name, wish) : c.json({ error: "not a Kubernetes name" }, 400),
    );
  });
  app.post("/page/action/:kind/:namespace/:name", (c) => {
    const { kind, namespace, name } = c.req.param();
    return answer(c, namespace, (viewer, wish) =>
      isNamespace(namespace) && isName(name)
        ? actions.act(viewer, { kind, namespace, name }, wish)
        : c.json({ error: "not a Kubernetes name" }, 400),
    );
  });
};

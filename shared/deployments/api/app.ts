/**
 * The HTTP API as one application: the read API, the triggers of steps and notices, health and metrics, and the page
 * where it is served.
 */
import { type Context, Hono } from "hono";
import { type Caller, forbidden, mayReach, openRate, unauthorized } from "../../api/callers.ts";
import {
  abilityFor,
  alertIntents,
  eventIntents,
  type Intent,
  isName,
  isNamespace,
  type ObjectName,
  stepOf,
} from "../../api/events.ts";
import openApi from "../../api/openapi.json" with { type: "json" };
import { beginsAt, listQuery } from "../../api/read-schemas.ts";
import { ApiError } from "../../core/http.ts";
import { standbyLines } from "../../forward/controller-detection.ts";
import { isNamespaced, naming } from "../../registry/names.ts";
import {
  type Acknowledging,
  type Admitted,
  type Gate,
  openGate,
  originOf,
  strangersPerMinute,
  wait,
} from "../common/authentication.ts";
import { once } from "../common/once.ts";
import type { ApiParts } from "../host/process.ts";
import { limitBody } from "../http/request-body.ts";
import type { ObjectDetail, Reader } from "../read-api/reader.ts";

const off = (c: Context): Response => c.json({ error: "the read API is off: configure REKINDLE_CLUSTER_RECORD" }, 404);

type Query = Readonly<Record<string, string>>;

const list = async (c: Context, reader: Reader, caller: Caller, given: Query): Promise<Response> => {
  // Code of kinds as people are shown them is loaded with the first read.
  const { shownKinds } = await import("../../inspection/kinds/all.ts");
  const query = listQuery(shownKinds).safeParse(given);
  const at = query.success ? beginsAt(query.data) : undefined;
  if (!query.success || at === undefined) {
    const fields = query.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? ["continue"];
    return c.json({ error: fields.join("; ") }, 400);
  }
  const { namespace } = query.data;
  if (namespace !== undefined && !mayReach(caller, namespace)) return c.json({ error: forbidden }, 403);
  try {
    return c.json(await reader.list(query.data, at, caller.namespaces));
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 410) throw cause;
    return c.json({ error: "continue: this token has expired; begin with the first page" }, 400);
  }
};

/** The parts of one object, by the last part of the path. */
const parts: Readonly<Record<string, (shown: ObjectDetail) => object>> = {
  "": ({ detail }) => detail,
  "/executors": ({ executors }) => executors,
  "/losses": ({ losses }) => losses,
  "/updates": ({ updates }) => updates,
};

/** Serves the read API. `reader` absent: it is off. */
const serveReads = (app: Hono, { reader }: ApiParts, gate: Gate): void => {
  app.get("/openapi.json", (c) => c.json(openApi));
  for (const path of ["/applications", "/jobs"])
    app.get(path, async (c) => {
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      const kind = path === "/jobs" ? { kind: "Job" } : {};
      return reader === undefined ? off(c) : await list(c, reader, admitted.caller, { ...c.req.query(), ...kind });
    });
  for (const [path, partOf] of Object.entries(parts))
    app.get(`/applications/:kind/:namespace/:name${path}`, async (c) => {
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      if (reader === undefined) return off(c);
      const { kind = "", namespace = "", name = "" } = c.req.param();
      const known = isNamespace(namespace) && isName(name) && mayReach(admitted.caller, namespace);
      const shown = known ? await reader.find({ kind, namespace, name }) : undefined;
      return shown === undefined ? c.json({ error: "not found" }, 404) : c.json(partOf(shown));
    });
};

type Wanted = Exclude<Intent, { readonly do: "nothing" }>;

const isWanted = (intent: Intent): intent is Wanted => intent.do !== "nothing";

const mayAsk = (caller: Caller, intent: Wanted): boolean =>
  caller.may.includes(abilityFor[intent.do]) && (intent.do === "notice" || mayReach(caller, intent.namespace));

const about = (intent: Wanted): string =>
  intent.do === "notice" ? `notice ${intent.node}` : `step ${intent.kind}/${intent.namespace}/${intent.name}`;

const isStay = (intent: Wanted | undefined): boolean => intent?.do === "notice" && intent.until === undefined;

/** Removes duplicates: several events about one object request one step. A notice ends one that the node stays. */
const distinct = (intents: readonly Wanted[]): readonly Wanted[] => {
  const kept = new Map<string, Wanted>();
  for (const intent of intents) {
    const before = kept.get(about(intent));
    if (before === undefined || isStay(before) !== isStay(intent)) kept.set(about(intent), intent);
  }
  return [...kept.values()];
};

type Parts = Pick<ApiParts, "kinds" | "trigger" | "notice">;

/** Sends the intent to the queue. Throws when that fails: the caller tries again. */
export const carry = async ({ trigger, notice }: Parts, intent: Wanted): Promise<void> => {
  if (intent.do === "notice") await notice(intent.node, intent.until, intent.event);
  else await trigger({ kind: intent.kind, namespace: intent.namespace, name: intent.name }, intent.event);
};

const answer = async (
  c: Context,
  parts: Parts,
  { caller }: Admitted,
  intents: readonly Intent[] | undefined,
): Promise<Response> => {
  if (intents === undefined) return c.json({ error: "this path does not accept this request" }, 400);
  const wanted = distinct(intents.filter(isWanted));
  const allowed = wanted.filter((intent) => mayAsk(caller, intent));
  if (wanted.length > 0 && allowed.length === 0) return c.json({ error: forbidden }, 403);
  await Promise.all(allowed.map((intent) => carry(parts, intent)));
  const passed = intents.flatMap((intent) => (intent.do === "nothing" ? [intent.why] : []));
  const denied = wanted.length - allowed.length;
  return c.json({ accepted: allowed.length, ...(denied > 0 ? { denied } : {}), passed: [...new Set(passed)] }, 202);
};

/**
 * Returns the id of the event, which is the same for a repeat within five minutes: from the signature, else from the
 * Idempotency-Key, else from the time, so that each request counts.
 */
const eventOf = (c: Context, { caller }: Admitted, at: number): string => {
  const signed = c.req.header("x-rekindle-signature");
  if (signed !== undefined) return signed.replace(/^sha256=/, "");
  return `${caller.name} ${c.req.header("idempotency-key") ?? at}`;
};

const step = async (c: Context, parts: Parts, admitted: Admitted, key: ObjectName): Promise<Response> => {
  const intent = stepOf(key, parts.kinds(), eventOf(c, admitted, Date.now()));
  if (intent.do === "step") {
    if (!mayAsk(admitted.caller, intent)) return c.json({ error: forbidden }, 403);
    await carry(parts, intent);
    return c.json({ accepted: true }, 202);
  }
  const why = intent.do === "nothing" ? intent.why : "";
  return c.json({ error: why }, why.startsWith("kind") ? 404 : 400);
};

/** Serves the triggers. */
const serveTriggers = (app: Hono, parts: ApiParts, gate: Gate): void => {
  const { kinds, plurals } = parts;
  app.use("/reconcile/*", limitBody(65_536));
  app.post("/reconcile/:kind/:namespace/:name", async (c) => {
    const admitted = await gate(c, "trigger");
    return admitted instanceof Response ? admitted : await step(c, parts, admitted, c.req.param());
  });
  app.use("/alerts", limitBody(262_144));
  app.post("/alerts", async (c) => {
    const admitted = await gate(c, undefined);
    if (admitted instanceof Response) return admitted;
    return await answer(c, parts, admitted, alertIntents(admitted.body, { kinds: kinds(), naming, now: Date.now() }));
  });
  app.use("/events", limitBody(262_144));
  app.post("/events", async (c) => {
    const admitted = await gate(c, undefined);
    if (admitted instanceof Response) return admitted;
    const reading = { kinds: kinds(), plurals, now: Date.now() };
    return await answer(
      c,
      parts,
      admitted,
      eventIntents((name) => c.req.header(name), admitted.body, reading),
    );
  });
};

const serveHealth = (app: Hono, { ready, standing }: ApiParts): void => {
  app.get("/healthz", (c) => c.text("ok"));
  app.get("/readyz", async (c) => {
    if (!ready()) return c.text("watches are not synced yet", 503);
    const lines = standbyLines((await standing?.()) ?? new Map());
    return c.text(["ok", ...lines].join("\n"));
  });
};

const serveFigures = (app: Hono, { scrape, guarded }: ApiParts, gate: Gate): void => {
  app.get("/metrics", async (c) => {
    if (guarded === true) {
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      if (admitted.caller.namespaces.length > 0)
        return c.json({ error: "metrics cover the whole cluster, and this caller is limited to namespaces" }, 403);
    }
    if (scrape === undefined)
      return c.json({ error: "no metrics without a cluster to read: configure REKINDLE_CLUSTER_RECORD" }, 404);
    const { text, type } = await scrape();
    return c.body(text, 200, { "content-type": type });
  });
};

/** Returns the URL at which the listener receives updates, as its request claims. */
const listenerIn = (c: Context): string => c.req.header("x-rekindle-listener") ?? "";

/** Returns the body of an acknowledgement, or its refusal: too many failures from its address, or no valid signature. */
type Verified = (c: Context) => Promise<Response | string>;

/**
 * Opens the check of acknowledgements. Its rate limit is separate, so that requests here do not count against callers.
 */
const openListeners = (verify: Acknowledging["verify"]): Verified => {
  const rate = openRate(() => performance.now());
  return async (c) => {
    const { address } = originOf(c.env);
    const blocked = rate(address, strangersPerMinute, 0);
    if (blocked > 0) return wait(c, blocked);
    const timestamp = c.req.header("x-rekindle-timestamp") ?? "";
    const given = c.req.header("x-rekindle-signature") ?? "";
    const body = given === "" ? undefined : await c.req.text();
    if (
      body !== undefined &&
      (await verify(listenerIn(c), { timestamp, method: "POST", path: c.req.path, body }, given))
    )
      return body;
    const seconds = rate(address, strangersPerMinute);
    return seconds > 0 ? wait(c, seconds) : c.json({ error: unauthorized }, 401);
  };
};

const serveAcknowledgements = (app: Hono, { acknowledging, kinds }: ApiParts): void => {
  const verified = acknowledging === undefined ? undefined : openListeners(acknowledging.verify);
  app.use("/acknowledge/*", limitBody(65_536));
  app.post("/acknowledge/:kind/:namespace/:name", async (c) => {
    if (acknowledging === undefined || verified === undefined)
      return c.json({ error: "acknowledgements are off: set updatesSecret" }, 404);
    const body = await verified(c);
    if (body instanceof Response) return body;
    const given = c.req.header("x-rekindle-signature") ?? "";
    const key = c.req.param();
    const wanted = stepOf(key, kinds(), given);
    if (wanted.do === "nothing") return c.json({ error: wanted.why }, wanted.why.startsWith("kind") ? 404 : 400);
    const acknowledged = { id: body.trim(), listener: listenerIn(c), event: given.replace(/^sha256=/, "") };
    const taken = await acknowledging.take(key, acknowledged);
    return taken ? c.json({ accepted: true }, 202) : c.json({ error: "the body must be an update's id" }, 400);
  });
};

/** Serves the page. Its code is loaded with the first request for it. */
const servePages = (app: Hono, { page, trigger }: ApiParts, gate: Gate): void => {
  if (page === undefined) return;
  const open = once(async (): Promise<Hono> => {
    const { callersPage } = await import("../page/callers.ts");
    return callersPage(await page(), gate, trigger);
  });
  for (const path of ["/page", "/page/*"]) app.all(path, async (c) => (await open()).fetch(c.req.raw, c.env));
};

/** Builds the hono app, the same for a host, a container and an HTTP function. Paths name objects by their namespace. */
export const apiApp = (given: ApiParts): Hono => {
  const parts = { ...given, kinds: () => given.kinds().filter(isNamespaced) };
  const app = new Hono();
  const gate = openGate(parts.identify);
  serveHealth(app, parts);
  serveFigures(app, parts, gate);
  serveTriggers(app, parts, gate);
  serveReads(app, parts, gate);
  serveAcknowledgements(app, parts);
  servePages(app, parts, gate);
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal error: see the log of this process" }, 500));
  return app;
};

/** Triggers over HTTP: a step of one key, Alertmanager's webhook, and events. Each only sends messages to the queue. */
import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { alertIntents } from "../../api/alerts.ts";
import { type Caller, reaches } from "../../api/callers.ts";
import { eventIntents } from "../../api/events.ts";
import { abilityFor, type Intent, type Named, stepOf } from "../../api/intent.ts";
import type { Admitted, Gate } from "../authentication/access-check.ts";
import type { DoorParts } from "../host/process.ts";

type Wanted = Exclude<Intent, { readonly do: "nothing" }>;

const isWanted = (intent: Intent): intent is Wanted => intent.do !== "nothing";

const mayAsk = (caller: Caller, intent: Wanted): boolean =>
  caller.may.includes(abilityFor[intent.do]) && (intent.do === "notice" || reaches(caller, intent.namespace));

const about = (intent: Wanted): string =>
  intent.do === "notice" ? `notice ${intent.node}` : `step ${intent.kind}/${intent.namespace}/${intent.name}`;

/** Removes duplicates: several events about one object request one step. */
const distinct = (intents: readonly Wanted[]): readonly Wanted[] => {
  const first = new Map<string, Wanted>();
  for (const intent of intents) if (!first.has(about(intent))) first.set(about(intent), intent);
  return [...first.values()];
};

type Parts = Pick<DoorParts, "kinds" | "trigger" | "notice">;

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
  if (wanted.length > 0 && allowed.length === 0) return c.json({ error: "forbidden" }, 403);
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

const step = async (c: Context, parts: Parts, admitted: Admitted, key: Named): Promise<Response> => {
  const intent = stepOf(key, parts.kinds(), eventOf(c, admitted, Date.now()));
  if (intent.do === "step") {
    if (!mayAsk(admitted.caller, intent)) return c.json({ error: "forbidden" }, 403);
    await carry(parts, intent);
    return c.json({ accepted: true }, 202);
  }
  const why = intent.do === "nothing" ? intent.why : "";
  return c.json({ error: why }, why.startsWith("kind") ? 404 : 400);
};

const limited = (maxSize: number) => bodyLimit({ maxSize, onError: (c) => c.json({ error: "body too large" }, 413) });

/** Serves the triggers. */
export const serveTriggers = (app: Hono, parts: DoorParts, gate: Gate): void => {
  const { kinds, plurals } = parts;
  app.use("/reconcile/*", limited(65_536));
  app.post("/reconcile/:kind/:namespace/:name", async (c) => {
    const admitted = await gate(c, "trigger");
    return admitted instanceof Response ? admitted : await step(c, parts, admitted, c.req.param());
  });
  app.use("/alerts", limited(262_144));
  app.post("/alerts", async (c) => {
    const admitted = await gate(c, undefined);
    if (admitted instanceof Response) return admitted;
    return await answer(c, parts, admitted, alertIntents(admitted.body, { kinds: kinds(), now: Date.now() }));
  });
  app.use("/events", limited(262_144));
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

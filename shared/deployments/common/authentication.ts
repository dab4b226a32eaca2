/**
 * Access control of the HTTP API: the callers, parsed from their setting, are identified, their abilities checked and
 * their rates limited; a refusal does not say which proof failed. Listeners' acknowledgements in requests of their own
 * are signed with the key that signs their updates.
 */
import type { Context } from "hono";
import * as z from "zod";
import { openSubjects } from "../../adapters/oidc.ts";
import {
  type Ability,
  type Caller,
  callers,
  forbidden,
  holderOf,
  type Identify,
  identifier,
  openRate,
  type Rate,
  unauthorized,
} from "../../api/callers.ts";
import { eventHeaders } from "../../api/events.ts";
import { jsonOf } from "../../core/json.ts";
import { dedupe, digest, type Key } from "../../core/key.ts";
import { listenerKey, type Signed, verified } from "../../core/signature.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import { acknowledgementOf } from "../../updates/acknowledgement.ts";
import type { Secret } from "./secret.ts";

export type Admitted = { readonly caller: Caller; readonly body: string };

/** Returns the admitted request, or the response that refuses it. */
export type Gate = (c: Context, ability: Ability | undefined) => Promise<Admitted | Response>;

/**
 * The request context of API Gateway, in both payload versions; only the platform that invokes the function can set it.
 */
const gateway = z.looseObject({
  requestContext: z.looseObject({
    http: z.looseObject({ sourceIp: z.string() }).optional(),
    identity: z.looseObject({ sourceIp: z.string().nullish(), userArn: z.string().nullish() }).optional(),
    authorizer: z.looseObject({ iam: z.looseObject({ userArn: z.string() }).optional() }).nullish(),
  }),
});

const connection = z.looseObject({
  incoming: z.object({ socket: z.object({ remoteAddress: z.string().optional() }) }),
});

type Origin = { readonly address: string; readonly arn: string | undefined };

/** Returns the origin of a request, as the platform or the socket reports it; headers are not trusted. */
export const originOf = (env: unknown): Origin => {
  const { data: platform } = gateway.safeParse(env);
  if (platform !== undefined) {
    const { http, identity, authorizer } = platform.requestContext;
    const arn = authorizer?.iam?.userArn ?? identity?.userArn ?? undefined;
    return { address: http?.sourceIp ?? identity?.sourceIp ?? "", arn };
  }
  return { address: connection.safeParse(env).data?.incoming.socket.remoteAddress ?? "", arn: undefined };
};

/** Requests per minute without valid proof from one address. */
export const strangersPerMinute = 60;

export const wait = (c: Context, seconds: number): Response =>
  c.json({ error: "too many requests" }, 429, { "retry-after": String(seconds) });

/** Collects the proofs of identity in a request. */
const askingOf = (c: Context, body: string, arn: string | undefined): Parameters<Identify>[0] => {
  const { search } = new URL(c.req.url);
  return {
    ...{ method: c.req.method, path: `${c.req.path}${search}`, body, arn },
    headers: eventHeaders((name) => c.req.header(name)),
    timestamp: c.req.header("x-rekindle-timestamp") ?? "",
    signature: c.req.header("x-rekindle-signature") ?? "",
    authorization: c.req.header("authorization") ?? "",
  };
};

/**
 * True for a request without any proof. It is refused before its body is read, so it does not share a rate limit with
 * callers.
 */
const isUnproven = (c: Context, arn: string | undefined): boolean =>
  arn === undefined &&
  c.req.header("x-rekindle-signature") === undefined &&
  c.req.header("authorization") === undefined;

type Refuse = (c: Context, origin: Origin) => Response | undefined;

/** Refuses before anything is read or hashed: a request without proof, and an address with too many failed proofs. */
const unread =
  (rate: Rate): Refuse =>
  (c, { address, arn }) => {
    if (isUnproven(c, arn)) {
      const seconds = rate(`unproven ${address}`, strangersPerMinute);
      return seconds > 0 ? wait(c, seconds) : c.json({ error: unauthorized }, 401);
    }
    const blocked = rate(`address ${address}`, strangersPerMinute, 0);
    return blocked > 0 ? wait(c, blocked) : undefined;
  };

/** Opens the access control. `now`: monotonic, ms. */
export const openGate = (identify: Identify | undefined, now: () => number = () => performance.now()): Gate => {
  const rate = openRate(now);
  const refused = unread(rate);
  return async (c, ability) => {
    if (identify === undefined) return c.json({ error: "triggers are off: configure trigger-secret-file" }, 404);
    const origin = originOf(c.env);
    const refusal = refused(c, origin);
    if (refusal !== undefined) return refusal;
    const body = await c.req.text();
    const caller = await identify(askingOf(c, body, origin.arn));
    if (caller === undefined) {
      const seconds = rate(`address ${origin.address}`, strangersPerMinute);
      return seconds > 0 ? wait(c, seconds) : c.json({ error: unauthorized }, 401);
    }
    const seconds = rate(`caller ${caller.name}`, caller.perMinute);
    if (seconds > 0) return wait(c, seconds);
    if (ability !== undefined && !caller.may.includes(ability)) return c.json({ error: forbidden }, 403);
    return { caller, body };
  };
};

const shortest = 16;

/** Parses the callers. Throws one line that names every wrong field and contains no secret. */
export const callersOf = (text: string): readonly Caller[] => {
  if (!text.startsWith("[")) {
    const holder = holderOf(text);
    if (holder.keys?.every((key) => key.length >= shortest) !== true || holder.keys.length === 0)
      throw new Error(`a secret of at least ${shortest} characters is needed, or callers as JSON`);
    return [holder];
  }
  const given = jsonOf(text);
  if (given === undefined) throw new Error("callers: JSON is needed, a list of callers");
  const read = callers.safeParse(given);
  if (read.success) return read.data;
  const wrong = read.error.issues.map(({ path, message }) => `${path.join(".") || "callers"}: ${message}`);
  throw new Error(`callers: ${wrong.join("; ")}`);
};

/**
 * Opens the identification of callers; undefined without a secret. Callers are parsed again when the secret changes.
 */
export const identifyBy = (secret: Secret | undefined, report: Report): Identify | undefined => {
  if (secret === undefined) return undefined;
  const onError = (issuer: string, cause: unknown): void =>
    report("warn", "cannot fetch the keys of an identity provider", { issuer, error: String(cause) });
  const parts = { now: Date.now, subjectOf: openSubjects(onError) };
  let known: { readonly text: string; readonly identify: Identify } | undefined;
  return async (asking) => {
    const text = await secret();
    if (known?.text !== text) known = { text, identify: identifier(callersOf(text), parts) };
    return await known.identify(asking);
  };
};

/** Checks the setting. Rejects where the secret cannot be read or its callers cannot be parsed. */
export const checkCallers = async (secret: Secret | undefined): Promise<void> => {
  if (secret !== undefined) callersOf(await secret());
};

export type Acknowledging = {
  /**
   * Verifies a signature of the listener at this URL. The URL itself is not signed, because the key is derived from it.
   */
  readonly verify: (listener: string, signed: Signed, given: string) => Promise<boolean>;
  /**
   * Sends the acknowledgement to the queue; false when `id` is not the id of an update. The delivery decides what it
   * acknowledges.
   */
  readonly take: (key: Omit<Key, "cluster">, acknowledged: Acknowledged) => Promise<boolean>;
};

/** `event`: equal in two copies of one request. */
export type Acknowledged = { readonly id: string; readonly listener: string; readonly event: string };

/** Opens acknowledgements; undefined without a secret: then only the answer to an update acknowledges it. */
export const acknowledgingFor = (
  cluster: string,
  secret: Secret | undefined,
  send: Queue["send"],
): Acknowledging | undefined => {
  if (secret === undefined) return undefined;
  return {
    verify: async (listener, signed, given) => {
      const url = URL.canParse(listener) ? new URL(listener) : undefined;
      if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
      return verified(listenerKey(await secret(), url.href), signed, given, Date.now());
    },
    take: async ({ kind, namespace, name }, { id, listener, event }) => {
      const message = acknowledgementOf({ cluster, kind, namespace, name }, id, listener);
      if (message === undefined) return false;
      await send(message, dedupe.trigger(message, digest(event)));
      return true;
    },
  };
};

/**
 * Access control of the HTTP API: identifies the caller, checks its ability and limits its rate. A refusal does not say
 * which proof failed.
 */
import type { Context } from "hono";
import * as z from "zod";
import type { Ability, Caller } from "../../api/callers.ts";
import { eventHeaders } from "../../api/events.ts";
import type { Identify } from "../../api/identity.ts";
import { openRate, type Rate } from "../../api/rate.ts";

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
      return seconds > 0 ? wait(c, seconds) : c.json({ error: "signature" }, 401);
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
      return seconds > 0 ? wait(c, seconds) : c.json({ error: "signature" }, 401);
    }
    const seconds = rate(`caller ${caller.name}`, caller.perMinute);
    if (seconds > 0) return wait(c, seconds);
    if (ability !== undefined && !caller.may.includes(ability)) return c.json({ error: "forbidden" }, 403);
    return { caller, body };
  };
};

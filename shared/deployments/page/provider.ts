/**
 * Sign-in to the page by an identity provider: the way there, and the way back, after which the groups of the user's id
 * token become grants. It asks the provider alone, and never the API server. What the way back must prove is in a
 * sealed cookie of ten minutes.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import * as z from "zod";
import { type CodeFlow, openCodeFlow, type Pending } from "../../adapters/oidc-code.ts";
import { openRate } from "../../api/callers.ts";
import { grantsOf } from "../../api/groups.ts";
import { forgetOldest } from "../../core/cache.ts";
import type { Report } from "../../engine/ports.ts";
import { originOf, strangersPerMinute, wait } from "../common/authentication.ts";
import type { Secret } from "../common/secret.ts";
import type { ProviderSettings } from "../common/sign-in.ts";
import {
  begin,
  ofProvider,
  type ProviderSignIn,
  type Rights,
  rightsBy,
  type Sessions,
  sealedCookie,
  sessionMs,
} from "./access.ts";
import { openSeal, type Seal } from "./seal.ts";

/** Provider, secret that seals, and sessions of the page. */
type Opening = {
  readonly settings: ProviderSettings;
  readonly secret: Secret;
  readonly sessions: () => Promise<Sessions>;
  readonly report: Report;
  /** Absent: the code flow of the provider. */
  readonly flow?: CodeFlow;
};

const cookieName = "__Host-rekindle-sign-in";
const pendingMs = 600_000;
/** States of finished sign-ins that are remembered: each is used once. */
const mostSpent = 4_096;
/** Codes that are traded at once. */
const mostTrades = 32;
/** The most groups of a user that are looked at. */
const mostGroups = 1_000;

const pending = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() });

/** A place on the page: a query, or nothing. */
const placeIn = (text: string): string => (/^\?[\w.~%=&:+/-]{0,500}$/.test(text) ? text : "");

/** The answer to a person: a page without a script. */
const failed = (c: Context, status: 400 | 403 | 502 | 503, why: string): Response | Promise<Response> =>
  c.html(
    html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Sign-in failed</title></head>
<body><main><h1>Sign-in failed</h1><p>${`${why.charAt(0).toUpperCase()}${why.slice(1)}`}.</p><p><a href="/page/sign-in">Try again</a> · <a href="/page">Other ways to sign in</a></p></main></body></html>`,
    status,
    { "cache-control": "no-store" },
  );

const texts = z.array(z.string()).max(mostGroups);

/** The user's groups; undefined: the claim is missing or has another form. A single text is one group. */
const groupsIn = (claims: Readonly<Record<string, unknown>>, claim: string): readonly string[] | undefined => {
  const value = claims[claim];
  return typeof value === "string" ? [value] : texts.safeParse(value).data;
};

/** The user's name for people and in lines of actions. The subject alone is unique, and an e-mail only where it is verified. */
const nameIn = (claims: Readonly<Record<string, unknown>>): string => {
  const {
    sub,
    email,
    email_verified: isVerified,
  } = z
    .looseObject({ sub: z.string(), email: z.string().optional().catch(undefined), email_verified: z.unknown() })
    .parse(claims);
  return `${ofProvider}${isVerified === true && email !== undefined ? email : sub}`
    .replace(/[^\x21-\x7e]/g, "?")
    .slice(0, 200);
};

/** Returns the user's rights, or the sentence that refuses them. */
const rightsIn = (
  claims: Readonly<Record<string, unknown>>,
  { groupsClaim, groups }: ProviderSettings,
): Rights | string => {
  const names = groupsIn(claims, groupsClaim);
  const rights = rightsBy(nameIn(claims), grantsOf(groups, names ?? []));
  if (rights !== undefined) return rights;
  return names === undefined
    ? `The id token has no list of groups in its claim ${groupsClaim}: let the provider add it, or name another claim in oidcGroupsClaim`
    : "None of your groups may read this page: an operator grants rights to groups in oidcGroups";
};

type Ways = Opening & {
  readonly flow: CodeFlow;
  readonly seal: () => Promise<Seal>;
  readonly spent: Map<string, true>;
  readonly limited: (c: Context) => Response | undefined;
  /** Codes that are being traded. */
  readonly trades: { count: number };
};

const there = async (c: Context, { flow, seal, report, limited, settings }: Ways): Promise<Response> => {
  const refusal = limited(c);
  if (refusal !== undefined) return refusal;
  const begun = await flow.begin();
  if ("refused" in begun) {
    report("warn", "the sign-in cannot begin", { issuer: settings.issuer, error: begun.refused });
    return failed(c, 502, begun.refused);
  }
  const value = (await seal()).close({ ...begun.pending, to: placeIn(c.req.query("to") ?? "") }, pendingMs);
  setCookie(c, cookieName, value, { ...sealedCookie, maxAge: pendingMs / 1_000 });
  c.header("cache-control", "no-store");
  return c.redirect(begun.url);
};

/** Returns what the way back must prove, where it belongs to a sign-in that this browser began and has not ended. */
const begunBy = async (c: Context, { seal, spent }: Ways): Promise<(Pending & { readonly to: string }) | string> => {
  const { data } = pending.safeParse((await seal()).open(getCookie(c, cookieName) ?? ""));
  if (data === undefined) return "This browser has begun no sign-in within the last ten minutes";
  if (data.state !== c.req.query("state"))
    return "The answer belongs to another sign-in: one that began in another tab, or elsewhere";
  if (spent.has(data.state)) return "This sign-in has ended already";
  spent.set(data.state, true);
  forgetOldest(spent, mostSpent);
  return data;
};

/** Trades the code. Each trade is a request to the provider, so few of them are made at once. */
const claimsFor = async ({ flow, trades }: Ways, code: string, begun: Pending): ReturnType<CodeFlow["claims"]> => {
  trades.count += 1;
  try {
    return await flow.claims(code, begun);
  } finally {
    trades.count -= 1;
  }
};

const back = async (c: Context, ways: Ways): Promise<Response> => {
  const { sessions, settings, report, trades } = ways;
  const refusal = ways.limited(c);
  if (refusal !== undefined) return refusal;
  const begun = await begunBy(c, ways);
  deleteCookie(c, cookieName, sealedCookie);
  if (typeof begun === "string") return failed(c, 400, begun);
  const { code, error } = c.req.query();
  if (code === undefined || code === "" || code.length > 4_096)
    return failed(c, 403, `The provider says ${/^[\w-]{1,64}$/.test(error ?? "") ? error : "that there is no code"}`);
  if (trades.count >= mostTrades) return failed(c, 503, "Too many people sign in at this moment");
  const found = await claimsFor(ways, code, begun);
  if ("refused" in found) {
    report("warn", "a sign-in is refused", { issuer: settings.issuer, error: found.refused });
    return failed(c, 502, found.refused);
  }
  const rights = rightsIn(found.claims, settings);
  if (typeof rights === "string") {
    report("info", "a sign-in is refused", { issuer: settings.issuer, user: nameIn(found.claims), error: rights });
    return failed(c, 403, rights);
  }
  if (!begin(c, await sessions(), rights, sessionMs))
    return failed(
      c,
      403,
      "Your groups name too many namespaces for a session: grant a right in all of them, or in fewer",
    );
  report("info", "a user has signed in", { user: rights.name, namespaces: rights.namespaces.length });
  c.header("cache-control", "no-store");
  return c.redirect(`/page${begun.to}`, 303);
};

export const openProvider = (opening: Opening): ProviderSignIn => {
  const { settings, secret } = opening;
  const { issuer, clientId, clientSecret, scopes, pageUrl } = settings;
  const { flow = openCodeFlow({ issuer, clientId, clientSecret, scopes, redirectUri: `${pageUrl}/callback` }) } =
    opening;
  const rate = openRate(() => performance.now());
  const limited = (c: Context): Response | undefined => {
    const seconds = rate(originOf(c.env).address, strangersPerMinute);
    return seconds > 0 ? wait(c, seconds) : undefined;
  };
  const seal = async (): Promise<Seal> => openSeal(await secret(), "sign-in", Date.now);
  const ways: Ways = { ...opening, flow, seal, limited, spent: new Map(), trades: { count: 0 } };
  return {
    name: new URL(issuer).host,
    serve: (app) => {
      app.get("/page/sign-in", (c) => there(c, ways));
      app.get("/page/callback", (c) => back(c, ways));
    },
    end: () => flow.end(),
  };
};

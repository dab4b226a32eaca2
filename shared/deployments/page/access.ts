/**
 * Access to the page: for callers of the HTTP API, the user of `rekindle page`, or anybody on this machine in the
 * demo. The session of a viewer is a sealed cookie that holds who reads and which namespaces, never the viewer's own
 * token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import type { Caller } from "../../api/callers.ts";
import type { Grant } from "../../api/groups.ts";
import { forgetOldest } from "../../core/cache.ts";
import type { WaysToSignIn } from "../../page/answers.ts";
import type { Gate } from "../common/authentication.ts";
import type { Secret } from "../common/secret.ts";
import { openSeal } from "./seal.ts";

const abilities = ["act", "trigger"] as const;
export type ChangeAbility = (typeof abilities)[number];

const viewer = z.object({
  name: z.string(),
  /** The namespaces that it may read; empty: all. */
  namespaces: z.array(z.string()),
  /** The session's own id: its streams are counted under it. */
  id: z.string(),
  /** The abilities by which it changes something, and the namespaces in which they hold; empty: all. */
  grants: z.array(z.object({ ability: z.enum(abilities), namespaces: z.array(z.string()) })).default([]),
});

export type Viewer = Readonly<z.infer<typeof viewer>>;

/** The part of a viewer that its proof determines. */
export type Rights = Pick<Viewer, "name" | "namespaces" | "grants">;

const isChanging = (ability: string): ability is ChangeAbility => abilities.some((one) => one === ability);

const rightsOf = ({ name, namespaces, may }: Caller): Rights => ({
  ...{ name, namespaces },
  grants: may.filter(isChanging).map((ability) => ({ ability, namespaces })),
});

/** Returns the rights of a user with these grants; undefined: none of them lets it read. */
export const rightsBy = (name: string, grants: readonly Grant[]): Rights | undefined => {
  const reading = grants.find(({ ability }) => ability === "read");
  if (reading === undefined) return undefined;
  return {
    ...{ name, namespaces: [...reading.namespaces] },
    grants: grants.flatMap(({ ability, namespaces }) =>
      isChanging(ability) ? [{ ability, namespaces: [...namespaces] }] : [],
    ),
  };
};

/** Returns whether a viewer has an ability in a namespace; "": for an object without one. */
export const hasAbility = ({ grants }: Viewer, ability: ChangeAbility, place: string): boolean =>
  grants.some((one) => one.ability === ability && (one.namespaces.length === 0 || one.namespaces.includes(place)));

export type Sessions = {
  /** Returns the value of the cookie; undefined: it would be too long for a browser. */
  seal(rights: Rights, ms: number): string | undefined;
  /** Returns the viewer; undefined for a value that was not sealed here, was changed, is too old, or was signed out. */
  open(value: string): Viewer | undefined;
  /** Ends a session in this process. */
  end(id: string): void;
};

/** `__Host-`: only this host, over a secure connection or on this machine, sets and receives it. */
const cookieName = "__Host-rekindle";
export const sessionMs = 8 * 3_600_000;
/** Browsers drop a longer cookie, characters. */
const longestCookie = 3_800;
/** Ended sessions that are remembered. */
const mostEnded = 10_000;

/**
 * Opens sessions under a secret. Processes with the same secret accept each other's sessions, and a changed secret ends
 * them all.
 */
const openSessions = (secret: string, now: () => number): Sessions => {
  const sealed = openSeal(secret, "session", now);
  const ended = new Map<string, true>();
  return {
    seal: (rights, ms) => {
      const value = sealed.close({ ...rights, id: randomBytes(9).toString("base64url") }, ms);
      return value.length > longestCookie ? undefined : value;
    },
    open: (value) => {
      const { data } = viewer.safeParse(sealed.open(value));
      return data === undefined || ended.has(data.id) ? undefined : data;
    },
    end: (id) => {
      ended.set(id, true);
      forgetOldest(ended, mostEnded);
    },
  };
};

/** Returns the viewer of a request, or the answer that refuses it. */
type Admit = (c: Context) => Promise<Viewer | Response>;

/** Sign-in by an identity provider. */
export type ProviderSignIn = {
  /** The provider's name for people. */
  readonly name: string;
  readonly serve: (app: Hono) => void;
  /** Returns the address at which the provider ends its own session. */
  readonly end: () => Promise<string | undefined>;
};

/** Returns the rights of the user whose token of Kubernetes a request has, and how long they hold, ms; or the refusal. */
export type KubernetesSignIn = (c: Context) => Promise<{ readonly rights: Rights; readonly ms: number } | Response>;

export type Access = {
  readonly admit: Admit;
  /** Trades a proof for a session. */
  readonly signIn: (c: Context) => Promise<Response>;
  /** Ends the session of the request; absent: there is none to end. */
  readonly signOut?: (c: Context) => Promise<Response>;
  readonly provider?: ProviderSignIn | undefined;
  /** Tells the page which ways to offer. */
  readonly ways?: WaysToSignIn;
};

const unknown = (c: Context): Response => c.json({ error: "sign in" }, 401);

/** True for a request that the page itself sent: a browser says where it comes from, other clients say nothing. */
export const isOwn = (c: Context): boolean => {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === c.req.header("host"));
};

/** The flags of a cookie that no script and no other site reads. Lax: a link from a chat or an alert leads to the page. */
export const sealedCookie = { httpOnly: true, secure: true, sameSite: "Lax", path: "/" } as const;

const tooMany = (c: Context): Response =>
  c.json({ error: "too many namespaces for a session: grant a right in all of them, or in fewer" }, 403);

/** Begins a session. False: its rights are too long for a cookie. */
export const begin = (c: Context, sessions: Sessions, rights: Rights, ms: number): boolean => {
  const value = sessions.seal(rights, ms);
  if (value !== undefined) setCookie(c, cookieName, value, { ...sealedCookie, maxAge: Math.floor(ms / 1_000) });
  return value !== undefined;
};

const enter = (c: Context, sessions: Sessions, rights: Rights, ms = sessionMs): Response =>
  begin(c, sessions, rights, ms) ? c.json({ name: rights.name, namespaces: rights.namespaces }) : tooMany(c);

const viewerIn = (c: Context, sessions: Sessions): Viewer | undefined => {
  const value = getCookie(c, cookieName);
  return value === undefined ? undefined : sessions.open(value);
};

/** Opens the sessions under a secret that may change. */
export const openSecretSessions = (secret: Secret): (() => Promise<Sessions>) => {
  let known: { readonly text: string; readonly sessions: Sessions } | undefined;
  return async () => {
    const text = await secret();
    if (known?.text !== text) known = { text, sessions: openSessions(text, Date.now) };
    return known.sessions;
  };
};

const foreign = (c: Context): Response => c.json({ error: "forbidden: the request comes from another site" }, 403);

/** The first part of the name of a user whom an identity provider has named; no caller has it. */
export const ofProvider = "oidc:";

/** The ways to a session. */
type Ways = {
  /** True: by a caller's token. */
  readonly hasCallers: boolean;
  readonly provider?: ProviderSignIn | undefined;
  /** By a token of Kubernetes; undefined: none signs anybody in. */
  readonly kube?: KubernetesSignIn | undefined;
};

/** Returns the name for the field of a token; "": no token signs anybody in. */
const tokensOf = ({ hasCallers, kube }: Ways): string => {
  if (kube === undefined) return hasCallers ? "Token of a caller that may read" : "";
  return hasCallers ? "Token of a caller, or of Kubernetes" : "Token of Kubernetes";
};

/** Access of the callers of the HTTP API with the ability `read`, and of users who have a session by another proof. */
export const callersOnly = (gate: Gate, sessions: () => Promise<Sessions>, ways: Ways): Access => ({
  admit: async (c) => {
    const viewer = viewerIn(c, await sessions());
    if (viewer !== undefined) return viewer;
    if (c.req.header("authorization") === undefined) return unknown(c);
    const admitted = await gate(c, "read");
    if (admitted instanceof Response) return admitted;
    const rights = rightsOf(admitted.caller);
    return { ...rights, id: `caller ${rights.name}` };
  },
  signIn: async (c) => {
    if (!isOwn(c)) return foreign(c);
    const admitted = ways.hasCallers ? await gate(c, "read") : unknown(c);
    if (!(admitted instanceof Response)) return enter(c, await sessions(), rightsOf(admitted.caller));
    if (ways.kube === undefined || admitted.status !== 401) return admitted;
    const entered = await ways.kube(c);
    return entered instanceof Response ? entered : enter(c, await sessions(), entered.rights, entered.ms);
  },
  signOut: async (c) => {
    if (!isOwn(c)) return foreign(c);
    const opened = await sessions();
    const viewer = viewerIn(c, opened);
    if (viewer !== undefined) opened.end(viewer.id);
    deleteCookie(c, cookieName, sealedCookie);
    const to = viewer?.name.startsWith(ofProvider) === true ? await ways.provider?.end() : undefined;
    return c.json({ to: to ?? "/page" });
  },
  provider: ways.provider,
  ways: { token: tokensOf(ways), provider: ways.provider?.name ?? "" },
});

const same = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
};

/** Access of one person on this machine: a secret that opens one session, once. */
export const oneTime = (name: string, may: readonly ChangeAbility[] = []): Access & { readonly secret: string } => {
  const secret = randomBytes(24).toString("base64url");
  const sessions = openSessions(randomBytes(32).toString("hex"), Date.now);
  let isSpent = false;
  return {
    secret,
    admit: async (c) => viewerIn(c, sessions) ?? unknown(c),
    signIn: async (c) => {
      const given = c.req.header("authorization") ?? "";
      if (!isOwn(c) || isSpent || !same(given, `Bearer ${secret}`))
        return c.json({ error: "this link was used already: run rekindle page again" }, 403);
      isSpent = true;
      return enter(c, sessions, { name, namespaces: [], grants: may.map((ability) => ({ ability, namespaces: [] })) });
    },
  };
};

/** Access of everybody who reaches the port: only for a simulated cluster on this machine. */
export const accessForAll = (name: string): Access => {
  const viewer: Viewer = { name, namespaces: [], id: name, grants: [{ ability: "act", namespaces: [] }] };
  return { admit: async () => viewer, signIn: async (c) => c.json({ name, namespaces: [] }) };
};

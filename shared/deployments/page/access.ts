/**
 * Access to the page: for callers of the HTTP API, the user of `rekindle page`, or anybody on this machine in the
 * demo. The session of a viewer is a sealed cookie that holds who reads and which namespaces, never the viewer's own
 * token.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import type { Caller } from "../../api/callers.ts";
import { jsonOf } from "../../core/json.ts";
import type { Gate } from "../common/authentication.ts";
import type { Secret } from "../common/secret.ts";

const viewer = z.object({
  name: z.string(),
  /** Empty: all. */
  namespaces: z.array(z.string()),
  /** The session's own id: its streams are counted under it. */
  id: z.string(),
  /** Epoch ms after which it has to sign in again. */
  until: z.number(),
  /** The abilities by which it changes something. */
  may: z.array(z.enum(["act", "trigger"])).default([]),
});

export type Viewer = Readonly<z.infer<typeof viewer>>;

/** The part of a viewer that its caller determines. */
type Rights = Pick<Viewer, "name" | "namespaces" | "may">;

const rightsOf = ({ name, namespaces, may }: Caller): Rights => ({
  ...{ name, namespaces },
  may: may.filter((ability) => ability === "act" || ability === "trigger"),
});

type Sessions = {
  /** Returns the value of the cookie. */
  seal(rights: Rights): string;
  /** Returns the viewer; undefined for a value that was not sealed here, was changed, or is too old. */
  open(value: string): Viewer | undefined;
};

/** `__Host-`: only this host, over a secure connection or on this machine, sets and receives it. */
const cookieName = "__Host-rekindle";
const sessionMs = 8 * 3_600_000;

const algorithm = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;

/**
 * Opens sessions under a secret. Processes with the same secret accept each other's sessions, and a changed secret ends
 * them all.
 */
const openSessions = (secret: string, now: () => number): Sessions => {
  const key = new Uint8Array(hkdfSync("sha256", secret, "rekindle page", "session", 32));
  return {
    seal: (rights) => {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, key, iv);
      const id = randomBytes(9).toString("base64url");
      const text = JSON.stringify({ ...rights, id, until: now() + sessionMs });
      return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
        "base64url",
      );
    },
    open: (value) => {
      const sealed = Buffer.from(value, "base64url");
      if (sealed.length <= ivLength + tagLength) return undefined;
      try {
        const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength), { authTagLength: tagLength });
        decipher.setAuthTag(sealed.subarray(-tagLength));
        const text = Buffer.concat([decipher.update(sealed.subarray(ivLength, -tagLength)), decipher.final()]);
        const { data } = viewer.safeParse(jsonOf(text.toString("utf8")));
        return data !== undefined && data.until > now() ? data : undefined;
      } catch {
        return undefined;
      }
    },
  };
};

/** Returns the viewer of a request, or the answer that refuses it. */
type Admit = (c: Context) => Promise<Viewer | Response>;

export type Access = {
  readonly admit: Admit;
  /** Trades a proof for a session. */
  readonly signIn: (c: Context) => Promise<Response>;
};

const unknown = (c: Context): Response => c.json({ error: "sign in" }, 401);

/** True for a request that the page itself sent: a browser says where it comes from, other clients say nothing. */
export const isOwn = (c: Context): boolean => {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === c.req.header("host"));
};

const enter = (c: Context, sessions: Sessions, rights: Rights): Response => {
  const value = sessions.seal(rights);
  // Lax, not Strict: a link from a chat or an alert leads to the page.
  setCookie(c, cookieName, value, {
    httpOnly: true,
    secure: true,
    sameSite: "Lax",
    path: "/",
    maxAge: sessionMs / 1_000,
  });
  return c.json({ name: rights.name, namespaces: rights.namespaces });
};

const viewerIn = (c: Context, sessions: Sessions): Viewer | undefined => {
  const value = getCookie(c, cookieName);
  return value === undefined ? undefined : sessions.open(value);
};

/** Access of the callers of the HTTP API with the ability `read`. `secret`: the setting that names them. */
export const callersOnly = (gate: Gate, secret: Secret): Access => {
  let known: { readonly text: string; readonly sessions: Sessions } | undefined;
  const sessions = async (): Promise<Sessions> => {
    const text = await secret();
    if (known?.text !== text) known = { text, sessions: openSessions(text, Date.now) };
    return known.sessions;
  };
  return {
    admit: async (c) => {
      const viewer = viewerIn(c, await sessions());
      if (viewer !== undefined) return viewer;
      if (c.req.header("authorization") === undefined) return unknown(c);
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      const rights = rightsOf(admitted.caller);
      return { ...rights, id: `caller ${rights.name}`, until: Number.POSITIVE_INFINITY };
    },
    signIn: async (c) => {
      if (!isOwn(c)) return c.json({ error: "forbidden: the request comes from another site" }, 403);
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      return enter(c, await sessions(), rightsOf(admitted.caller));
    },
  };
};

const same = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
};

/** Access of one person on this machine: a secret that opens one session, once. */
export const oneTime = (name: string, may: Viewer["may"] = []): Access & { readonly secret: string } => {
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
      return enter(c, sessions, { name, namespaces: [], may });
    },
  };
};

/** Access of everybody who reaches the port: only for a simulated cluster on this machine. */
export const everybody = (name: string): Access => {
  const viewer: Viewer = { name, namespaces: [], id: name, until: Number.POSITIVE_INFINITY, may: ["act"] };
  return { admit: async () => viewer, signIn: async (c) => c.json({ name, namespaces: [] }) };
};

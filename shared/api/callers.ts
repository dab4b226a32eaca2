/**
 * Callers of the HTTP API: their names, abilities, namespaces and rates. A caller is identified by a signature, a
 * token, a token of an identity provider, or the ARN that API Gateway has authorized; all secrets are compared, in
 * constant time, so that the time of an answer tells nothing about them.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { forgetOldest } from "../core/cache.ts";
import { namespaceName } from "../core/object.ts";
import { verified } from "../core/signature.ts";

/**
 * `trigger`: request steps of named objects. `notice`: give notice that a node is about to go. `read`: use the read
 * API and the page. `act`: change objects on the page. `enclose`: call functions with objects that they need not read, as
 * a dispatcher does.
 */
export const abilities = ["trigger", "notice", "read", "act", "enclose"] as const;
export type Ability = (typeof abilities)[number];

/** The answer to a request whose sender is not known. */
export const unauthorized = "unauthorized: the caller is unknown, or its proof is not valid";

/** The answer to a request that its sender may not make. */
export const forbidden = "forbidden: the caller may not do this, or not in this namespace";

const secret = z.string().min(16, { error: "a secret of at least 16 characters is needed" });
const secrets = z.array(secret).min(1).max(8);
const namespace = z.string().regex(namespaceName, { error: "a namespace is needed" });

const https = z
  .url({ error: "a URL is needed" })
  .refine((url) => /^https:\/\//.test(url) || /^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(url), {
    error: "https:// is needed",
  });

const oidc = z.strictObject({
  issuer: https,
  audience: z.string().min(1),
  /** URL of the issuer's keys; absent: from its discovery document. */
  jwks: https.optional(),
  /** Pattern of the token's subject; `*` stands for any text. */
  subject: z.string().min(1),
});

type Oidc = z.infer<typeof oidc>;

const caller = z
  .strictObject({
    name: z.string().regex(namespaceName, { error: "a name in lower case is needed" }),
    /** Keys of signatures, the newest first. All of them are valid, so that a key can be rotated without a gap. */
    keys: secrets.optional(),
    /** Tokens for callers that cannot sign: `Authorization: Bearer TOKEN`. */
    tokens: secrets.optional(),
    oidc: oidc.optional(),
    /** Pattern of the ARN of a user or role that API Gateway has authorized; `*` stands for any text. */
    iam: z.string().startsWith("arn:", { error: "an ARN is needed" }).optional(),
    may: z.array(z.enum(abilities)).min(1).default(["trigger"]),
    /** Empty: all. */
    namespaces: z.array(namespace).default([]),
    /** Requests within a minute. */
    perMinute: z.number().int().min(1).max(100_000).default(600),
  })
  .refine(({ keys, tokens, oidc: by, iam }) => [keys, tokens, by, iam].some((one) => one !== undefined), {
    error: "keys, tokens, oidc or iam are needed",
  })
  .refine(({ namespaces, may }) => namespaces.length === 0 || !may.includes("notice"), {
    error: "nodes have no namespace: a caller that may give notice of them cannot be limited to namespaces",
  });

export const callers = z
  .array(caller)
  .max(64)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, { error: "a name occurs twice" });

export type Caller = z.infer<typeof caller>;

/**
 * Returns the one caller of a deployment whose setting is a secret, or several of them, a line each. It has every
 * ability but `act` in all namespaces: a secret that was given to senders of triggers deletes no object.
 */
export const holderOf = (text: string): Caller => ({
  name: "trigger",
  keys: text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== ""),
  may: abilities.filter((ability) => ability !== "act"),
  namespaces: [],
  perMinute: 6_000,
});

/** Returns whether a namespace is one of the caller's. */
export const mayReach = ({ namespaces }: Caller, place: string): boolean =>
  namespaces.length === 0 || namespaces.includes(place);

/** Returns whether a text matches a pattern with `*`. */
export const matches = (pattern: string, text: string): boolean => {
  const [first = "", ...others] = pattern.split("*");
  if (others.length === 0) return pattern === text;
  const last = others.pop() ?? "";
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const rest = text.slice(first.length, text.length - last.length);
  let from = 0;
  return others.every((part) => {
    const at = rest.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
};

/** The parts of a request that identify its sender. */
export type CallerEvidence = {
  readonly method: string;
  /** Path and query, as the request has them. */
  readonly path: string;
  readonly body: string;
  /** Headers of the request that carry attributes of an event: a signature must cover them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timestamp: string;
  readonly signature: string;
  /** The `Authorization` header; "": none. */
  readonly authorization: string;
  /** ARN that API Gateway has authorized; never taken from a header. */
  readonly arn: string | undefined;
};

/** Returns the caller; undefined where it is unknown or its proof is not valid. */
export type Identify = (asking: CallerEvidence) => Promise<Caller | undefined>;

/** Returns the subject of a valid token of this provider for this audience; undefined for any other token. */
export type SubjectOf = (provider: Oidc, token: string) => Promise<string | undefined>;

type Desk = {
  /** Epoch ms. */
  readonly now: () => number;
  readonly subjectOf: SubjectOf;
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const isToken = ({ tokens = [] }: Caller, given: string): boolean =>
  tokens.map((token) => timingSafeEqual(digest(token), digest(given))).includes(true);

const hasSigned = ({ keys = [] }: Caller, asking: CallerEvidence, now: number): boolean =>
  keys.map((key) => verified(key, asking, asking.signature, now)).includes(true);

/** Returns whether a token has three parts between dots, as those of identity providers have. */
const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);

const providedFor = async (
  callers: readonly Caller[],
  token: string,
  subjectOf: SubjectOf,
): Promise<Caller | undefined> => {
  for (const caller of callers) {
    const subject = caller.oidc === undefined ? undefined : await subjectOf(caller.oidc, token);
    if (subject !== undefined && matches(caller.oidc?.subject ?? "", subject)) return caller;
  }
  return undefined;
};

/** Opens the identification of these callers. A request with a signature is judged by it alone. */
export const identifier =
  (callers: readonly Caller[], { now, subjectOf }: Desk): Identify =>
  async (asking) => {
    if (asking.signature !== "") return callers.filter((caller) => hasSigned(caller, asking, now())).at(0);
    const [, token = ""] = /^Bearer ([\x21-\x7e]{1,8192})$/i.exec(asking.authorization) ?? [];
    if (token !== "") {
      const known = callers.filter((caller) => isToken(caller, token)).at(0);
      return known ?? (isJwt(token) ? await providedFor(callers, token, subjectOf) : undefined);
    }
    const { arn } = asking;
    return arn === undefined ? undefined : callers.find(({ iam }) => iam !== undefined && matches(iam, arn));
  };

/** Returns how long the caller must wait, seconds; 0: go on. `cost` 0 checks without counting. */
export type Rate = (who: string, perMinute: number, cost?: 0 | 1) => number;

type Bucket = { readonly left: number; readonly at: number };

/** The most names that are kept: the most recent ones. */
const mostNames = 10_000;

/** Opens the limits. `now`: monotonic, ms. */
export const openRate = (now: () => number): Rate => {
  const buckets = new Map<string, Bucket>();
  return (who, perMinute, cost = 1) => {
    const at = now();
    const before = buckets.get(who) ?? { left: perMinute, at };
    const left = Math.min(perMinute, before.left + ((at - before.at) * perMinute) / 60_000);
    buckets.delete(who);
    buckets.set(who, { left: left < 1 ? left : left - cost, at });
    forgetOldest(buckets, mostNames);
    return left < 1 ? Math.ceil(((1 - left) * 60) / perMinute) : 0;
  };
};

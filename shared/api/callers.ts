/** Callers of the HTTP API: their names, proofs of identity, abilities and namespaces. */
import * as z from "zod";

/**
 * `trigger`: request steps of named objects. `notice`: give notice that a node is about to go. `read`: use the read
 * API. `enclose`: call functions with objects that they need not read, as a dispatcher does.
 */
export const abilities = ["trigger", "notice", "read", "enclose"] as const;
export type Ability = (typeof abilities)[number];

const secret = z.string().min(16, { error: "a secret of at least 16 characters is needed" });
const secrets = z.array(secret).min(1).max(8);
const namespace = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, { error: "a namespace is needed" });

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

export type Oidc = z.infer<typeof oidc>;

const caller = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, { error: "a name in lower case is needed" }),
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
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, { error: "a name is there twice" });

export type Caller = z.infer<typeof caller>;

/**
 * Returns the one caller of a deployment whose setting is a secret, or several of them, a line each. It has every
 * ability in all namespaces.
 */
export const holderOf = (text: string): Caller => ({
  name: "trigger",
  keys: text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== ""),
  may: [...abilities],
  namespaces: [],
  perMinute: 6_000,
});

/** Returns whether a namespace is one of the caller's. */
export const reaches = ({ namespaces }: Caller, place: string): boolean =>
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

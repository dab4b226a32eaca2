/** Who may ask for what over HTTP: callers by name, what proves who they are, and where each may act. */
import * as z from "zod";

/** `trigger`: steps of named objects. `notice`: that a node is about to go. `read`: what there is. */
export const abilities = ["trigger", "notice", "read"] as const;
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
  /** Where the issuer's keys are; absent: where its discovery document says. */
  jwks: https.optional(),
  /** Whose tokens count; `*` stands for any text. */
  subject: z.string().min(1),
});

export type Oidc = z.infer<typeof oidc>;

const caller = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, { error: "a name in lower case is needed" }),
    /** Keys of signatures, the newest first: all of them hold, so that they can be changed without a gap. */
    keys: secrets.optional(),
    /** For those who cannot sign: `Authorization: Bearer TOKEN`. */
    tokens: secrets.optional(),
    oidc: oidc.optional(),
    /** ARN of a user or role that API Gateway has let in; `*` stands for any text. */
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

/** Who holds the one secret of a deployment that names no callers, or several of them, a line each; may do everything. */
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

/** True where the caller may act. */
export const reaches = ({ namespaces }: Caller, place: string): boolean =>
  namespaces.length === 0 || namespaces.includes(place);

/** True of a text that a pattern with `*` stands for. */
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

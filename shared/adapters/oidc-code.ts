/**
 * The client of an identity provider for people who sign in: OpenID Connect's authorization code with PKCE. The code is
 * traded at the server, and the id token is checked with jose; no token leaves this file.
 */
import { createHash, randomBytes } from "node:crypto";
import type { JWTVerifyGetKey } from "jose";
import * as z from "zod";
import { jsonOf } from "../core/json.ts";

export type Provider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: () => Promise<string>;
  readonly scopes: readonly string[];
  /** The address to which the provider sends the browser back. */
  readonly redirectUri: string;
};

/** The proofs of one sign-in, which the browser keeps, sealed, until the provider sends it back. */
export type Pending = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** A sentence for the user that says what failed, and what to change. */
type Refused = { readonly refused: string };

export type CodeFlow = {
  /** Returns the address at which the user signs in, and what the way back must prove. */
  begin(): Promise<{ readonly url: string; readonly pending: Pending } | Refused>;
  /** Trades the code for the claims of the user's id token. */
  claims(code: string, pending: Pending): Promise<{ readonly claims: Readonly<Record<string, unknown>> } | Refused>;
  /** Returns the address at which the provider ends its own session; undefined: it has none, or cannot be reached. */
  end(): Promise<string | undefined>;
};

/** Time limit of a request to the provider, ms. */
const requestMs = 5_000;
/** Seconds by which clocks may differ. */
const skewS = 30;
/** The longest answer of a provider, characters. */
const longestAnswer = 262_144;
/** The age at which the provider's addresses are read again, ms. */
const keepMs = 3_600_000;
/** Time for which a failed provider is not asked again, ms. */
const keepFailureMs = 5_000;
/** A key id that is not known triggers another request for keys, at most once in this time, ms. */
const rotationMs = 2_000;

/** Algorithms with public keys only. `none` is not among them. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** Over TLS, or on this machine. */
const endpoint = z.url().refine((url) => /^https:\/\/|^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(url));

const discovery = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  jwks_uri: endpoint,
  end_session_endpoint: endpoint.optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).default(["client_secret_basic"]),
});

type Addresses = z.infer<typeof discovery>;

/** Reads an answer up to its bound. Throws where it is longer. */
const textOf = async ({ body, url }: Response): Promise<string> => {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestAnswer) throw new Error(`${url} answers with more than ${longestAnswer} characters`);
  }
  return text;
};

const addressesOf = async (issuer: string): Promise<Addresses> => {
  const at = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(at, { signal: AbortSignal.timeout(requestMs), redirect: "error" });
  const text = await textOf(answer);
  if (!answer.ok) throw new Error(`${at} answers ${answer.status}`);
  const { data } = discovery.safeParse(jsonOf(text));
  if (data === undefined)
    throw new Error(`${at} is not a configuration of OpenID Connect, or names an address without TLS`);
  if (data.issuer !== issuer) throw new Error(`it calls itself ${data.issuer.slice(0, 256)}: write this as oidcIssuer`);
  return data;
};

type Reached = { readonly addresses: Addresses; readonly keys: JWTVerifyGetKey };

const reach = async (issuer: string): Promise<Reached> => {
  const addresses = await addressesOf(issuer);
  const { createRemoteJWKSet } = await import("jose");
  const cachingMs = { timeoutDuration: requestMs, cooldownDuration: rotationMs, cacheMaxAge: 600_000 };
  return { addresses, keys: createRemoteJWKSet(new URL(addresses.jwks_uri), cachingMs) };
};

const random = (): string => randomBytes(32).toString("base64url");

const formed = (value: string): string => encodeURIComponent(value).replaceAll("%20", "+");

/** The client's proof at the token endpoint: in a header, or in the form where the provider takes only that. */
const proofOf = ({ token_endpoint_auth_methods_supported: methods }: Addresses, id: string, secret: string) =>
  methods.includes("client_secret_post") && !methods.includes("client_secret_basic")
    ? { headers: {}, fields: { client_id: id, client_secret: secret } }
    : {
        headers: { authorization: `Basic ${Buffer.from(`${formed(id)}:${formed(secret)}`).toString("base64")}` },
        fields: {},
      };

const answered = z.looseObject({ id_token: z.string().min(1) });
const failed = z.looseObject({ error: z.string().max(64) });

/** The sentence for an error code of the token endpoint. */
const refusalOf = (code: string): string => {
  if (code === "invalid_client" || code === "unauthorized_client")
    return `the provider does not accept this client (${code}): check oidcClientId and oidcClientSecret`;
  if (code === "invalid_grant")
    return "the provider does not accept the code (invalid_grant): it was used before, or is too old";
  return `the provider refuses the code (${code})`;
};

/** Codes of jose's errors that mean the provider's keys cannot be read. */
const unheard: ReadonlySet<string> = new Set(["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]);

const clocks = `the clocks of the provider and of Rekindle differ by more than ${skewS} s`;

/** The sentence for a claim that is not as it must be. */
const claimRefusals: Readonly<Record<string, string>> = {
  iss: "it names another issuer than oidcIssuer",
  aud: "it is for another client than oidcClientId",
  azp: "it is for another client than oidcClientId",
  nonce: "it belongs to another sign-in (nonce)",
  iat: clocks,
  nbf: clocks,
};

/** The sentence for an id token that jose refuses. */
const invalid = (cause: { readonly code: string; readonly message: string }): string => {
  const claim = "claim" in cause && typeof cause.claim === "string" ? cause.claim : "";
  if (unheard.has(cause.code)) return `the provider's keys cannot be read (${cause.message})`;
  const why: Readonly<Record<string, string>> = {
    ERR_JWT_EXPIRED: `it has expired: ${clocks}`,
    ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm is not accepted: a signature with a public key is needed",
    ERR_JWKS_NO_MATCHING_KEY: "it is signed with a key that the provider does not publish",
    ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is wrong",
    ERR_JWT_CLAIM_VALIDATION_FAILED: claimRefusals[claim] ?? `its claim ${claim} is missing or wrong`,
  };
  return `the id token is not valid: ${why[cause.code] ?? "it is no signed token"}`;
};

const messageOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause instanceof Error ? `: ${cause.cause.message}` : "";
  return `${cause.message}${inner}`;
};

type Reach = () => Promise<Reached | Refused>;

/** Opens what is known of the provider: read when it is needed, and again after an hour. */
const openReach = (issuer: string, now: () => number): Reach => {
  let reached: { readonly at: number; readonly found: Promise<Reached> } | undefined;
  let failure: { readonly at: number; readonly text: string } | undefined;
  return async () => {
    if (failure !== undefined && now() - failure.at < keepFailureMs) return { refused: failure.text };
    if (reached === undefined || now() - reached.at > keepMs) reached = { at: now(), found: reach(issuer) };
    try {
      return await reached.found;
    } catch (cause) {
      reached = undefined;
      failure = { at: now(), text: `the provider ${issuer} cannot be used: ${messageOf(cause)}` };
      return { refused: failure.text };
    }
  };
};

/** Trades the code for an id token. Rejects where the provider does not answer. */
const traded = async (
  { clientId, clientSecret, redirectUri }: Provider,
  { addresses }: Reached,
  code: string,
  verifier: string,
): Promise<string | Refused> => {
  const { headers, fields } = proofOf(addresses, clientId, await clientSecret());
  const grant = { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier };
  const answer = await fetch(addresses.token_endpoint, {
    ...{ method: "POST", redirect: "error", signal: AbortSignal.timeout(requestMs) },
    headers: { ...headers, accept: "application/json" },
    body: new URLSearchParams({ ...grant, ...fields }),
  });
  const given = jsonOf(await textOf(answer));
  const { data } = answered.safeParse(given);
  if (answer.ok && data !== undefined) return data.id_token;
  const { data: error } = failed.safeParse(given);
  return { refused: refusalOf(error?.error.replace(/[^\w-]/g, "") ?? `status ${answer.status}, no id token`) };
};

/** Checks an id token. */
const verified = async ({ issuer, clientId }: Provider, { keys }: Reached, token: string, nonce: string) => {
  const { errors, jwtVerify } = await import("jose");
  const rules = { issuer, audience: clientId, algorithms, clockTolerance: skewS, maxTokenAge: "10m" };
  try {
    const { payload } = await jwtVerify(token, keys, { ...rules, requiredClaims: ["exp", "iat", "sub", "nonce"] });
    if (payload["nonce"] !== nonce) return { refused: `the id token is not valid: ${claimRefusals["nonce"]}` };
    const { azp = clientId } = payload;
    return azp === clientId ? { claims: payload } : { refused: `the id token is not valid: ${claimRefusals["azp"]}` };
  } catch (cause) {
    if (cause instanceof errors.JOSEError) return { refused: invalid(cause) };
    return { refused: `the provider's keys cannot be read (${messageOf(cause)})` };
  }
};

/** Returns the address at which the user signs in. */
const addressFor = ({ clientId, redirectUri, scopes }: Provider, { addresses }: Reached, pending: Pending): string => {
  const url = new URL(addresses.authorization_endpoint);
  const asked = {
    ...{ response_type: "code", client_id: clientId, redirect_uri: redirectUri, scope: scopes.join(" ") },
    ...{ state: pending.state, nonce: pending.nonce, code_challenge_method: "S256" },
    code_challenge: createHash("sha256").update(pending.verifier).digest("base64url"),
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return url.href;
};

/** Opens the client without a request. `now`: monotonic, ms. */
export const openCodeFlow = (provider: Provider, now: () => number = () => performance.now()): CodeFlow => {
  const { issuer, clientId, redirectUri } = provider;
  const reachNow = openReach(issuer, now);
  return {
    begin: async () => {
      const found = await reachNow();
      if ("refused" in found) return found;
      const pending = { state: random(), nonce: random(), verifier: random() };
      return { url: addressFor(provider, found, pending), pending };
    },
    claims: async (code, { verifier, nonce }) => {
      const found = await reachNow();
      if ("refused" in found) return found;
      try {
        const token = await traded(provider, found, code, verifier);
        return typeof token === "string" ? await verified(provider, found, token, nonce) : token;
      } catch (cause) {
        return { refused: `the provider ${issuer} cannot be used: ${messageOf(cause)}` };
      }
    },
    end: async () => {
      const found = await reachNow();
      if ("refused" in found || found.addresses.end_session_endpoint === undefined) return undefined;
      const url = new URL(found.addresses.end_session_endpoint);
      url.searchParams.set("client_id", clientId);
      url.searchParams.set("post_logout_redirect_uri", redirectUri.replace(/\/callback$/, ""));
      return url.href;
    },
  };
};
